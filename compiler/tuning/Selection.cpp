//===- Selection.cpp - Selection of what to measure -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tuning/Selection.h"

#include "compiler/routines/PlanGraph.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/xxhash.h"

#include <map>
#include <set>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The relative errors that the cost of an unmeasured candidate may have: in
/// general; if the same routine was measured on the layer with other
/// parameters; and if the same call was measured on a similar layer.
static constexpr double kDoubt = 0.2, kSiblingDoubt = 0.1, kAlikeDoubt = 0.03;

/// The fraction of the plan's time below which a gain is not worth a
/// measurement.
static constexpr double kNegligible = 0.0002;

/// Candidates whose estimate is this many times that of the best are not
/// sampled.
static constexpr double kHopeless = 10;

void nnc::forEachJob(func::FuncOp function, const CostModel &cost,
                     llvm::function_ref<void(Job)> visit) {
  Block &block = function.getBody().front();
  auto layouts = findLayouts(block, cost);
  std::set<Subject> seen;
  auto visitNew = [&](Job job) {
    if (seen.insert(job.subject).second)
      visit(std::move(job));
  };
  llvm::SetVector<RankedTensorType> values;
  for (LayerOp layer : block.getOps<LayerOp>()) {
    forEachCandidate(layer, cost, layouts.getArrayRef(),
                     [&](Candidate candidate) {
                       values.insert(getLogicalType(candidate.result));
                       for (RankedTensorType operand : candidate.operands)
                         values.insert(getLogicalType(operand));
                       if (!candidate.isView())
                         visitNew(makeLayerJob(layer, std::move(candidate)));
                     });
  }
  forEachAdapt(
      values.getArrayRef(), layouts.getArrayRef(), cost,
      [&](RankedTensorType from, RankedTensorType to, const AdaptCost &adapt) {
        visitNew(makeAdaptJob(from, to, adapt));
      });
}

namespace {
/// A set of jobs with the value of each in seconds. Of jobs with the same call
/// on similar layers only the first is kept, with the sum of their values.
class Wanted {
public:
  void add(Job job, double worth) {
    std::string name = job.candidate.alike
                           ? job.subject.layer + " : " + job.subject.getCall()
                           : getAlikeCall(job.subject);
    auto [entry, isNew] = jobs.insert({std::move(name), {Job(), 0}});
    if (isNew)
      entry->second.first = std::move(job);
    entry->second.second += worth;
  }
  SmallVector<Job, 0> take(double least) {
    auto found = jobs.takeVector();
    llvm::sort(found, [](auto &a, auto &b) {
      return a.second.second != b.second.second
                 ? a.second.second > b.second.second
                 : a.first < b.first;
    });
    SmallVector<Job, 0> result;
    for (auto &[subject, job] : found)
      if (job.second >= least)
        result.push_back(std::move(job.first));
    return result;
  }

private:
  llvm::MapVector<std::string, std::pair<Job, double>,
                  std::map<std::string, unsigned>>
      jobs;
};
} // namespace

