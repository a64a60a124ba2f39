//===- Batching.cpp - Batch sizes of the parts of a network ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/search/Batching.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

namespace nnc {
namespace {

/// A plan for the ops in front of some op, on some number of samples.
struct Partial {
  int64_t bytes;
  double seconds;
  size_t begin; ///< first op of its last segment
  /// The profile and the entry in the front of the partial plan for the ops
  /// before `begin`, if `begin` is not 0.
  size_t before = 0, entry = 0;
};
/// A Pareto front of plans: each takes more bytes and less time than the one
/// before.
using Front = std::vector<Partial>;

/// The largest number of entries of a front. With more, neighbours would hardly
/// differ.
constexpr size_t kMaxEntries = 64;
/// The largest number of ops in front of which the network may be divided:
/// those where the fewest bytes cross the cut.
constexpr size_t kMaxCuts = 48;
/// The largest number of plans of the front of listBatchPlans(). Each may be
/// built.
constexpr size_t kMaxPlans = 32;

/// A plan that keeps to the limits and whose segments are created on demand.
struct Offer {
  int64_t count, bytes;
  double seconds;
  std::function<void(BatchPlan &)> addSegments;

  double getSecondsPerSample() const { return seconds / double(count); }
  BatchPlan make() const {
    BatchPlan plan{count, {}, bytes, seconds};
    addSegments(plan);
    return plan;
  }
};

class Batching {
public:
  explicit Batching(const BatchProblem &problem);
  /// Calls `visit` with each plan that keeps to the limits for a run of one of
  /// `counts` samples.
  void visitAll(llvm::ArrayRef<int64_t> counts,
                llvm::function_ref<void(const Offer &)> visit) const;
  /// Calls `visit` with each of these plans in which all ops process all
  /// samples at once.
  void visitFixed(llvm::ArrayRef<int64_t> counts,
                  llvm::function_ref<void(const Offer &)> visit) const;
  /// Calls `visit` with each of these plans for `count` samples that runs all
  /// ops in one loop.
  void visitLoops(int64_t count,
                  llvm::function_ref<void(const Offer &)> visit) const;

private:
  void visit(Offer offer, llvm::function_ref<void(const Offer &)> visit) const {
    offer.bytes += problem.callersBytes * offer.count;
    if (offer.bytes <= problem.maxBytes && offer.seconds <= problem.maxSeconds)
      visit(offer);
  }
  void visitParts(int64_t count, size_t profile,
                  llvm::function_ref<void(const Offer &)> visit) const;
  void fill(size_t end, size_t profile);
  double getSeconds(size_t begin, size_t end, size_t profile) const {
    return sums[profile][end] - sums[profile][begin];
  }
  int64_t getMost(llvm::ArrayRef<int64_t> bytes, size_t begin,
                  size_t end) const {
    int64_t most = 0;
    for (int64_t each : bytes.slice(begin, end - begin))
      most = std::max(most, each);
    return most;
  }
  void addSingle(size_t profile, BatchPlan &plan) const;
  void trace(size_t end, size_t profile, size_t entry, BatchPlan &plan) const;
  Partial extend(const Partial &inner, size_t begin, size_t before, size_t end,
                 size_t profile, llvm::ArrayRef<int64_t> bytes,
                 bool takesAll) const;

  const BatchProblem &problem;
  size_t ops;
  std::vector<std::vector<double>> sums; ///< prefix sums of seconds, by profile
  std::vector<size_t> ends;              ///< where segments may end
  /// The partial plans by the end of their last segment and its profile. Their
  /// inputs are copies, and their results are in the arena.
  std::map<std::pair<size_t, size_t>, Front> fronts;
};

} // namespace

/// Returns at most `most` of the numbers below `size`, evenly spaced, the first
/// and the last among them.
static std::vector<size_t> thinOut(size_t size, size_t most) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < std::min(size, most); ++i)
    kept.push_back(size <= most ? i : i * (size - 1) / (most - 1));
  return kept;
}

/// Removes plans for which another one takes no more bytes and no more time,
/// and thins out the rest to kMaxEntries.
static void prune(Front &front) {
  llvm::sort(front, [](const Partial &a, const Partial &b) {
    return std::pair(a.bytes, a.seconds) < std::pair(b.bytes, b.seconds);
  });
  Front kept;
  for (const Partial &each : front)
    if (kept.empty() || each.seconds < kept.back().seconds)
      kept.push_back(each);
  if (kept.size() > kMaxEntries) {
    Front fewer;
    for (size_t i : thinOut(kept.size(), kMaxEntries))
      fewer.push_back(kept[i]);
    kept = std::move(fewer);
  }
  front = std::move(kept);
}

