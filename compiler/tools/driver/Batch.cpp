//===- Batch.cpp - A batch size for each part of a network ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The model is imported for the largest batch, and its layers are planned for
// each size that a part may take, which tells time and memory of each layer.
// The best plan is built; where it takes more memory than was estimated,
// another one is looked for that leaves so much more of it.
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
  CostModel all = makeCostModel(getNetwork(formed), *machine, measured);
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
    CostModel cost = makeCostModel(getNetwork(*module), *machine, measured);
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

ExitCode Driver::fitBatch(mlir::ModuleOp formed, BatchProblem problem,
                          bool isFixed, std::optional<BatchPlan> &plan,
                          int64_t &least) {
  constexpr int kMostTries = 8;
  int64_t limit = choices.maxRam.value_or(INT64_MAX);
  llvm::SmallVector<int64_t> counts = listCounts(*choices.batch);
  for (int i = 0; i < kMostTries; ++i) {
    plan = isFixed ? findFixedBatch(problem, counts)
                   : findBatchPlan(problem, counts);
    if (!plan)
      return ExitCode::done;
    if (ExitCode code = applyBatch(formed, *plan); code != ExitCode::done)
      return code;
    int64_t estimate = std::exchange(plan->bytes, countRam(*op).bytes);
    least = std::min(least, plan->bytes);
    if (plan->bytes <= limit)
      return ExitCode::done;
    problem.maxBytes = std::min(problem.maxBytes, estimate) -
                       std::max<int64_t>(1, plan->bytes - limit);
  }
  plan.reset();
  return ExitCode::done;
}

ExitCode Driver::reportBatchLimits(const BatchProblem &problem, int64_t least) {
  llvm::SmallVector<int64_t> counts = listCounts(*choices.batch);
  mlir::Location file =
      mlir::FileLineColLoc::get(&context, choices.model, 0, 0);
  BatchProblem open = problem;
  open.maxBytes = INT64_MAX;
  auto diagnostic = mlir::emitError(file);
  if (!findBatchPlan(open, counts)) {
    open.maxSeconds = std::numeric_limits<double>::infinity();
    double seconds = std::numeric_limits<double>::infinity();
    for (int64_t count : counts)
      if (auto plan = findBatchPlan(open, count))
        seconds = std::min(seconds, plan->seconds);
    diagnostic << fmt::format("is estimated to take {:.3g} ms for a run at "
                              "least, more than the {:.3g} ms of --max-latency",
                              1e3 * seconds, 1e3 * *choices.maxLatency);
  } else {
    if (least == INT64_MAX) {
      // The limit was below all estimates; one sample at a time takes least.
      open.maxSeconds = std::numeric_limits<double>::infinity();
      for (const BatchProfile &profile : problem.profiles)
        least =
            std::min(least, *std::max_element(profile.bytesWithoutPorts.begin(),
                                              profile.bytesWithoutPorts.end()) +
                                problem.callersBytes *
                                    std::max(profile.size, counts.front()));
    }
    diagnostic << fmt::format(
        "needs {} bytes of RAM or more with --batch{}, more than the {} of "
        "--max-ram",
        least, choices.maxLatency ? " and --max-latency" : "", *choices.maxRam);
  }
  diagnostic << "; allow a smaller batch, or more";
  return ExitCode::limit;
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

ExitCode Driver::compileBatch() {
  mlir::PassManager manager(&context);
  buildLayersPipeline(manager, pipelineOptions(tuning));
  mlir::OwningOpRef<mlir::ModuleOp> formed = op->clone();
  if (ExitCode code = runPipeline(manager, *formed); code != ExitCode::done)
    return code;
  BatchProblem problem;
  {
    Progress progress("looking for batch sizes");
    if (ExitCode code = findBatchProfiles(*formed, problem);
        code != ExitCode::done)
      return code;
  }
  problem.maxBytes = choices.maxRam.value_or(INT64_MAX);
  if (choices.maxLatency)
    problem.maxSeconds = *choices.maxLatency;
  BatchChoice choice;
  std::optional<BatchPlan> plan;
  int64_t least = INT64_MAX, fixedLeast = INT64_MAX;
  // The fixed batch is only shown beside the plan, so that nothing else
  // needs it.
  if (wanted.keepStages)
    if (ExitCode code = fitBatch(*formed, problem, /*isFixed=*/true,
                                 choice.fixed, fixedLeast);
        code != ExitCode::done)
      return code;
  if (ExitCode code =
          fitBatch(*formed, problem, /*isFixed=*/false, plan, least);
      code != ExitCode::done)
    return code;
  if (!plan)
    return reportBatchLimits(problem, least);
  choice.plan = *plan;
  choice.parts = listParts(getNetwork(*formed), *plan);
  batchChoice = std::move(choice);
  if (!wanted.keepStages)
    return ExitCode::done;
  // Results are compared with those of the model at this batch.
  importedBatch = plan->count;
  auto machine = (*op)->getAttrOfType<target::MachineAttr>(target::kTargetAttr);
  if (!machine)
    machine =
        (*formed)->getAttrOfType<target::MachineAttr>(target::kTargetAttr);
  return importShapes(choices.shapes, {}, machine, importedOp);
}

} // namespace nnc::tools
