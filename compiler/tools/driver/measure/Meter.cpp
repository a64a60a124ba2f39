//===- Meter.cpp - Measures how long candidates take ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/measure/Meter.h"

#include "compiler/tools/driver/compile/Emit.h"
#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Process.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Threading.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace nnc::tools {

/// The largest number of runs of a program. More runs do not improve the
/// median.
static constexpr int mostRuns = 30;
/// The largest number of runs of a whole model, which has fewer parts that can
/// be disturbed.
static constexpr int mostWholeRuns = 200;
/// The number of turns that each of the compared modules takes.
static constexpr int turns = 3;

Meter::Meter(target::MachineAttr machine, Toolchain toolchain, int threads,
             int64_t weightBytes, std::unique_ptr<Scratch> folder)
    : machine(machine), toolchain(std::move(toolchain)), threads(threads),
      weightBytes(weightBytes), folder(std::move(folder)) {}

llvm::Expected<Meter> Meter::create(target::MachineAttr machine,
                                    Toolchain toolchain, int threads,
                                    int64_t weightBytes) {
  llvm::Expected<std::unique_ptr<Scratch>> folder = makeTemporaryFolder();
  if (!folder)
    return folder.takeError();
  return Meter(machine, std::move(toolchain), threads, weightBytes,
               std::move(*folder));
}

/// Divides the jobs among as many programs as compilers run at once. All jobs
/// of a layer go to the same program.
std::vector<Meter::Part> Meter::split(llvm::ArrayRef<Job> jobs) const {
  size_t most = llvm::hardware_concurrency().compute_thread_count();
  std::vector<Part> parts(std::min(most, jobs.size()));
  llvm::DenseMap<mlir::Operation *, Part *> owners;
  for (size_t i = 0; i < jobs.size(); ++i) {
    mlir::Operation *layer = jobs[i].layer;
    Part *owner = layer ? owners.lookup(layer) : nullptr;
    if (!owner)
      owner = &*std::min_element(parts.begin(), parts.end(),
                                 [](const Part &a, const Part &b) {
                                   return a.jobs.size() < b.jobs.size();
                                 });
    if (layer)
      owners[layer] = owner;
    owner->jobs.push_back(i);
  }
  parts.erase(
      std::remove_if(parts.begin(), parts.end(),
                     [](const Part &part) { return part.jobs.empty(); }),
      parts.end());
  return parts;
}

llvm::Error Meter::emit(llvm::ArrayRef<Job> jobs, Part &part,
                        const std::string &code) const {
  std::vector<Job> own;
  for (size_t job : part.jobs)
    own.push_back(jobs[job]);
  auto bench = buildBenchProgram(own, machine, weightBytes, threads);
  if (mlir::failed(bench))
    return makeError("no program can be made to measure the candidates");
  codegen::EmitOptions options;
  options.threads = threads;
  if (mlir::failed(emitCode(*bench->module, code, options)))
    return makeError("the program that measures cannot be written to " + code);
  llvm::Expected<Manifest> manifest = readManifest(code);
  if (!manifest)
    return manifest.takeError();
  part.module = std::move(*manifest);
  part.calls.assign(bench->calls.begin(), bench->calls.end());
  return llvm::Error::success();
}

llvm::Expected<std::vector<double>> Meter::run(const std::string &program,
                                               llvm::StringRef arguments,
                                               llvm::StringRef word) const {
  std::string all = fmt::format("--threads={} {}", threads, arguments.str());
  llvm::Expected<std::string> printed =
      toolchain.run(program, splitCommand(all), folder->path() + "/run");
  if (!printed)
    return printed.takeError();
  std::vector<double> values;
  for (llvm::StringRef line : llvm::split(*printed, '\n')) {
    auto [head, last] = line.rsplit(' ');
    double value;
    if (head.split(' ').first == word && !last.getAsDouble(value))
      values.push_back(value);
  }
  return values;
}

llvm::Expected<std::vector<int64_t>> Meter::measure(llvm::ArrayRef<Job> jobs,
                                                    double seconds) const {
  std::vector<Part> parts = split(jobs);
  std::vector<Manifest> modules;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (llvm::Error error =
            emit(jobs, parts[i], fmt::format("{}/code{}", folder->path(), i)))
      return error;
    modules.push_back(parts[i].module);
  }
  Progress progress(fmt::format("building {} candidates with {}", jobs.size(),
                                toolchain.compiler));
  llvm::Expected<std::vector<std::string>> programs =
      buildRunners(modules, toolchain, folder->path());
  if (!programs)
    return programs.takeError();
  std::vector<int64_t> nanoseconds(jobs.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    Progress running(fmt::format("measuring {} candidates", jobs.size()));
    llvm::Expected<std::vector<double>> times = run(
        (*programs)[i],
        fmt::format("--zeros={0} --output=:{0} --layers-only --runs={1} "
                    "--seconds={2}",
                    sizeof(float), mostRuns, seconds / double(parts.size())),
        "layer");
    if (!times)
      return times.takeError();
    for (size_t job = 0; job < parts[i].jobs.size(); ++job) {
      auto [first, last] = parts[i].calls[job];
      if (size_t(last) > times->size())
        return makeError("the program that measures printed too few times");
      double sum = 0;
      for (int call = first; call < last; ++call)
        sum += (*times)[call];
      nanoseconds[parts[i].jobs[job]] =
          std::max<int64_t>(1, std::llround(sum * 1e9));
    }
  }
  return nanoseconds;
}

llvm::Expected<std::vector<int64_t>>
Meter::measure(llvm::ArrayRef<Manifest> modules, double seconds) const {
  Progress progress(fmt::format("building {} whole plans with {}",
                                modules.size(), toolchain.compiler));
  llvm::Expected<std::vector<std::string>> programs =
      buildRunners(modules, toolchain, folder->path());
  if (!programs)
    return programs.takeError();
  Progress running(fmt::format("measuring {} whole plans", modules.size()));
  std::vector<int64_t> nanoseconds(modules.size(),
                                   std::numeric_limits<int64_t>::max());
  for (int turn = 0; turn < turns; ++turn)
    for (size_t i = 0; i < modules.size(); ++i) {
      std::string arguments =
          fmt::format("--whole-only --runs={} --seconds={}", mostWholeRuns,
                      seconds / double(turns * modules.size()));
      for (const Port &port : modules[i].inputs)
        arguments += fmt::format(" --zeros={}", port.bytes());
      for (const Port &port : modules[i].outputs)
        arguments += fmt::format(" --output=:{}", port.bytes());
      auto times = run((*programs)[i], arguments, "run");
      if (!times)
        return times.takeError();
      if (times->empty())
        return makeError("the program that runs the model printed no times");
      auto middle = times->begin() + times->size() / 2;
      std::nth_element(times->begin(), middle, times->end());
      nanoseconds[i] =
          std::min<int64_t>(nanoseconds[i], std::llround(*middle * 1e9));
    }
  return nanoseconds;
}

} // namespace nnc::tools