Batching::Batching(const BatchProblem &problem)
    : problem(problem), ops(problem.profiles.front().seconds.size()) {
  for (const BatchProfile &profile : problem.profiles) {
    std::vector<double> &sum = sums.emplace_back(1, 0.0);
    for (double seconds : profile.seconds)
      sum.push_back(sum.back() + seconds);
  }
  for (size_t end = 1; end < ops; ++end)
    ends.push_back(end);
  if (ends.size() > kMaxCuts) {
    llvm::sort(ends, [&](size_t a, size_t b) {
      return std::pair(problem.cuts[a].queueBytes, a) <
             std::pair(problem.cuts[b].queueBytes, b);
    });
    ends.resize(kMaxCuts);
    llvm::sort(ends);
  }
  ends.push_back(ops);
  for (size_t end : ends)
    for (size_t profile = 0; profile < problem.profiles.size(); ++profile)
      fill(end, profile);
}

/// Returns the plan that runs `inner` on all parts of a batch, and then the ops
/// from `begin` to `end` on the whole batch. The inputs of the whole batch are
/// copied, unless `takesAll` says that the plan reads the inputs of the caller.
Partial Batching::extend(const Partial &inner, size_t begin, size_t before,
                         size_t end, size_t profile,
                         llvm::ArrayRef<int64_t> bytes, bool takesAll) const {
  int64_t size = problem.profiles[profile].size,
          part = problem.profiles[before].size;
  const BatchCut &cut = problem.cuts[begin];
  // The inputs of all runs of the inner loop are in memory during the loop.
  int64_t inputs = takesAll ? 0 : problem.cuts[begin].inputBytes * size;
  return {std::max(inner.bytes + cut.queueBytes * size + inputs,
                   getMost(bytes, begin, end)),
          double(size / part) * inner.seconds +
              double(size) * (cut.queueSeconds + cut.inputSeconds) +
              getSeconds(begin, end, profile),
          begin, before};
}

void Batching::fill(size_t end, size_t profile) {
  const BatchProfile &own = problem.profiles[profile];
  Front front;
  auto add = [&](const Partial &made) {
    if (made.bytes <= problem.maxBytes && made.seconds <= problem.maxSeconds)
      front.push_back(made);
  };
  add({getMost(own.bytes, 0, end), getSeconds(0, end, profile), 0});
  for (size_t begin : ends) {
    if (begin >= end)
      break;
    for (size_t before = 0; before < profile; ++before) {
      if (own.size % problem.profiles[before].size)
        continue;
      const Front &inner = fronts.at({begin, before});
      for (size_t entry = 0; entry < inner.size(); ++entry) {
        Partial made = extend(inner[entry], begin, before, end, profile,
                              own.bytes, /*takesAll=*/false);
        made.entry = entry;
        add(made);
      }
    }
  }
  prune(front);
  fronts[{end, profile}] = std::move(front);
}

void Batching::trace(size_t end, size_t profile, size_t entry,
                     BatchPlan &plan) const {
  const Partial &last = fronts.at({end, profile})[entry];
  if (last.begin)
    trace(last.begin, last.before, last.entry, plan);
  plan.segments.push_back({end, problem.profiles[profile].size});
}

void Batching::visitFixed(llvm::ArrayRef<int64_t> counts,
                          llvm::function_ref<void(const Offer &)> each) const {
  for (size_t profile = 0; profile < problem.profiles.size(); ++profile) {
    const BatchProfile &own = problem.profiles[profile];
    if (llvm::is_contained(counts, own.size))
      visit({own.size, getMost(own.bytesWithoutPorts, 0, ops),
             getSeconds(0, ops, profile),
             [this, &own](BatchPlan &plan) {
               plan.segments.push_back({ops, own.size});
             }},
            each);
  }
}

