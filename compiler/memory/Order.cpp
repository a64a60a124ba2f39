//===- Order.cpp - Orders of steps that need little memory ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A best-first search over sets of completed steps. All that matters of the
// path to a set is its peak, the largest number of bytes that were in use on
// it. Sets are visited in ascending order of their peaks, so that the first
// path that completes all steps has the lowest peak.
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/Order.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <queue>

using namespace llvm;
using namespace nnc;

/// The limit on the work of a search, counted in steps examined: each extension
/// of a set of completed steps examines every step. Only networks with hundreds
/// of layers that do not depend on each other come near it.
static constexpr int64_t kMostLooks = int64_t(1) << 25;

namespace {
/// A set of completed steps and the state of the memory after them.
struct Progress {
  BitVector isDone;
  SmallVector<int> readers; ///< for each value, the readers that are not done
  int64_t live = 0;
};

class Search {
public:
  explicit Search(const OrderProblem &problem);
  Progress start() const;
  bool isReady(const Progress &progress, unsigned step) const {
    return !progress.isDone[step] && !needs[step].test(progress.isDone);
  }
  /// The number of bytes in use during and after a ready step.
  struct Effect {
    int64_t during; ///< bytes in use during the step
    int64_t live;   ///< bytes in use after the step
  };
  Effect getEffect(const Progress &progress, unsigned step) const;
  /// Completes a step. Returns the number of bytes in use during it.
  int64_t take(Progress &progress, unsigned step) const;
  /// Completes the ready steps that free at least as much memory as they
  /// allocate and during which at most `peak` bytes are in use: to postpone
  /// them never makes an order better. Appends them to `taken`.
  void takeFree(Progress &progress, int64_t peak,
                SmallVectorImpl<unsigned> &taken) const;
  std::optional<SmallVector<unsigned>> run(int64_t budget) const;
  /// Returns a number of bytes that are in use at the peak of every order.
  int64_t getLeastPeak() const;

private:
  const OrderProblem &problem;
  /// The steps that each step depends on.
  std::vector<BitVector> needs;
};

/// A set of completed steps and the best path found so far to it.
struct Way {
  Progress progress;           ///< empty once the set has been extended
  int64_t peak = 0;            ///< the peak of the path
  unsigned before = 0;         ///< the index of the preceding set on the path
  SmallVector<unsigned> taken; ///< the steps from that set to this one
  bool isFinal = false;        ///< whether the set has been extended
};
} // namespace

Search::Search(const OrderProblem &problem)
    : problem(problem),
      needs(problem.steps.size(), BitVector(problem.steps.size())) {
  DenseMap<unsigned, unsigned> makers;
  for (auto [i, step] : llvm::enumerate(problem.steps))
    if (step.made >= 0)
      makers[step.made] = i;
  for (auto [i, step] : llvm::enumerate(problem.steps))
    for (unsigned value : step.reads)
      if (auto maker = makers.find(value); maker != makers.end())
        needs[i].set(maker->second);
}

Progress Search::start() const {
  Progress progress;
  progress.isDone.resize(problem.steps.size());
  progress.readers.assign(problem.bytes.size(), 0);
  SmallVector<bool> isThere(problem.bytes.size(), true);
  for (const OrderStep &step : problem.steps) {
    for (unsigned value : step.reads)
      ++progress.readers[value];
    if (step.made >= 0)
      isThere[step.made] = false;
  }
  for (auto [value, bytes] : llvm::enumerate(problem.bytes))
    if (isThere[value] && (progress.readers[value] || problem.isKept[value]))
      progress.live += bytes;
  return progress;
}

Search::Effect Search::getEffect(const Progress &progress,
                                 unsigned number) const {
  const OrderStep &step = problem.steps[number];
  int64_t freed = 0, reused = 0;
  int64_t made = step.made >= 0 ? problem.bytes[step.made] : 0;
  for (unsigned value : step.reads) {
    if (progress.readers[value] != 1 || problem.isKept[value])
      continue;
    freed += problem.bytes[value];
    if (llvm::is_contained(step.inPlace, value))
      reused = std::max(reused, std::min(problem.bytes[value], made));
  }
  Effect effect{progress.live + made - reused + step.scratch,
                progress.live + made - freed};
  // A value without readers is dead after the step.
  if (step.made >= 0 && !progress.readers[step.made] &&
      !problem.isKept[step.made])
    effect.live -= made;
  return effect;
}

int64_t Search::take(Progress &progress, unsigned number) const {
  Effect effect = getEffect(progress, number);
  progress.isDone.set(number);
  for (unsigned value : problem.steps[number].reads)
    --progress.readers[value];
  progress.live = effect.live;
  return effect.during;
}

void Search::takeFree(Progress &progress, int64_t peak,
                      SmallVectorImpl<unsigned> &taken) const {
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned step = 0; step < problem.steps.size(); ++step) {
      if (!isReady(progress, step))
        continue;
      Effect effect = getEffect(progress, step);
      if (effect.during > peak || effect.live > progress.live)
        continue;
      take(progress, step);
      taken.push_back(step);
      changed = true;
    }
  }
}

