//===- BatchPlanner.cpp - A batch size for each part of a network ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/planners/BatchPlanner.h"

#include "compiler/passes/BatchProfile.h"
#include "compiler/passes/LayerOrder.h"
#include "compiler/passes/Passes.h"
#include "compiler/routines/Candidates.h"

#include <map>

using namespace mlir;
using namespace nnc;

static func::FuncOp getNetwork(ModuleOp module) {
  return *module.getOps<func::FuncOp>().begin();
}

/// Returns the powers of two, and three times these, from `low` to `high`. The
/// numbers in between would give hardly different plans.
static SmallVector<int64_t> listRound(int64_t low, int64_t high) {
  SmallVector<int64_t> found;
  for (int64_t base = 1; base <= high; base *= 2)
    for (int64_t number : {base, 3 * base})
      if (number >= low && number <= high)
        found.push_back(number);
  return found;
}

static void sortUniquely(SmallVectorImpl<int64_t> &numbers) {
  llvm::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// Returns the batch sizes to try for a run: the numbers of listRound() in the
/// range, and both of its ends.
static SmallVector<int64_t> listCounts(const BatchRange &range) {
  SmallVector<int64_t> counts = listRound(range.low, range.high);
  counts.push_back(range.low);
  counts.push_back(range.high);
  sortUniquely(counts);
  return counts;
}

/// Returns the numbers of samples that a part of the network may process at a
/// time: whole batches, and numbers of listRound() that divide a batch.
static SmallVector<int64_t> listSizes(ArrayRef<int64_t> counts) {
  SmallVector<int64_t> sizes(counts);
  for (int64_t size : listRound(1, counts.back()))
    if (llvm::any_of(counts, [&](int64_t count) { return count % size == 0; }))
      sizes.push_back(size);
  sortUniquely(sizes);
  return sizes;
}

std::unique_ptr<Pass>
BatchPlanner::createPass(int64_t count, ArrayRef<BatchSegment> segments) const {
  // The lists outlive the options, which refer to them.
  SmallVector<int64_t> cuts, sizes;
  for (const BatchSegment &segment : segments) {
    if (segment.end != segments.back().end)
      cuts.push_back(int64_t(segment.end));
    sizes.push_back(segment.size);
  }
  BatchOptions options;
  options.samples = limits.counts.high;
  options.count = count;
  options.cuts = cuts;
  options.sizes = sizes;
  return createBatch(options);
}

std::unique_ptr<Pass> BatchPlanner::createPass() const {
  return createPass(choice->plan.count, choice->plan.segments);
}

LogicalResult BatchPlanner::divide(ModuleOp module, int64_t count,
                                   ArrayRef<BatchSegment> segments) {
  PassManager manager(module.getContext());
  manager.addPass(createPass(count, segments));
  return run(manager, module);
}

LogicalResult BatchPlanner::findProfiles() {
  func::FuncOp network = getNetwork(formed);
  const int64_t most = limits.counts.high;
  auto machine = target::getTarget(formed);
  FailureOr<BatchSamples> samples = BatchSamples::find(network, most);
  if (failed(machine) || failed(samples))
    return failure();
  problem = {};
  problem.maxSeconds = limits.maxSeconds;
  problem.cuts =
      findBatchCuts(network, *samples,
                    makeCostModel(network, *machine, getMeasured(),
                                  /*memo=*/nullptr,
                                  /*forms=*/nullptr, options.weights));
  for (BlockArgument input : network.getArguments())
    problem.callersBytes +=
        nn::getPhysicalBytes(nn::getTensorType(input)) / most;
  for (Type type : network.getResultTypes())
    problem.callersBytes +=
        nn::getPhysicalBytes(cast<RankedTensorType>(type)) / most;
  numberOps(network);
  for (int64_t size : listSizes(listCounts(limits.counts))) {
    OwningOpRef<ModuleOp> planned = formed.clone();
    PassManager manager(formed.getContext());
    buildPlacePipeline(manager, options);
    if (failed(divide(*planned, size, {})) || failed(run(manager, *planned)))
      return failure();
    CostModel cost =
        makeCostModel(getNetwork(*planned), *machine, getMeasured(),
                      /*memo=*/nullptr, /*forms=*/nullptr, options.weights);
    problem.profiles.push_back(readBatchProfile(getNetwork(*planned), size,
                                                problem.cuts.size() - 1, cost));
  }
  forgetNumbers(network);
  return success();
}

LogicalResult BatchPlanner::apply(const BatchPlan &plan) {
  module = formed.clone();
  PassManager manager(formed.getContext());
  buildPlanPipeline(manager, options);
  return failed(divide(*module, plan.count, plan.segments))
             ? failure()
             : run(manager, *module);
}

namespace {
/// The plans of a network, and the memory of the modules built from them.
class BatchSearch {
public:
  BatchSearch(std::vector<BatchPlan> plans, int64_t limit)
      : plans(std::move(plans)), limit(limit) {}

  /// Returns the number of the plan to build next: the fastest one that is
  /// estimated to fit, else the one with the lowest estimate of bytes. Returns
  /// nullopt if no other plan is worth building.
  std::optional<size_t> next() const;
  const BatchPlan &getPlan(size_t number) const { return plans[number]; }
  void add(size_t number, const RamDemand &demand);
  /// Returns the fastest plan whose module keeps to the limit, with the bytes
  /// of that module; nullopt if no module that was built keeps to it.
  std::optional<BatchPlan> getBest() const;
  /// Returns the memory of the smallest module. If no plan keeps to the limit,
  /// the modules of all plans have been built.
  const RamDemand &getLeast() const { return *least; }
  bool isLast(const BatchPlan &plan) const { return plans[last] == plan; }

private:
  std::optional<size_t> findFastest(int64_t slack) const;

  /// Once a plan fits, faster ones are built only as long as fewer modules than
  /// this have been built.
  static constexpr size_t kMostTries = 8;

  std::vector<BatchPlan> plans;
  int64_t limit;
  /// Bytes of each built module, by plan number.
  std::map<size_t, int64_t> bytes;
  std::optional<size_t> best;
  std::optional<RamDemand> least;
  size_t last = 0;
  /// The smallest difference, actual minus estimated bytes, of all built
  /// modules.
  std::optional<int64_t> slack;
};
} // namespace

/// Returns the fastest plan that has not been built, is faster than the best
/// one, and would keep to the limit if it took `slack` bytes more than
/// estimated.
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

LogicalResult BatchPlanner::fit(std::vector<BatchPlan> plans,
                                std::optional<BatchPlan> &best,
                                RamDemand &demand) {
  BatchSearch search(std::move(plans), limits.maxRam.value_or(INT64_MAX));
  while (std::optional<size_t> number = search.next()) {
    if (failed(apply(search.getPlan(*number))))
      return failure();
    search.add(*number, countRam(*module));
  }
  best = search.getBest();
  if (!best)
    demand = search.getLeast();
  else if (!search.isLast(*best))
    return apply(*best);
  return success();
}

double BatchPlanner::getLeastSeconds() const {
  BatchProblem open = problem;
  open.maxSeconds = std::numeric_limits<double>::infinity();
  double seconds = open.maxSeconds;
  for (int64_t count : listCounts(limits.counts))
    if (auto plan = findBatchPlan(open, count))
      seconds = std::min(seconds, plan->seconds);
  return seconds;
}

/// Returns the names of the layers of each segment.
static std::vector<BatchPart> listParts(func::FuncOp formed,
                                        const BatchPlan &plan) {
  LayerOrder order = getLayerOrder(formed);
  std::vector<BatchPart> parts;
  size_t begin = 0;
  for (const BatchSegment &segment : plan.segments) {
    BatchPart &part = parts.emplace_back();
    part.size = segment.size;
    for (; begin < segment.end; ++begin)
      if (auto layer = dyn_cast<nn::LayerOp>(order[begin]))
        part.layers.push_back(layer.getName().str());
  }
  return parts;
}

LogicalResult BatchPlanner::plan(int64_t ram, bool compares) {
  options.maxRam = ram;
  choice.reset();
  if (failed(findProfiles()))
    return failure();
  SmallVector<int64_t> counts = listCounts(limits.counts);
  BatchChoice made;
  std::optional<BatchPlan> best;
  RamDemand found, fixedLeast;
  // The fixed batch is only reported for comparison, so that nothing else needs
  // its module.
  std::vector<BatchPlan> fixed = listFixedBatches(problem, counts),
                         plans = listBatchPlans(problem, counts);
  isSlow = plans.empty();
  if (isSlow)
    return success();
  if (compares && !fixed.empty() &&
      failed(fit(std::move(fixed), made.fixed, fixedLeast)))
    return failure();
  if (failed(fit(std::move(plans), best, found)))
    return failure();
  if (!best) {
    if (found.bytes < least.bytes)
      least = found;
    return success();
  }
  made.plan = *best;
  made.parts = listParts(getNetwork(formed), *best);
  choice = std::move(made);
  return success();
}

BatchPlanner::Outcome BatchPlanner::choose(bool compares) {
  least.bytes = INT64_MAX;
  // First the fastest routines are tried, then those with the least memory;
  // neither depends on the limit. If only the latter fit, there may be faster
  // ones that use all of the memory, which are tried at the end.
  for (int64_t ram : {INT64_MAX, int64_t(0)}) {
    if (failed(plan(ram, compares)))
      return Outcome::failed;
    if (isSlow || choice)
      break;
  }
  if (choice && options.maxRam == 0 && limits.maxRam) {
    if (failed(plan(*limits.maxRam, compares)) ||
        (!isSlow && !choice && failed(plan(0, compares))))
      return Outcome::failed;
  }
  if (isSlow)
    return Outcome::slow;
  return choice ? Outcome::found : Outcome::large;
}