/// Visits the plans whose last segment processes all samples at once and
/// follows other segments.
void Batching::visitParts(int64_t count, size_t profile,
                          llvm::function_ref<void(const Offer &)> each) const {
  const BatchProfile &own = problem.profiles[profile];
  for (size_t begin : ends)
    for (size_t before = 0; begin < ops && before < profile; ++before) {
      if (count % problem.profiles[before].size)
        continue;
      const Front &inner = fronts.at({begin, before});
      for (size_t entry = 0; entry < inner.size(); ++entry) {
        Partial made = extend(inner[entry], begin, before, ops, profile,
                              own.bytesWithoutPorts, /*takesAll=*/true);
        visit({count, made.bytes, made.seconds,
               [=](BatchPlan &plan) {
                 trace(begin, before, entry, plan);
                 plan.segments.push_back({ops, count});
               }},
              each);
      }
    }
}

void Batching::visitLoops(int64_t count,
                          llvm::function_ref<void(const Offer &)> each) const {
  const BatchCut &end = problem.cuts[ops];
  for (size_t profile = 0; profile < problem.profiles.size(); ++profile) {
    const BatchProfile &own = problem.profiles[profile];
    if (own.size >= count || count % own.size)
      continue;
    double seconds = double(count / own.size) * getSeconds(0, ops, profile) +
                     double(count) * (end.inputSeconds + end.queueSeconds);
    visit({count, getMost(own.bytes, 0, ops), seconds,
           [this, &own](BatchPlan &plan) {
             plan.segments.push_back({ops, own.size});
           }},
          each);
  }
}

void Batching::visitAll(llvm::ArrayRef<int64_t> counts,
                        llvm::function_ref<void(const Offer &)> each) const {
  visitFixed(counts, each);
  const BatchCut &end = problem.cuts[ops];
  for (int64_t count : counts)
    for (size_t profile = 0; profile < problem.profiles.size(); ++profile) {
      int64_t size = problem.profiles[profile].size;
      if (size == count)
        visitParts(count, profile, each);
      if (size >= count || count % size)
        continue;
      // A loop around all segments, whose results are in memory of the caller.
      const Front &whole = fronts.at({ops, profile});
      for (size_t entry = 0; entry < whole.size(); ++entry)
        visit({count, whole[entry].bytes,
               double(count / size) * whole[entry].seconds +
                   double(count) * (end.inputSeconds + end.queueSeconds),
               [=](BatchPlan &plan) { trace(ops, profile, entry, plan); }},
              each);
    }
}

std::optional<BatchPlan> findBatchPlan(const BatchProblem &problem,
                                       llvm::ArrayRef<int64_t> counts) {
  std::optional<Offer> best;
  Batching batching(problem);
  batching.visitAll(counts, [&](const Offer &offer) {
    if (!best || offer.getSecondsPerSample() < best->getSecondsPerSample())
      best = offer;
  });
  return best ? std::optional(best->make()) : std::nullopt;
}

std::vector<BatchPlan> listFixedBatches(const BatchProblem &problem,
                                        llvm::ArrayRef<int64_t> counts) {
  std::vector<BatchPlan> plans;
  Batching(problem).visitFixed(
      counts, [&](const Offer &offer) { plans.push_back(offer.make()); });
  return plans;
}

std::vector<BatchPlan> listBatchPlans(const BatchProblem &problem,
                                      llvm::ArrayRef<int64_t> counts) {
  BatchProblem open = problem;
  open.maxBytes = std::numeric_limits<int64_t>::max();
  Batching batching(open);
  // The entries of the front have ascending bytes and descending time.
  std::map<int64_t, Offer> front;
  batching.visitAll(counts, [&](const Offer &offer) {
    double seconds = offer.getSecondsPerSample();
    auto next = front.upper_bound(offer.bytes);
    if (next != front.begin() &&
        std::prev(next)->second.getSecondsPerSample() <= seconds)
      return;
    while (next != front.end() && next->second.getSecondsPerSample() >= seconds)
      next = front.erase(next);
    front.insert_or_assign(offer.bytes, offer);
  });
  std::vector<BatchPlan> plans;
  auto add = [&](const Offer &offer) {
    BatchPlan plan = offer.make();
    if (!llvm::is_contained(plans, plan))
      plans.push_back(std::move(plan));
  };
  std::vector<const Offer *> offers;
  for (const auto &[bytes, offer] : front)
    offers.push_back(&offer);
  for (size_t i : thinOut(offers.size(), kMaxPlans))
    add(*offers[i]);
  batching.visitFixed(counts, add);
  if (!counts.empty())
    batching.visitLoops(*std::min_element(counts.begin(), counts.end()), add);
  return plans;
}

} // namespace nnc
