//===- batching_test.cpp - Batch sizes against trying every plan ----------===//

#include "compiler/search/Batching.h"

#include "llvm/ADT/STLExtras.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace nnc;

namespace {
struct Demand {
  int64_t bytes = 0;
  double seconds = 0;
};

/// The demand of a plan, computed by following its loops from the outermost one
/// inwards.
class Evaluation {
public:
  Evaluation(const BatchProblem &problem, const BatchPlan &plan)
      : problem(problem), plan(plan) {}

  Demand run() const {
    size_t last = plan.segments.size() - 1;
    bool isWhole = plan.segments[last].size == plan.count;
    Demand all = isWhole ? add(last, /*ownsPorts=*/false) : add(last, true);
    if (!isWhole) {
      const BatchCut &end = problem.cuts.back();
      all.seconds *= double(plan.count / plan.segments[last].size);
      all.seconds += double(plan.count) * (end.inputSeconds + end.queueSeconds);
    }
    all.bytes += problem.callersBytes * plan.count;
    return all;
  }

private:
  Demand add(size_t number, bool ownsPorts) const {
    const BatchSegment &own = plan.segments[number];
    const BatchProfile *profile = nullptr;
    for (const BatchProfile &each : problem.profiles)
      if (each.size == own.size)
        profile = &each;
    Demand demand;
    size_t begin = number ? plan.segments[number - 1].end : 0;
    for (size_t i = begin; i < own.end; ++i) {
      demand.seconds += profile->seconds[i];
      demand.bytes =
          std::max(demand.bytes, ownsPorts ? profile->bytes[i]
                                           : profile->bytesWithoutPorts[i]);
    }
    if (number == 0)
      return demand;
    const BatchCut &cut = problem.cuts[begin];
    Demand inner = add(number - 1, true);
    int64_t runs = own.size / plan.segments[number - 1].size;
    demand.seconds += double(runs) * inner.seconds +
                      double(own.size) * (cut.queueSeconds + cut.inputSeconds);
    int64_t kept = cut.queueBytes + (ownsPorts ? cut.inputBytes : 0);
    demand.bytes = std::max(demand.bytes, inner.bytes + kept * own.size);
    return demand;
  }

  const BatchProblem &problem;
  const BatchPlan &plan;
};

class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}
  int64_t below(int64_t end) { return int64_t(engine() % unsigned(end)); }

private:
  std::mt19937 engine;
};
} // namespace

/// Returns a random problem in which early ops need much memory and late ones
/// gain from large batches, as in networks for images.
static BatchProblem makeProblem(Random &random, size_t ops,
                                llvm::ArrayRef<int64_t> sizes) {
  BatchProblem problem;
  std::vector<int64_t> fixed, perSample, bytes;
  for (size_t i = 0; i < ops; ++i) {
    fixed.push_back(random.below(50 * int64_t(i + 1)));
    perSample.push_back(1 + random.below(40));
    bytes.push_back(1 + random.below(int64_t(1000 / (i + 1))));
  }
  for (int64_t size : sizes) {
    BatchProfile &profile = problem.profiles.emplace_back();
    profile.size = size;
    for (size_t i = 0; i < ops; ++i) {
      profile.seconds.push_back(double(fixed[i] + perSample[i] * size));
      profile.bytes.push_back(bytes[i] * size);
      bool isPort = i == 0 || i + 1 == ops;
      profile.bytesWithoutPorts.push_back(bytes[i] * size / (isPort ? 2 : 1));
    }
  }
  problem.cuts.resize(ops + 1);
  for (size_t i = 1; i <= ops; ++i)
    problem.cuts[i] = {bytes[i - 1] / 3, bytes[0] / 4, double(random.below(5)),
                       double(random.below(3))};
  problem.callersBytes = bytes[0] / 4;
  return problem;
}

/// Visits every plan of segments with growing sizes.
static void visitPlans(const BatchProblem &problem, BatchPlan &plan,
                       size_t begin, size_t profile,
                       llvm::function_ref<void(const BatchPlan &)> visit) {
  size_t ops = problem.profiles.front().seconds.size();
  if (begin == ops) {
    if (plan.count % plan.segments.back().size == 0)
      visit(plan);
    return;
  }
  for (size_t own = profile; own < problem.profiles.size(); ++own) {
    int64_t size = problem.profiles[own].size;
    if (!plan.segments.empty() && size % plan.segments.back().size)
      continue;
    for (size_t end = begin + 1; end <= ops; ++end) {
      plan.segments.push_back({end, size});
      visitPlans(problem, plan, end, own + 1, visit);
      plan.segments.pop_back();
    }
  }
}