/// Adds the unmeasured candidates of the layer that could be better than the
/// plan's choice.
static void addCandidates(LayerOp layer, const CostModel &cost,
                          const PlanGraph &graph, const Plan &plan,
                          Wanted &wanted) {
  SmallVector<Candidate, 0> open;
  llvm::SmallPtrSet<const Routine *, 8> measured;
  int known = 0;
  forEachCandidate(layer, cost, graph.getLayouts(), [&](Candidate candidate) {
    if (candidate.isView())
      return;
    if (candidate.measured) {
      measured.insert(candidate.routine);
      ++known;
    } else if (!graph.isOverError(layer, candidate)) {
      open.push_back(std::move(candidate));
    }
  });
  SmallVector<std::pair<double, Candidate *>> order;
  for (Candidate &candidate : open) {
    double doubt = candidate.alike                        ? kAlikeDoubt
                   : measured.contains(candidate.routine) ? kSiblingDoubt
                                                          : kDoubt;
    double chance = 1 - graph.getExtraSeconds(layer, candidate, plan) /
                            (doubt * candidate.seconds);
    if (chance > 0)
      order.push_back(
          {doubt * candidate.seconds * chance * chance / 4, &candidate});
  }
  llvm::sort(order, [](auto &a, auto &b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (auto [worth, candidate] : order)
    wanted.add(makeLayerJob(layer, std::move(*candidate)), worth / ++known);
}

/// Adds the unmeasured adapts of the plan between values and layers.
static void addAdapts(Block &block, const CostModel &cost,
                      const PlanGraph &graph, const Plan &plan,
                      Wanted &wanted) {
  auto add = [&](Value value) {
    Operation *producer = value.getDefiningOp();
    if ((producer && producer->hasTrait<OpTrait::ConstantLike>()) ||
        llvm::none_of(value.getUsers(), llvm::IsaPred<LayerOp>))
      return;
    for (auto [from, to] : graph.getSteps(value, plan)) {
      if (from.getElementType() != to.getElementType()) {
        const AdaptPaths::Cast &cast = *graph.getPaths().getCast(from, to);
        if (!cast.candidate.measured && !cast.candidate.alike)
          wanted.add(makeLayerJob(cast.layer, cast.candidate),
                     cast.candidate.seconds);
        continue;
      }
      AdaptCost adapt = cost.getAdapt(from, to);
      if (adapt.routine && !adapt.measured && !adapt.alike)
        wanted.add(makeAdaptJob(from, to, adapt), adapt.seconds);
    }
  };
  for (BlockArgument argument : block.getArguments())
    add(argument);
  for (Operation &op : block)
    for (Value result : op.getResults())
      add(result);
}

FailureOr<Selection> nnc::selectJobs(func::FuncOp function,
                                     const CostModel &cost, double maxError) {
  auto graph = PlanGraph::build(function, cost, maxError);
  if (failed(graph))
    return failure();
  Plan plan = graph->solve();
  Block &block = function.getBody().front();
  Wanted wanted;
  for (LayerOp layer : block.getOps<LayerOp>())
    addCandidates(layer, cost, *graph, plan, wanted);
  addAdapts(block, cost, *graph, plan, wanted);
  return Selection{wanted.take(kNegligible * plan.cost), plan.cost};
}

/// Adds the unmeasured ones among the few cheapest candidates of the layer, as
/// far as errors in their costs could make them the cheapest.
static void addCheapest(LayerOp layer, const CostModel &cost, double maxError,
                        Wanted &wanted) {
  constexpr size_t most = 3;
  SmallVector<Candidate, 0> all;
  forEachCandidate(layer, cost, {}, [&](Candidate candidate) {
    if (candidate.error <= maxError)
      all.push_back(std::move(candidate));
  });
  llvm::sort(all, [](const Candidate &a, const Candidate &b) {
    return a.seconds < b.seconds;
  });
  if (all.size() > most)
    all.truncate(most);
  const double dearest = all.empty() ? 0 : all.front().seconds * (1 + kDoubt);
  for (auto [i, candidate] : llvm::enumerate(all))
    if (!candidate.measured && candidate.seconds <= dearest)
      wanted.add(makeLayerJob(layer, candidate),
                 candidate.seconds / double(i + 1));
}

/// Returns the layers of `other` for which `function` has no layer with the
/// same name and kind of anchor.
static SmallVector<LayerOp> findOtherLayers(func::FuncOp other,
                                            func::FuncOp function) {
  auto describe = [](LayerOp layer) {
    Operation *anchor = layer.getAnchorOp();
    return std::pair(layer.getName(),
                     anchor ? anchor->getName().getStringRef() : StringRef());
  };
  std::set<std::pair<StringRef, StringRef>> here;
  for (auto layer : function.getOps<LayerOp>())
    here.insert(describe(layer));
  SmallVector<LayerOp> found;
  for (auto layer : other.getOps<LayerOp>())
    if (!here.count(describe(layer)))
      found.push_back(layer);
  return found;
}

size_t nnc::countOtherLayers(func::FuncOp other, func::FuncOp function) {
  return findOtherLayers(other, function).size();
}

SmallVector<Job, 0> nnc::selectOtherJobs(func::FuncOp other,
                                         func::FuncOp function,
                                         const CostModel &cost,
                                         double maxError) {
  Wanted wanted;
  for (LayerOp layer : findOtherLayers(other, function))
    addCheapest(layer, cost, maxError, wanted);
  return wanted.take(0);
}

/// Returns jobs for the layer's candidates: the plan's choice, then the others
/// in a pseudorandom order that depends on their names only.
static SmallVector<Job, 0> shuffleJobs(LayerOp layer, const CostModel &cost,
                                       const PlanGraph &graph,
                                       const Plan &plan) {
  const Candidate &choice = graph.getChoice(layer, plan);
  std::multimap<uint64_t, Job> order;
  double best = kImpossible;
  forEachCandidate(layer, cost, graph.getLayouts(), [&](Candidate candidate) {
    best = std::min(best, candidate.estimate);
    bool isChoice = candidate.isSameAs(choice);
    Job job = makeLayerJob(layer, std::move(candidate));
    std::string text = job.subject.layer + job.subject.getCall();
    order.emplace(isChoice ? 0 : llvm::xxh3_64bits(text), std::move(job));
  });
  SmallVector<Job, 0> jobs;
  for (auto &[hash, job] : order)
    if (job.candidate.estimate <= kHopeless * best)
      jobs.push_back(std::move(job));
  return jobs;
}

FailureOr<Selection> nnc::sampleJobs(func::FuncOp function,
                                     const CostModel &cost, double maxError) {
  auto graph = PlanGraph::build(function, cost, maxError);
  if (failed(graph))
    return failure();
  Plan plan = graph->solve();
  Block &block = function.getBody().front();
  Wanted wanted;
  addAdapts(block, cost, *graph, plan, wanted);
  Selection selection{wanted.take(0), plan.cost};
  std::multimap<size_t, Job> turns;
  std::set<Subject> seen;
  for (LayerOp layer : block.getOps<LayerOp>())
    for (auto &&[turn, job] :
         llvm::enumerate(shuffleJobs(layer, cost, *graph, plan)))
      if (!job.candidate.measured && seen.insert(job.subject).second)
        turns.emplace(turn, std::move(job));
  for (auto &[turn, job] : turns)
    selection.jobs.push_back(std::move(job));
  return selection;
}
