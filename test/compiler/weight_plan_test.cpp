//===- weight_plan_test.cpp - Limits of weights against all plans ---------===//

#include "compiler/routines/WeightPlan.h"

#include "compiler/routines/WeightError.h"
#include "test/compiler/TestMachine.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

#include <random>

using namespace mlir;
using namespace nnc;

/// Returns the elements of a weight with `values` different values.
static std::string makeElements(unsigned count, unsigned values,
                                std::mt19937 &engine) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string text;
  for (unsigned i = 0; i < count; ++i) {
    float value = float(engine() % values) - 3;
    unsigned char bytes[4];
    std::memcpy(bytes, &value, 4);
    for (unsigned char byte : bytes) {
      text += digits[byte >> 4];
      text += digits[byte & 15];
    }
  }
  return text;
}

/// Returns a chain of convolutions of 16 channels, the last of which reads the
/// weight of the first.
static std::string printChain(unsigned layers, unsigned seed) {
  std::mt19937 engine(seed);
  const std::string type = "tensor<1x16x12x12xf32>",
                    weight = "tensor<16x16x3x3xf32>";
  std::string text = "func.func @f(%v0: " + type + ") -> " + type + " {\n";
  for (unsigned i = 0; i < layers; ++i) {
    const std::string own = std::to_string(i), next = std::to_string(i + 1);
    const bool shares = layers > 2 && i + 1 == layers;
    if (!shares)
      text += "  %w" + own + " = nn.constant dense<\"0x" +
              makeElements(16 * 16 * 9, 4 + engine() % 40, engine) +
              "\"> : " + weight + "\n";
    text +=
        "  %v" + next + " = nn.layer \"l" + own + "\" inputs(%v" + own +
        ", %w" + (shares ? "0" : own) + " : " + type + ", " + weight + ") -> " +
        type + " anchor {\n  ^bb0(%a: " + type + ", %b: " + weight +
        "):\n    %c = nn.conv %a, %b {strides = array<i64: 1, 1>, "
        "dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, "
        "groups = 1 : i64} : (" +
        type + ", " + weight + ") -> " + type + "\n    nn.yield %c : " + type +
        "\n  } epilogue {\n  ^bb0(%e: f32):\n    nn.yield %e : f32\n  }\n";
  }
  return text + "  return %v" + std::to_string(layers) + " : " + type + "\n}\n";
}

namespace {
/// The least time in seconds of all plans of a problem, by the number of bytes
/// of their weights.
class AllPlans {
public:
  explicit AllPlans(const WeightPlan &plan)
      : plan(plan), problem(plan.getProblem()) {
    choices.resize(problem.nodes.size());
    extend(0, 0);
  }
  double findLeast(int64_t limit) const {
    double least = kImpossible;
    for (auto [bytes, seconds] : found)
      if (bytes <= limit)
        least = std::min(least, seconds);
    return least;
  }
  int64_t findFewest(double limit) const {
    for (auto [bytes, seconds] : found)
      if (seconds <= limit)
        return bytes;
    return std::numeric_limits<int64_t>::max();
  }
  std::vector<int64_t> listBytes() const {
    std::vector<int64_t> bytes;
    for (auto [each, seconds] : found)
      bytes.push_back(each);
    return bytes;
  }

private:
  void extend(unsigned node, double seconds) {
    if (node == choices.size()) {
      auto [least, isNew] =
          found.try_emplace(plan.countBytes(choices), seconds);
      least->second = std::min(least->second, seconds);
      return;
    }
    for (unsigned i = 0; i < problem.nodes[node].size(); ++i) {
      choices[node] = i;
      double more = problem.nodes[node][i];
      for (const Problem::Edge &edge : problem.edges)
        if (std::max(edge.from, edge.to) == node)
          more += problem.getCost(edge, choices);
      if (more != kImpossible)
        extend(node + 1, seconds + more);
    }
  }

  const WeightPlan &plan;
  const Problem &problem;
  SmallVector<unsigned> choices;
  std::map<int64_t, double> found;
};
} // namespace

static void compareLimits(StringRef target, unsigned layers) {
  TestMachine on(target);
  for (unsigned seed = 0; seed < 3; ++seed) {
    auto module =
        parseSourceString<ModuleOp>(printChain(layers, seed), &on.context);
    REQUIRE(module);
    func::FuncOp function = *module->getOps<func::FuncOp>().begin();
    // For the graph it only matters that there is a limit, not which.
    WeightRules rulesOfWeights;
    rulesOfWeights.weighsBytes = true;
    CostModel cost = makeCostModel(function, on.machine, nullptr, nullptr,
                                   nullptr, rulesOfWeights);
    auto graph = PlanGraph::build(function, cost, /*maxError=*/1);
    REQUIRE(succeeded(graph));
    FormRules rules{
        FormAim::both,
        {stored::StoredKind::codebook, stored::StoredKind::huffman}};
    WeightPlan plan({{function, &*graph, &cost, graph->solve()}}, rules,
                    /*align=*/64, {});
    plan.findForms(DecodeRoom());
    // All forms that the limits lead to are exact then.
    plan.findFront();
    const AllPlans all(plan);
    const std::vector<int64_t> bytes = all.listBytes();
    REQUIRE(bytes.size() > 3);
    for (int64_t limit : bytes) {
      plan.keepBelow(limit);
      INFO(target.str() << ", seed " << seed << ", " << limit << " bytes");
      CHECK(plan.getBytes() <= limit);
      CHECK(plan.getSeconds() == Approx(all.findLeast(limit)).epsilon(1e-6));
    }
    plan.keepBelow(bytes.front() - 1);
    CHECK(plan.getBytes() == bytes.front());
    for (int64_t limit : bytes) {
      const double seconds = all.findLeast(limit) * (1 + 1e-6);
      plan.keepWithin(seconds);
      INFO(target.str() << ", seed " << seed << ", " << seconds << " s");
      // Decoders take less than the search counts for them.
      CHECK(plan.getPlan(0).cost + plan.getExtraSeconds() <= seconds);
      CHECK(plan.getBytes() <= all.findFewest(seconds));
    }
    plan.keepWithin(all.findLeast(bytes.back()) / 2);
    CHECK(plan.getSeconds() ==
          Approx(all.findLeast(bytes.back())).epsilon(1e-6));
    for (auto [size, seconds] : plan.findFront())
      CHECK(seconds + all.findLeast(bytes.back()) ==
            Approx(all.findLeast(size)).epsilon(1e-6));
  }
}

TEST_CASE("Plans keep to limits of weights and of time as the best ones do") {
  compareLimits("cortex-m4", 2);
  compareLimits("aarch64", 2);
}

TEST_CASE("A weight of two layers counts once within a limit") {
  compareLimits("cortex-m4", 3);
}