TEST_CASE("batch sizes take the least time within the limits") {
  Random random(1);
  size_t found = 0, several = 0;
  for (int round = 0; round < 200; ++round) {
    llvm::SmallVector<int64_t> sizes =
        round % 2 ? llvm::SmallVector<int64_t>{1, 2, 4, 6}
                  : llvm::SmallVector<int64_t>{1, 2, 4, 8};
    size_t ops = 1 + size_t(random.below(5));
    BatchProblem problem = makeProblem(random, ops, sizes);
    if (round % 4 != 0)
      problem.maxBytes = 200 + random.below(6000);
    if (round % 3 == 0)
      problem.maxSeconds = double(100 + random.below(2000));
    llvm::SmallVector<int64_t> counts = {2, sizes.back()};
    double best = std::numeric_limits<double>::infinity(), fixed = best;
    for (int64_t count : counts) {
      BatchPlan plan;
      plan.count = count;
      visitPlans(problem, plan, 0, 0, [&](const BatchPlan &each) {
        Demand demand = Evaluation(problem, each).run();
        if (demand.bytes > problem.maxBytes ||
            demand.seconds > problem.maxSeconds)
          return;
        best = std::min(best, demand.seconds / double(count));
        if (each.segments.size() == 1 && each.segments[0].size == count)
          fixed = std::min(fixed, demand.seconds / double(count));
      });
    }
    std::optional<BatchPlan> plan = findBatchPlan(problem, counts);
    double same = std::numeric_limits<double>::infinity();
    for (const BatchPlan &each : listFixedBatches(problem, counts))
      same = std::min(same, each.getSecondsPerSample());
    REQUIRE(plan.has_value() == std::isfinite(best));
    REQUIRE(std::isfinite(same) == std::isfinite(fixed));
    if (std::isfinite(same))
      CHECK(same == Approx(fixed));
    if (!plan)
      continue;
    ++found;
    several += plan->segments.size() > 1;
    CHECK(plan->getSecondsPerSample() == Approx(best));
    Demand demand = Evaluation(problem, *plan).run();
    CHECK(demand.bytes == plan->bytes);
    CHECK(demand.seconds == Approx(plan->seconds));
  }
  CHECK(found > 50);
  CHECK(several > 10);
}

TEST_CASE("a list of plans has the best one for each limit of memory") {
  Random random(3);
  for (int round = 0; round < 100; ++round) {
    BatchProblem problem =
        makeProblem(random, 1 + size_t(random.below(4)), {1, 2, 4, 6});
    problem.maxBytes = random.below(2000); // which plays no part
    llvm::SmallVector<int64_t> counts = {2, 6};
    std::vector<std::pair<Demand, double>> all; // with seconds for a sample
    for (int64_t count : counts) {
      BatchPlan plan;
      plan.count = count;
      visitPlans(problem, plan, 0, 0, [&](const BatchPlan &each) {
        Demand demand = Evaluation(problem, each).run();
        all.emplace_back(demand, demand.seconds / double(count));
      });
    }
    std::vector<BatchPlan> list = listBatchPlans(problem, counts);
    CHECK(list.size() <= 32 + 2 + 4);
    for (const BatchPlan &plan : list) {
      Demand demand = Evaluation(problem, plan).run();
      CHECK(demand.bytes == plan.bytes);
      CHECK(demand.seconds == Approx(plan.seconds));
    }
    for (const auto &[demand, ignored] : all) {
      double best = std::numeric_limits<double>::infinity(), listed = best;
      for (const auto &[other, seconds] : all)
        if (other.bytes <= demand.bytes)
          best = std::min(best, seconds);
      for (const BatchPlan &plan : list)
        if (plan.bytes <= demand.bytes)
          listed = std::min(listed, plan.getSecondsPerSample());
      CHECK(listed == Approx(best));
    }
  }
}

TEST_CASE("batch sizes of many ops are found in little time") {
  Random random(2);
  BatchProblem problem = makeProblem(random, 400, {1, 2, 4, 8, 16, 32, 64});
  problem.maxBytes = 40000;
  std::optional<BatchPlan> plan = findBatchPlan(problem, {16, 32, 64});
  REQUIRE(plan);
  CHECK(plan->bytes <= problem.maxBytes);
}
