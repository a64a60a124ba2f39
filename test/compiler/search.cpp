//===- search.cpp - The global search against trying everything -----------===//

#include "compiler/search/Pbqp.h"

#include "llvm/ADT/STLExtras.h"

#include <catch2/catch.hpp>

#include <random>

using namespace nnc;

namespace {
class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}
  unsigned below(unsigned end) { return engine() % end; }
  double cost() { return below(1000) / 10.0; }

private:
  std::mt19937 engine;
};
} // namespace

/// Returns a random graph of at most `nodes` nodes. Every node after the first
/// has an edge to an earlier one, and further edges exist with a probability of
/// `density` percent.
static Problem makeProblem(Random &random, unsigned nodes, unsigned candidates,
                           unsigned density, unsigned impossible) {
  Problem problem;
  unsigned count = 1 + random.below(nodes);
  for (unsigned i = 0; i < count; ++i) {
    auto &costs = problem.nodes.emplace_back();
    for (unsigned j = 1 + random.below(candidates); j > 0; --j)
      costs.push_back(random.cost());
  }
  auto connect = [&](unsigned from, unsigned to) {
    if (random.below(2) == 0)
      std::swap(from, to);
    Problem::Edge edge{from, to, {}};
    size_t entries = problem.nodes[from].size() * problem.nodes[to].size();
    for (size_t i = 0; i < entries; ++i)
      edge.costs.push_back(random.below(100) < impossible ? kImpossible
                                                          : random.cost());
    edge.costs[random.below(entries)] = random.cost();
    problem.edges.push_back(edge);
  };
  for (unsigned i = 1; i < count; ++i) {
    connect(random.below(i), i);
    for (unsigned j = 0; j < i; ++j)
      if (random.below(100) < density)
        connect(j, i);
  }
  return problem;
}

static double tryEverything(const Problem &problem) {
  llvm::SmallVector<unsigned> choices(problem.nodes.size(), 0);
  double best = kImpossible;
  while (true) {
    best = std::min(best, problem.getCost(choices));
    size_t node = 0;
    while (node < choices.size() &&
           ++choices[node] == problem.nodes[node].size())
      choices[node++] = 0;
    if (node == choices.size())
      return best;
  }
}

TEST_CASE("Dynamic programming finds the optimum of small graphs") {
  Random random(1);
  for (unsigned density : {0, 10, 40, 90})
    for (int i = 0; i < 400; ++i) {
      Problem problem = makeProblem(random, 8, 4, density, 0);
      Plan plan = solve(problem);
      REQUIRE(plan.solver == "exact");
      REQUIRE(plan.cost == Approx(tryEverything(problem)));
      REQUIRE(plan.cost == Approx(problem.getCost(plan.choices)));
    }
}

TEST_CASE("Candidates that go as they cannot pay leave the optimum") {
  Random random(7);
  for (int i = 0; i < 600; ++i) {
    // Edges cost as layouts do: nothing if both ends agree, and less than most
    // nodes if they differ.
    Problem problem = makeProblem(random, 8, 4, 40, i % 3 ? 0 : 10);
    for (Problem::Edge &edge : problem.edges)
      for (auto [at, cost] : llvm::enumerate(edge.costs)) {
        size_t count = problem.nodes[edge.to].size();
        cost = at / count == at % count ? 0 : cost / 10;
      }
    double best = tryEverything(problem);
    REQUIRE(solve(problem).cost == Approx(best));
    Plan limited = solve(problem, {20});
    REQUIRE(limited.cost >= best - 1e-9);
    REQUIRE(limited.lowerBound <= best + 1e-9);
  }
}

TEST_CASE("Impossible pairs are avoided wherever they can be") {
  Random random(2);
  for (int i = 0; i < 600; ++i) {
    Problem problem = makeProblem(random, 7, 4, 20, 40);
    double best = tryEverything(problem);
    Plan plan = solve(problem);
    if (best == kImpossible)
      REQUIRE(plan.cost == kImpossible);
    else
      REQUIRE(plan.cost == Approx(best));
  }
}

/// The differences between plans and the optimum: the real ones, and the bounds
/// that the plans state.
struct Gaps {
  std::vector<double> real, stated;
  int proven = 0;

  void add(const Plan &plan, double best) {
    real.push_back(plan.cost / best - 1);
    stated.push_back(plan.cost / plan.lowerBound - 1);
    proven += plan.cost == plan.lowerBound;
  }
  static double median(std::vector<double> gaps) {
    llvm::sort(gaps);
    return gaps[gaps.size() / 2];
  }
  static double worst(const std::vector<double> &gaps) {
    return *llvm::max_element(gaps);
  }
};