/// Returns the steps of the path to set `last`, in order.
static SmallVector<unsigned> tracePath(ArrayRef<Way> ways, unsigned last) {
  SmallVector<unsigned> path;
  for (unsigned at = last;; at = ways[at].before) {
    path.append(ways[at].taken.rbegin(), ways[at].taken.rend());
    if (at == 0)
      break;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::optional<SmallVector<unsigned>> Search::run(int64_t budget) const {
  if (problem.steps.empty())
    return SmallVector<unsigned>();
  std::vector<Way> ways;
  DenseMap<BitVector, unsigned> places;       // the index in `ways` of each set
  using Entry = std::pair<int64_t, unsigned>; // a peak, an index in `ways`
  auto isLater = [](const Entry &a, const Entry &b) {
    return a.first > b.first;
  };
  std::priority_queue<Entry, std::vector<Entry>, decltype(isLater)> open(
      isLater);
  auto reach = [&](Way way) {
    takeFree(way.progress, way.peak, way.taken);
    auto [place, isNew] =
        places.try_emplace(way.progress.isDone, unsigned(ways.size()));
    if (isNew)
      ways.emplace_back();
    Way &known = ways[place->second];
    if (!isNew && known.peak <= way.peak)
      return;
    known = std::move(way);
    open.push({known.peak, place->second});
  };
  Way begin;
  begin.progress = start();
  begin.peak = begin.progress.live;
  reach(std::move(begin));
  int64_t work = 0;
  for (int64_t looked = 0;
       !open.empty() && looked < budget && work < kMostLooks;) {
    auto [peak, index] = open.top();
    open.pop();
    if (ways[index].isFinal || ways[index].peak < peak)
      continue;
    ways[index].isFinal = true;
    ++looked;
    const Progress here = std::move(ways[index].progress);
    if (here.isDone.all())
      return tracePath(ways, index);
    for (unsigned step = 0; step < problem.steps.size(); ++step) {
      if (!isReady(here, step))
        continue;
      work += problem.steps.size();
      Way next;
      next.progress = here;
      next.peak = std::max(peak, take(next.progress, step));
      next.before = index;
      next.taken.push_back(step);
      reach(std::move(next));
    }
  }
  return std::nullopt;
}

int64_t Search::getLeastPeak() const {
  const size_t count = problem.steps.size();
  // The steps that each step depends on, directly or through others. Steps are
  // numbered so that they depend on lower numbers only.
  std::vector<BitVector> ancestors = needs;
  for (size_t step = 0; step < count; ++step)
    for (unsigned need : needs[step].set_bits())
      ancestors[step] |= ancestors[need];
  std::vector<int> makers(problem.bytes.size(), -1);
  std::vector<BitVector> readers(problem.bytes.size(), BitVector(count));
  for (auto [i, step] : llvm::enumerate(problem.steps)) {
    if (step.made >= 0)
      makers[step.made] = int(i);
    for (unsigned value : step.reads)
      readers[value].set(unsigned(i));
  }
  int64_t least = 0;
  for (auto [i, step] : llvm::enumerate(problem.steps)) {
    BitVector descendants(count);
    for (size_t other = i + 1; other < count; ++other)
      descendants[unsigned(other)] = ancestors[other][unsigned(i)];
    const int64_t made = step.made >= 0 ? problem.bytes[step.made] : 0;
    int64_t live = 0, reused = 0;
    for (auto [value, bytes] : llvm::enumerate(problem.bytes)) {
      if (makers[value] >= 0 && !ancestors[i][unsigned(makers[value])])
        continue; // some order makes it after this step
      const bool isReadLater = readers[value].anyCommon(descendants);
      if (!problem.isKept[value] && !isReadLater &&
          !readers[value][unsigned(i)])
        continue; // some order reads it before this step only
      live += bytes;
      if (!problem.isKept[value] && !isReadLater &&
          llvm::is_contained(step.inPlace, unsigned(value)))
        reused = std::max(reused, std::min(bytes, made));
    }
    least = std::max(least, live + made - reused + step.scratch);
  }
  return least;
}

SmallVector<int64_t> nnc::getUsage(const OrderProblem &problem) {
  Search search(problem);
  Progress progress = search.start();
  SmallVector<int64_t> usage;
  for (unsigned step = 0; step < problem.steps.size(); ++step)
    usage.push_back(search.take(progress, step));
  return usage;
}

int64_t nnc::getPeak(const OrderProblem &problem, ArrayRef<unsigned> order) {
  Search search(problem);
  Progress progress = search.start();
  int64_t peak = progress.live;
  for (unsigned step : order)
    peak = std::max(peak, search.take(progress, step));
  return peak;
}

/// Returns the order that always runs the ready step after which the fewest
/// bytes are in use.
static SmallVector<unsigned> orderGreedily(const OrderProblem &problem) {
  Search search(problem);
  Progress progress = search.start();
  SmallVector<unsigned> order;
  while (order.size() < problem.steps.size()) {
    std::optional<std::pair<int64_t, int64_t>> best;
    unsigned chosen = 0;
    for (unsigned step = 0; step < problem.steps.size(); ++step) {
      if (!search.isReady(progress, step))
        continue;
      Search::Effect effect = search.getEffect(progress, step);
      std::pair<int64_t, int64_t> cost = {effect.live, effect.during};
      if (!best || cost < *best) {
        best = cost;
        chosen = step;
      }
    }
    search.take(progress, chosen);
    order.push_back(chosen);
  }
  return order;
}

SmallVector<unsigned> nnc::findOrder(const OrderProblem &problem,
                                     int64_t budget) {
  auto given = llvm::to_vector(llvm::seq<unsigned>(0, problem.steps.size()));
  int64_t least = getPeak(problem, given);
  const Search search(problem);
  if (least <= search.getLeastPeak())
    return given;
  // The work for each set is proportional to the number of steps.
  int64_t sets = std::max<int64_t>(
      16, budget * 64 / std::max<int64_t>(64, problem.steps.size()));
  std::optional<SmallVector<unsigned>> found = search.run(sets);
  if (!found)
    found = orderGreedily(problem);
  return getPeak(problem, *found) < least ? *found : given;
}
