//===- Batch.cpp - A batch size for each part of a network ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The model is imported for the largest batch, and its layers are planned for
// each size that a part may take, which tells time and memory of each layer.
// Modules are made of the plans that follow from that, the fastest first, until
// one keeps to the limit of memory. The list does not depend on the limit: if
// all fail, the least of their memory is the least that any limit allows.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Driver.h"
#include "compiler/tools/driver/Progress.h"

#include "compiler/passes/BatchProfile.h"
#include "compiler/passes/LayerOrder.h"
#include "compiler/passes/Passes.h"
#include "compiler/routines/Candidates.h"
#include "dialects/exec/Exec.h"

#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>

#include <map>

namespace nnc::tools {

static mlir::func::FuncOp getNetwork(mlir::ModuleOp module) {
  return *module.getOps<mlir::func::FuncOp>().begin();
}

/// Returns powers of two, and three times these, from `low` to `high`. Numbers
/// in between would hardly make a difference.
static llvm::SmallVector<int64_t> listRound(int64_t low, int64_t high) {
  llvm::SmallVector<int64_t> found;
  for (int64_t base = 1; base <= high; base *= 2)
    for (int64_t number : {base, 3 * base})
      if (number >= low && number <= high)
        found.push_back(number);
  return found;
}

static void sortUniquely(llvm::SmallVectorImpl<int64_t> &numbers) {
  llvm::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// Returns the batches that a run may have: round numbers in the range, and its
/// ends.
static llvm::SmallVector<int64_t> listCounts(const BatchRange &range) {
  llvm::SmallVector<int64_t> counts = listRound(range.low, range.high);
  counts.push_back(range.low);
  counts.push_back(range.high);
  sortUniquely(counts);
  return counts;
}

/// Returns the numbers of samples that a part of the network may take at a
/// time: round ones that divide a batch, and whole batches.
static llvm::SmallVector<int64_t> listSizes(llvm::ArrayRef<int64_t> counts) {
  llvm::SmallVector<int64_t> sizes(counts);
  for (int64_t size : listRound(1, counts.back()))
    if (llvm::any_of(counts, [&](int64_t count) { return count % size == 0; }))
      sizes.push_back(size);
  sortUniquely(sizes);
  return sizes;
}

std::string Driver::findBatchProblem() const {
  if (!choices.ranges.empty())
    return "--batch gives the first dimension of the inputs one size; give no "
           "bounds with '..' to --shape then";
  if (!choices.otherShapes.empty())
    return "--batch takes one --shape for each input";
  if (choices.stream)
    return "--stream takes one window of time, and no --batch";
  return "";
}

/// Runs nnc-batch: the network as a whole for `count` samples without
/// segments, else these.
static mlir::LogicalResult runBatch(mlir::ModuleOp module, int64_t samples,
                                    int64_t count,
                                    llvm::ArrayRef<BatchSegment> segments) {
  llvm::SmallVector<int64_t> cuts, sizes;
  for (const BatchSegment &segment : segments) {
    if (segment.end != segments.back().end)
      cuts.push_back(int64_t(segment.end));
    sizes.push_back(segment.size);
  }
  BatchOptions options;
  options.samples = samples;
  options.count = count;
  options.cuts = cuts;
  options.sizes = sizes;
  mlir::PassManager manager(module.getContext());
  manager.addPass(createBatch(options));
  return manager.run(module);
}

ExitCode Driver::findBatchProfiles(mlir::ModuleOp formed,
                                   BatchProblem &problem) {
  auto machine = target::getTarget(formed);
  mlir::FailureOr<Samples> samples =
      Samples::find(getNetwork(formed), importedBatch);
  if (mlir::failed(machine))
    return ExitCode::ownFault;
  if (mlir::failed(samples))
    return ExitCode::unsupported;
  const Measurements *measured = tuning ? &tuning->measurements : nullptr;
  CostModel all =
      makeCostModel(getNetwork(formed), *machine, measured,
                    /*memo=*/nullptr, /*forms=*/nullptr, weightRules());
  problem.cuts = findBatchCuts(getNetwork(formed), *samples, all);
  for (mlir::BlockArgument input : getNetwork(formed).getArguments())
    problem.callersBytes +=
        nn::getPhysicalBytes(nn::getTensorType(input)) / importedBatch;
  for (mlir::Type type : getNetwork(formed).getResultTypes())
    problem.callersBytes +=
        nn::getPhysicalBytes(llvm::cast<mlir::RankedTensorType>(type)) /
        importedBatch;
  numberOps(getNetwork(formed));
  for (int64_t size : listSizes(listCounts(*choices.batch))) {
    mlir::OwningOpRef<mlir::ModuleOp> module = formed.clone();
    mlir::PassManager manager(&context);
    buildPlacePipeline(manager, pipelineOptions(tuning));
    if (mlir::failed(runBatch(*module, importedBatch, size, {})))
      return ExitCode::unsupported;
    if (ExitCode code = runPipeline(manager, *module); code != ExitCode::done)
      return code;
    CostModel cost =
        makeCostModel(getNetwork(*module), *machine, measured,
                      /*memo=*/nullptr, /*forms=*/nullptr, weightRules());
    problem.profiles.push_back(readBatchProfile(getNetwork(*module), size,
                                                problem.cuts.size() - 1, cost));
  }
  forgetNumbers(getNetwork(formed));
  return ExitCode::done;
}

ExitCode Driver::applyBatch(mlir::ModuleOp formed, const BatchPlan &plan) {
  op = formed.clone();
  if (mlir::failed(runBatch(*op, importedBatch, plan.count, plan.segments)))
    return ExitCode::unsupported;
  mlir::PassManager manager(&context);
  keepStages(manager);
  buildPlanPipeline(manager, pipelineOptions(tuning));
  return runPipeline(manager, *op);
}

namespace {
/// The plans of a network, and what the modules that have been made of them
/// take.
class BatchSearch {
public:
  BatchSearch(std::vector<BatchPlan> plans, int64_t limit)
      : plans(std::move(plans)), limit(limit) {}

  /// Returns the number of the plan to build next: the fastest one that the
  /// limit is estimated to have room for, else the one that is estimated to
  /// take the fewest bytes. Null where no other one can be better than what has
  /// been found.
  std::optional<size_t> next() const;
  const BatchPlan &getPlan(size_t number) const { return plans[number]; }
  void add(size_t number, const RamDemand &demand);
  /// Returns the fastest plan that keeps to the limit, with the bytes that its
  /// module takes; null if none of those that have been built does.
  std::optional<BatchPlan> getBest() const;
  /// The module that takes the fewest bytes. All have been built if no plan
  /// keeps to the limit.
  const RamDemand &getLeast() const { return *least; }
  bool isLast(const BatchPlan &plan) const { return plans[last] == plan; }

private:
  std::optional<size_t> findFastest(int64_t slack) const;

  /// A plan that is faster than the best one so far is built only if there have
  /// been fewer than these.
  static constexpr size_t kMostTries = 8;

  std::vector<BatchPlan> plans;
  int64_t limit;
  std::map<size_t, int64_t> bytes; ///< of modules, by their plan
  std::optional<size_t> best;
  std::optional<RamDemand> least;
  size_t last = 0;
  /// The least difference of a module's bytes to their estimate.
  std::optional<int64_t> slack;
};
} // namespace

/// Returns the fastest plan without a module that is estimated to take `slack`
/// bytes less than the limit, and that is faster than the best one.
std::optional<size_t> BatchSearch::findFastest(int64_t slack) const {
  std::optional<size_t> found = best;
  for (size_t i = 0; i < plans.size(); ++i)
    if (!bytes.count(i) && plans[i].bytes <= limit - slack &&
        (!found ||
         plans[i].getSecondsPerSample() < plans[*found].getSecondsPerSample()))
      found = i;
  return found == best ? std::nullopt : found;
}

std::optional<size_t> BatchSearch::next() const {
  if (best)
    return bytes.size() < kMostTries ? findFastest(0) : std::nullopt;
  if (auto found = findFastest(slack.value_or(0)))
    return found;
  std::optional<size_t> found;
  for (size_t i = 0; i < plans.size(); ++i)
    if (!bytes.count(i) && (!found || plans[i].bytes < plans[*found].bytes))
      found = i;
  return found;
}

void BatchSearch::add(size_t number, const RamDemand &demand) {
  last = number;
  bytes[number] = demand.bytes;
  int64_t more = demand.bytes - plans[number].bytes;
  slack = std::min(slack.value_or(more), more);
  if (!least || demand.bytes < least->bytes)
    least = demand;
  if (demand.fits(limit) && (!best || plans[number].getSecondsPerSample() <
                                          plans[*best].getSecondsPerSample()))
    best = number;
}

std::optional<BatchPlan> BatchSearch::getBest() const {
  if (!best)
    return std::nullopt;
  BatchPlan plan = plans[*best];
  plan.bytes = bytes.at(*best);
  return plan;
}

ExitCode Driver::fitBatch(mlir::ModuleOp formed, std::vector<BatchPlan> plans,
                          std::optional<BatchPlan> &plan, RamDemand &least) {
  BatchSearch search(std::move(plans), choices.maxRam.value_or(INT64_MAX));
  while (std::optional<size_t> number = search.next()) {
    if (ExitCode code = applyBatch(formed, search.getPlan(*number));
        code != ExitCode::done)
      return code;
    search.add(*number, countRam(*op));
  }
  plan = search.getBest();
  if (!plan)
    least = search.getLeast();
  else if (!search.isLast(*plan))
    return applyBatch(formed, *plan);
  return ExitCode::done;
}

ExitCode Driver::reportLatency(const BatchProblem &problem) {
  BatchProblem open = problem;
  open.maxSeconds = std::numeric_limits<double>::infinity();
  double seconds = open.maxSeconds;
  for (int64_t count : listCounts(*choices.batch))
    if (auto plan = findBatchPlan(open, count))
      seconds = std::min(seconds, plan->seconds);
  mlir::emitError(mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
      << fmt::format(
             "is estimated to take {:.3g} ms for a run at least, more than "
             "the {:.3g} ms of --max-latency; allow a smaller batch, or more",
             1e3 * seconds, 1e3 * *choices.maxLatency);
  return ExitCode::limit;
}

ExitCode Driver::reportBatchRam(const RamDemand &least) {
  std::string options =
      choices.maxLatency ? "--batch and --max-latency" : "--batch";
  auto diagnostic =
      mlir::emitError(mlir::FileLineColLoc::get(&context, choices.model, 0, 0));
  if (least.bytes > choices.maxRam.value_or(INT64_MAX))
    diagnostic << fmt::format(
        "needs {} bytes of RAM or more with {}, more than "
        "the {} of --max-ram",
        least.bytes, options, *choices.maxRam);
  else
    diagnostic << describeTooSmall(least.tooSmall) << " with " << options;
  diagnostic << "; allow a smaller batch, or more" << adviseOnRam();
  return ExitCode::limit;
}

ExitCode Driver::compileOneSample(mlir::ModuleOp formed) {
  auto machine =
      formed->getAttrOfType<target::MachineAttr>(target::kTargetAttr);
  mlir::OwningOpRef<mlir::ModuleOp> whole;
  importedBatch = 1;
  if (ExitCode code = importShapes(choices.shapes, {}, machine, whole);
      code != ExitCode::done)
    return code;
  if (wanted.keepStages)
    importedOp = whole->clone();
  RamDemand demand;
  ExitCode code = planWithin(INT64_MAX, *whole, demand);
  return code == ExitCode::done ? fitIntoRam(std::move(whole)) : code;
}

/// Returns the layers of each segment, by their names.
static std::vector<BatchPart> listParts(mlir::func::FuncOp formed,
                                        const BatchPlan &plan) {
  LayerOrder order = getLayerOrder(formed);
  std::vector<BatchPart> parts;
  size_t begin = 0;
  for (const BatchSegment &segment : plan.segments) {
    BatchPart &part = parts.emplace_back();
    part.size = segment.size;
    for (; begin < segment.end; ++begin)
      if (auto layer = llvm::dyn_cast<nn::LayerOp>(order[begin]))
        part.layers.push_back(layer.getName().str());
  }
  return parts;
}

ExitCode Driver::planBatch(mlir::ModuleOp formed, int64_t ram,
                           RamDemand &least) {
  routinesRam = ram;
  batchChoice.reset();
  BatchProblem problem;
  {
    Progress progress("looking for batch sizes");
    if (ExitCode code = findBatchProfiles(formed, problem);
        code != ExitCode::done)
      return code;
  }
  if (choices.maxLatency)
    problem.maxSeconds = *choices.maxLatency;
  llvm::SmallVector<int64_t> counts = listCounts(*choices.batch);
  BatchChoice choice;
  std::optional<BatchPlan> plan;
  RamDemand found, fixedLeast;
  // The fixed batch is only shown beside the plan, so that nothing else
  // needs it.
  std::vector<BatchPlan> fixed = listFixedBatches(problem, counts),
                         plans = listBatchPlans(problem, counts);
  if (plans.empty())
    return reportLatency(problem);
  if (wanted.keepStages && !fixed.empty())
    if (ExitCode code =
            fitBatch(formed, std::move(fixed), choice.fixed, fixedLeast);
        code != ExitCode::done)
      return code;
  if (ExitCode code = fitBatch(formed, std::move(plans), plan, found);
      code != ExitCode::done)
    return code;
  if (!plan) {
    if (found.bytes < least.bytes)
      least = found;
    return ExitCode::done;
  }
  choice.plan = *plan;
  choice.parts = listParts(getNetwork(formed), *plan);
  batchChoice = std::move(choice);
  return ExitCode::done;
}

ExitCode Driver::compileBatch() {
  mlir::PassManager manager(&context);
  buildLayersPipeline(manager, pipelineOptions(tuning));
  mlir::OwningOpRef<mlir::ModuleOp> formed = op->clone();
  if (ExitCode code = runPipeline(manager, *formed); code != ExitCode::done)
    return code;
  RamDemand least;
  least.bytes = INT64_MAX;
  // The fastest routines, and those that take the least memory: neither depends
  // on the limit. Where only the second fit, there may be faster ones, which
  // make use of all that there is.
  for (int64_t ram : {INT64_MAX, int64_t(0)}) {
    if (ExitCode code = planBatch(*formed, ram, least); code != ExitCode::done)
      return code;
    if (batchChoice)
      break;
  }
  if (!batchChoice)
    return choices.batch->low == 1 && !choices.maxLatency
               ? compileOneSample(*formed)
               : reportBatchRam(least);
  if (routinesRam == 0 && choices.maxRam) {
    ExitCode code = planBatch(*formed, *choices.maxRam, least);
    if (code == ExitCode::done && !batchChoice)
      code = planBatch(*formed, 0, least);
    if (code != ExitCode::done)
      return code;
  }
  if (!wanted.keepStages)
    return ExitCode::done;
  // Results are compared with those of the model at this batch.
  importedBatch = batchChoice->plan.count;
  auto machine = (*op)->getAttrOfType<target::MachineAttr>(target::kTargetAttr);
  if (!machine)
    machine =
        (*formed)->getAttrOfType<target::MachineAttr>(target::kTargetAttr);
  return importShapes(choices.shapes, {}, machine, importedOp);
}

} // namespace nnc::tools
