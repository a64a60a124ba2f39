//===- TuningStore.cpp - Measurements of earlier runs of nnc tune ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/measure/TuningStore.h"

#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/UserCache.h"
#include "compiler/tuning/Selection.h"

#include "codegen/Codegen.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <set>

namespace nnc::tools {

Store::Store(llvm::StringRef folder, std::string machine)
    : machine(std::move(machine)) {
  if (folder == "none")
    return;
  llvm::Expected<MeasurementCache> opened = MeasurementCache::open(
      folder.empty() ? findUserCache().value_or(".cache/nnc") : folder.str());
  if (opened)
    cache.emplace(std::move(*opened));
  else
    giveUp(opened.takeError());
}

void Store::giveUp(llvm::Error error) {
  printWarning("without the cache of measurements: " +
               llvm::toString(std::move(error)));
  cache.reset();
}

uint64_t Store::getHash(llvm::StringRef header) {
  auto [entry, isNew] = hashes.insert({header, 0});
  if (isNew)
    entry->second = llvm::xxh3_64bits(codegen::getRuntimeText(header));
  return entry->second;
}

/// Returns the circumstances of a job's measurement. They include a hash of the
/// headers of its routine and of the functions in its epilogue, so that the job
/// is measured again if one of them changes.
Circumstances Store::where(const Job &job) {
  std::set<llvm::StringRef> headers = {job.candidate.routine->header,
                                       "runtime/epilogue.h",
                                       "runtime/parallel.h"};
  if (nn::LayerOp layer = job.layer)
    for (auto op : layer.getEpilogue().getOps<nn::ElementwiseOpInterface>())
      for (llvm::StringRef step : op.getSteps())
        headers.insert(Catalogue::get().getHeaderOf(step));
  std::string all;
  for (llvm::StringRef header : headers)
    all += llvm::utohexstr(getHash(header)) + " ";
  return {machine, llvm::utohexstr(llvm::xxh3_64bits(all))};
}

void Store::recall(mlir::func::FuncOp function, const CostModel &cost,
                   Measurements &known) {
  forEachJob(function, cost, [&](const Job &job) {
    if (!cache)
      return;
    auto found = cache->find(where(job), job.subject);
    if (!found)
      giveUp(found.takeError());
    else if (*found)
      known.emplace(job.subject, **found);
  });
}

void Store::keep(llvm::ArrayRef<Job> jobs,
                 llvm::ArrayRef<int64_t> nanoseconds) {
  if (!cache)
    return;
  std::vector<MeasurementCache::Entry> entries;
  for (auto [job, time] : llvm::zip(jobs, nanoseconds))
    entries.push_back({where(job), job.subject, time});
  if (llvm::Error error = cache->add(entries))
    giveUp(std::move(error));
}

/// Returns the cache entry of a whole plan. Its key is a hash of the
/// descriptions of its layers and of their choices.
MeasurementCache::Entry Store::describe(const WholePlan &plan) {
  std::string layers, code;
  for (const Job &job : plan.jobs) {
    layers += job.subject.layer + "\n";
    code += where(job).code + "\n";
  }
  for (const Subject &choice : plan.choices)
    layers += choice.layer + " " + choice.getCall() + "\n";
  auto hash = [](const std::string &text) {
    return llvm::utohexstr(llvm::xxh3_64bits(text));
  };
  return {{machine, hash(code)}, {"whole plan", hash(layers), {}}, 0};
}

std::vector<int64_t> Store::recall(llvm::ArrayRef<WholePlan> plans) {
  std::vector<int64_t> nanoseconds;
  for (const WholePlan &plan : plans) {
    if (!cache)
      break;
    MeasurementCache::Entry entry = describe(plan);
    auto found = cache->find(entry.where, entry.subject);
    if (!found)
      giveUp(found.takeError());
    else if (*found)
      nanoseconds.push_back(**found);
    else
      break;
  }
  return nanoseconds;
}

void Store::keep(llvm::ArrayRef<WholePlan> plans,
                 llvm::ArrayRef<int64_t> nanoseconds) {
  if (!cache)
    return;
  std::vector<MeasurementCache::Entry> entries;
  for (auto [plan, time] : llvm::zip(plans, nanoseconds)) {
    entries.push_back(describe(plan));
    entries.back().nanoseconds = time;
  }
  if (llvm::Error error = cache->add(entries))
    giveUp(std::move(error));
}

} // namespace nnc::tools