static void checkPlan(const Problem &problem, const Plan &plan, double best) {
  REQUIRE(plan.choices.size() == problem.nodes.size());
  REQUIRE(plan.cost == Approx(problem.getCost(plan.choices)));
  REQUIRE(plan.cost >= best - 1e-9);
  REQUIRE(plan.lowerBound <= best + 1e-9);
  REQUIRE(plan.lowerBound <= plan.cost);
}

TEST_CASE("Shifted costs leave every plan its cost and raise the bound") {
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    Problem problem = makeProblem(random, 12, 4, 30, i % 3 ? 0 : 30);
    Problem shifted = shiftCosts(problem);
    for (int j = 0; j < 10; ++j) {
      llvm::SmallVector<unsigned> choices;
      for (auto &costs : problem.nodes)
        choices.push_back(random.below(costs.size()));
      double cost = problem.getCost(choices);
      if (cost == kImpossible)
        REQUIRE(shifted.getCost(choices) == kImpossible);
      else
        REQUIRE(shifted.getCost(choices) == Approx(cost));
    }
    auto getBound = [](const Problem &one) {
      double bound = 0;
      for (auto &costs : one.nodes)
        bound += *llvm::min_element(costs);
      for (auto &edge : one.edges)
        bound += *llvm::min_element(edge.costs);
      return bound;
    };
    REQUIRE(getBound(shifted) >= getBound(problem) - 1e-9);
  }
}

TEST_CASE("PBQP is close to the optimum of small graphs, with a bound") {
  Random random(3);
  Gaps gaps;
  for (int i = 0; i < 8000; ++i) {
    Problem problem = makeProblem(random, 8, 4, 60, 0);
    Plan plan = solve(problem, {20});
    double best = tryEverything(problem);
    checkPlan(problem, plan, best);
    if (plan.solver == "exact")
      REQUIRE(plan.cost == plan.lowerBound);
    else
      gaps.add(plan, best);
  }
  REQUIRE(gaps.real.size() > 1000);
  CHECK(gaps.proven > 0.5 * gaps.real.size());
  CHECK(Gaps::median(gaps.real) < 1e-9);
  CHECK(Gaps::worst(gaps.real) < 0.25);
  CHECK(Gaps::worst(gaps.stated) < 0.35);
}

TEST_CASE("Impossible pairs are avoided in graphs too dense for the tables") {
  Random random(8);
  int possible = 0;
  for (int i = 0; i < 2000; ++i) {
    Problem problem = makeProblem(random, 8, 4, 40, 20);
    Plan plan = solve(problem, {20});
    double best = tryEverything(problem);
    checkPlan(problem, plan, best);
    possible += best != kImpossible;
    REQUIRE((plan.cost == kImpossible) == (best == kImpossible));
  }
  REQUIRE(possible > 1000);
}

TEST_CASE("PBQP comes close to dynamic programming on larger graphs") {
  Random random(6);
  Gaps gaps;
  for (int i = 0; i < 400; ++i) {
    Problem problem = makeProblem(random, 24, 4, 10, 0);
    Plan exact = solve(problem, {1 << 22});
    if (exact.solver != "exact")
      continue;
    Plan plan = solve(problem, {64});
    checkPlan(problem, plan, exact.cost);
    if (plan.solver == "pbqp")
      gaps.add(plan, exact.cost);
  }
  REQUIRE(gaps.real.size() > 90);
  CHECK(gaps.proven > 0.65 * gaps.real.size());
  CHECK(Gaps::median(gaps.real) < 1e-9);
  CHECK(Gaps::worst(gaps.real) < 0.03);
  CHECK(Gaps::worst(gaps.stated) < 0.1);
}

TEST_CASE("A chain with joins of a thousand nodes is exact") {
  Random random(4);
  Problem problem;
  auto connect = [&](unsigned from, unsigned to) {
    Problem::Edge edge{from, to, {}};
    for (int i = 0; i < 36; ++i)
      edge.costs.push_back(random.cost());
    problem.edges.push_back(edge);
  };
  for (unsigned i = 0; i < 1000; ++i) {
    auto &costs = problem.nodes.emplace_back();
    for (int j = 0; j < 6; ++j)
      costs.push_back(random.cost());
    if (i > 0)
      connect(i - 1, i);
    if (i > 3 && i % 3 == 0)
      connect(i - 3, i);
  }
  Plan plan = solve(problem);
  REQUIRE(plan.solver == "exact");
  // No single change makes an optimum better.
  for (unsigned node = 0; node < 1000; node += 7)
    for (unsigned choice = 0; choice < 6; ++choice) {
      llvm::SmallVector<unsigned, 0> choices = plan.choices;
      choices[node] = choice;
      REQUIRE(problem.getCost(choices) >= plan.cost - 1e-9);
    }
}
