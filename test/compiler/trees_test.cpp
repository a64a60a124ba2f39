//===- trees_test.cpp - Cheapest trees against trying everything ----------===//

#include "compiler/search/Search.h"
#include "compiler/search/Trees.h"

#include "llvm/ADT/STLExtras.h"

#include <catch2/catch.hpp>

#include <map>
#include <random>

using namespace nnc;

namespace {
/// A random graph whose steps are as long as the distances between points of a
/// plane, so that no detour is shorter than a step. Some steps are missing.
struct Graph {
  unsigned count;
  std::vector<double> steps;

  Graph(std::mt19937 &engine, unsigned missing) {
    auto below = [&](unsigned end) { return engine() % end; };
    count = 1 + below(6);
    std::vector<std::pair<double, double>> points;
    for (unsigned i = 0; i < count; ++i)
      points.push_back({below(100), below(100)});
    for (auto [x, y] : points)
      for (auto [u, v] : points)
        steps.push_back(below(100) < missing ? kImpossible
                                             : std::hypot(x - u, y - v) + 1);
  }
};
} // namespace

/// Returns the least cost of reaching each set of nodes from `root`. A set
/// grows by a step from any of its nodes.
static std::map<unsigned, double> reachAll(const Graph &graph, unsigned root) {
  std::map<unsigned, double> costs = {{1u << root, 0}};
  // Sets are bits of nodes. A step adds one, so sets of fewer nodes come first.
  for (unsigned bits = 1; bits < graph.count; ++bits)
    for (unsigned set = 0; set < 1u << graph.count; ++set) {
      auto known = costs.find(set);
      if (known == costs.end() || unsigned(llvm::popcount(set)) != bits)
        continue;
      const double cost = known->second;
      for (unsigned from = 0; from < graph.count; ++from)
        for (unsigned to = 0; to < graph.count; ++to) {
          double step = graph.steps[from * graph.count + to];
          if (!(set >> from & 1) || (set >> to & 1) || step == kImpossible)
            continue;
          auto [entry, isNew] = costs.try_emplace(set | 1u << to, kImpossible);
          entry->second = std::min(entry->second, cost + step);
        }
    }
  return costs;
}

TEST_CASE("The cheapest tree is that of all that could be grown") {
  std::mt19937 engine(11);
  for (unsigned round = 0; round < 400; ++round) {
    Graph graph(engine, round % 3 * 30);
    Paths paths(graph.count, graph.steps);
    llvm::SmallVector<unsigned> terminals;
    for (unsigned node = 0; node < graph.count; ++node)
      if (engine() % 3)
        terminals.push_back(node);
    Trees trees(paths, terminals);
    for (unsigned root = 0; root < graph.count; ++root) {
      auto all = reachAll(graph, root);
      for (unsigned set = 0; set < 1u << terminals.size(); ++set) {
        unsigned wanted = 0;
        for (auto [i, node] : llvm::enumerate(terminals))
          wanted |= (set >> i & 1) << node;
        double best = wanted ? kImpossible : 0;
        for (auto [reached, cost] : all)
          if ((reached & wanted) == wanted)
            best = std::min(best, cost);
        if (best == kImpossible) {
          REQUIRE(trees.getCost(root, set) == kImpossible);
          continue;
        }
        REQUIRE(trees.getCost(root, set) == Approx(best));
        // The steps lead from what is reached to what is not, and cost as much.
        unsigned reached = 1u << root;
        double cost = 0;
        for (auto [from, to] : trees.getSteps(paths, root, set)) {
          REQUIRE((reached >> from & 1));
          REQUIRE(!(reached >> to & 1));
          reached |= 1u << to;
          cost += graph.steps[from * graph.count + to];
        }
        REQUIRE((reached & wanted) == wanted);
        REQUIRE(cost == Approx(best));
      }
    }
  }
}

TEST_CASE("A path is the step where there is one, else the shortest detour") {
  // 0 -> 1 -> 2 costs 2, the step from 0 to 2 costs 5; there is none to 3.
  const double no = kImpossible;
  Paths paths(4, {0, 1, 5, no, no, 0, 1, no, no, no, 0, 4, no, no, no, 0});
  CHECK(paths.getCost(0, 2) == 5);
  CHECK(paths.getPath(0, 2) == llvm::SmallVector<unsigned>{2});
  CHECK(paths.getCost(1, 3) == 5);
  CHECK(paths.getPath(1, 3) == llvm::SmallVector<unsigned>{2, 3});
  CHECK(paths.getCost(3, 0) == kImpossible);
}
