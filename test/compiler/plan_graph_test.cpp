//===- plan_graph_test.cpp - Plans of functions against all plans ---------===//

#include "compiler/routines/PlanGraph.h"

#include "compiler/routines/LayerForms.h"
#include "dialects/nn/layers/Layer.h"
#include "test/compiler/TestMachine.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

#include <random>

using namespace mlir;
using namespace nnc;

namespace {
/// A random function of a few layers: convolutions, sums and products of two
/// values, and reshapes, so that values have several readers.
class RandomFunction {
public:
  /// With `areIntegers`, the function computes with 8-bit integers and has
  /// convolutions that pad their operand, like those of quantized models;
  /// otherwise it computes with floats.
  RandomFunction(unsigned seed, bool areIntegers)
      : engine(seed), areIntegers(areIntegers) {}
  std::string print(unsigned layers);

private:
  unsigned below(unsigned end) { return engine() % end; }
  std::string pick() { return values[below(values.size())]; }
  void addConv(const std::string &name);
  void addIntegerConv(const std::string &name);
  void addElementwise(const std::string &name);
  std::mt19937 engine;
  bool areIntegers;
  std::vector<std::string> values;
  std::string type, channels, text;
};
} // namespace

void RandomFunction::addConv(const std::string &name) {
  std::string weight = "tensor<" + channels + "x" + channels + "x1x1xf32>";
  text += "  %w" + name + " = nn.constant dense<0.5> : " + weight + "\n  %" +
          name + " = nn.layer \"" + name + "\" inputs(%" + pick() + ", %w" +
          name + " : " + type + ", " + weight + ") -> " + type +
          " anchor {\n  ^bb0(%a: " + type + ", %b: " + weight +
          "):\n    %c = nn.conv %a, %b {strides = array<i64: 1, 1>, dilations "
          "= array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : "
          "i64} : (" +
          type + ", " + weight + ") -> " + type +
          "\n    nn.yield %c : " + type +
          "\n  } epilogue {\n  ^bb0(%e: f32):\n    nn.yield %e : f32\n"
          "  }\n";
}

void RandomFunction::addIntegerConv(const std::string &name) {
  const bool isDepthwise = below(2);
  std::string weight = "tensor<" + channels + "x" +
                       (isDepthwise ? "1x3x3" : channels + "x1x1") + "xi8>",
              vector = "tensor<1x" + channels + "x1x1x",
              sums = type.substr(0, type.size() - 3) + "i32>";
  std::string attributes =
      isDepthwise ? "pads = array<i64: 1, 1, 1, 1>, fill = -128 : i64, groups "
                    "= " +
                        channels
                  : "pads = array<i64: 0, 0, 0, 0>, groups = 1";
  text += "  %w" + name + " = nn.constant dense<3> : " + weight + "\n  %b" +
          name + " = nn.constant dense<7> : " + vector + "i32>\n  %f" + name +
          " = nn.constant dense<0.01> : " + vector + "f32>\n  %" + name +
          " = nn.layer \"" + name + "\" inputs(%" + pick() + ", %w" + name +
          " : " + type + ", " + weight + ") extras(%b" + name + ", %f" + name +
          " : " + vector + "i32>, " + vector + "f32>) -> " + type +
          " anchor {\n  ^bb0(%a: " + type + ", %b: " + weight +
          "):\n    %c = nn.conv %a, %b {accumulator = i32, strides = "
          "array<i64: 1, 1>, dilations = array<i64: 1, 1>, " +
          attributes + " : i64} : (" + type + ", " + weight + ") -> " + sums +
          "\n    nn.yield %c : " + sums +
          "\n  } epilogue {\n  ^bb0(%e: i32, %b: i32, %f: f32):\n    %s = "
          "nn.add %e, %b : i32, i32\n    %q = nn.requantize real %s, %f "
          "{element = i8, high = 127 : i64, low = -128 : i64, zero_point = "
          "-128 : i64} : i32, f32\n    nn.yield %q : i8\n  }\n";
}

void RandomFunction::addElementwise(const std::string &name) {
  const std::string sum = below(2) ? "nn.add" : "nn.mul";
  text += "  %" + name + " = nn.layer \"" + name + "\" extras(%" + pick() +
          ", %" + pick() + " : " + type + ", " + type + ") -> " + type;
  if (areIntegers)
    text += " epilogue {\n  ^bb0(%a: i8, %b: i8):\n    %z = arith.constant "
            "-128.0 : f32\n    %c = nn.cast %a : i8 to f32\n    %d = nn.cast "
            "%b : i8 to f32\n    %m = nn.sub %c, %z : f32, f32\n    %s = " +
            sum +
            " %m, %d : f32, f32\n    %r = nn.round %s : f32\n    %q = "
            "nn.cast %r : f32 to i8\n    nn.yield %q : i8\n  }\n";
  else
    text += " epilogue {\n  ^bb0(%a: f32, %b: f32):\n    %c = " + sum +
            " %a, %b : f32, f32\n    nn.yield %c : f32\n  }\n";
}

std::string RandomFunction::print(unsigned layers) {
  channels = std::to_string(8 << below(4));
  std::string size = std::to_string(4 << below(4));
  type = "tensor<1x" + channels + "x" + size + "x" + size +
         (areIntegers ? "xi8>" : "xf32>");
  text = "func.func @f(%x: " + type + ") -> (" + type + ", " + type + ") {\n";
  values = {"x"};
  for (unsigned i = 0; i < layers; ++i) {
    std::string name = "v" + std::to_string(i);
    if (below(3) == 0) {
      areIntegers ? addIntegerConv(name) : addConv(name);
    } else if (below(4) == 0) {
      text += "  %" + name + " = nn.reshape %" + pick() + " : " + type +
              " -> " + type + "\n";
    } else {
      addElementwise(name);
    }
    values.push_back(name);
  }
  return text + "  return %" + values.back() + ", %" + pick() + " : " + type +
         ", " + type + "\n}\n";
}

namespace {
/// The costs of all plans of a function, computed as sums of the costs of their
/// parts.
class AllPlans {
public:
  AllPlans(func::FuncOp function, const CostModel &cost,
           ArrayRef<nn::LayoutAttr> layouts, const LayerForms &forms,
           const Prices &prices);
  double findLeast() { return extend(0, 0); }

private:
  /// A choice for an op: its cost in seconds, and the types of its operands and
  /// its result.
  struct Choice {
    double seconds;
    SmallVector<RankedTensorType> operands;
    RankedTensorType result;
  };
  double extend(size_t op, double seconds);
  double getAdaptSeconds(Value value);
  double getStep(RankedTensorType from, RankedTensorType to) const;

  Block &block;
  const CostModel &cost;
  const LayerForms &forms;
  SmallVector<Operation *> ops;
  std::vector<std::vector<Choice>> choices;
  DenseMap<Operation *, const Choice *> chosen;
  SmallVector<RankedTensorType> types; ///< all types that values can have
  std::map<std::pair<unsigned, unsigned>, double> known;
  std::vector<double> steps;
};
} // namespace

AllPlans::AllPlans(func::FuncOp function, const CostModel &cost,
                   ArrayRef<nn::LayoutAttr> layouts, const LayerForms &forms,
                   const Prices &prices)
    : block(function.getBody().front()), cost(cost), forms(forms) {
  auto plain = nn::getTensorType(block.getArgument(0));
  Builder builder(plain.getContext());
  auto other =
      plain.clone(plain.getElementType().isF32() ? builder.getF16Type()
                                                 : builder.getF32Type());
  SmallVector<StringRef> devices = {""};
  for (Attribute device :
       cost.getMachine().getDevices().getValue().drop_front())
    devices.push_back(cast<target::DeviceAttr>(device).getName());
  for (RankedTensorType base : {plain, other})
    for (StringRef device : devices) {
      types.push_back(nn::onDevice(base, device));
      for (nn::LayoutAttr layout : layouts)
        types.push_back(nn::onDevice(nn::withLayout(base, layout), device));
    }
  for (RankedTensorType from : types)
    for (RankedTensorType to : types)
      steps.push_back(getStep(from, to));
  for (Operation &op : block.without_terminator()) {
    if (isa<nn::ConstantOp>(op))
      continue;
    ops.push_back(&op);
    auto &own = choices.emplace_back();
    auto layer = dyn_cast<nn::LayerOp>(op);
    if (!layer) {
      SmallVector<Type> elements = forms.getElements(op.getOperand(0));
      elements.push_back(plain.getElementType());
      for (Type element : elements)
        for (StringRef device : devices)
          own.push_back({0,
                         {nn::onDevice(plain.clone(element), device)},
                         nn::onDevice(plain.clone(element), device)});
      continue;
    }
    forEachCandidate(layer, cost, layouts, [&](const Candidate &candidate) {
      // A product reads integers if it multiplies them; others store them.
      const bool hasIntegers =
          layer.getAnchorOp()
              ? candidate.operands[0].getElementType().isInteger()
              : candidate.result.getElementType().isInteger();
      const double seconds =
          candidate.seconds + (hasIntegers ? prices.lookup(layer) : 0);
      for (Choice &other : own)
        if (other.operands == candidate.operands &&
            other.result == candidate.result) {
          other.seconds = std::min(other.seconds, seconds);
          return;
        }
      own.push_back({seconds, candidate.operands, candidate.result});
    });
  }
}

double AllPlans::getStep(RankedTensorType from, RankedTensorType to) const {
  if (from == to)
    return 0;
  if (from.getElementType() == to.getElementType())
    return cost.getAdapt(from, to).seconds;
  if (nn::getLayout(from) != nn::getLayout(to) ||
      nn::getDevice(from) != nn::getDevice(to))
    return kImpossible;
  SmallVector<nn::LayoutAttr> layouts;
  if (nn::LayoutAttr layout = nn::getLayout(from))
    layouts.push_back(layout);
  double least = kImpossible;
  nn::LayerOp cast = forms.getCast(from, to.getElementType());
  if (!cast)
    return least;
  forEachCandidate(cast, cost, layouts, [&](const Candidate &candidate) {
    if (candidate.operands[0] == from && candidate.result == to)
      least = std::min(least, candidate.seconds);
  });
  return least;
}

/// Returns the cost in seconds of the adapts between a value and its readers:
/// the least cost at which the set of types in which the value is available
/// grows to all types that the readers require.
double AllPlans::getAdaptSeconds(Value value) {
  auto find = [&](RankedTensorType type) {
    return unsigned(llvm::find(types, type) - types.begin());
  };
  Operation *maker = value.getDefiningOp();
  const unsigned made =
      find(maker ? chosen.lookup(maker)->result : types.front());
  unsigned wanted = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *reader = use.getOwner();
    if (reader->getBlock() != &block)
      continue;
    const Choice *choice = chosen.lookup(reader);
    wanted |=
        1u << (choice ? find(choice->operands[use.getOperandNumber()]) : 0);
  }
  auto [entry, isNew] = known.try_emplace({made, wanted}, kImpossible);
  double &least = entry->second;
  if (!isNew)
    return least;
  const size_t count = types.size();
  std::vector<double> costs(size_t(1) << count, kImpossible);
  costs[size_t(1) << made] = 0;
  // A larger set has a larger number, so that each is final when it is reached.
  for (size_t set = 0; set < costs.size(); ++set) {
    if (costs[set] == kImpossible)
      continue;
    if ((set & wanted) == wanted)
      least = std::min(least, costs[set]);
    for (size_t from = 0; from < count; ++from)
      for (size_t to = 0; to < count; ++to)
        if ((set >> from & 1) && !(set >> to & 1)) {
          double &next = costs[set | size_t(1) << to];
          next = std::min(next, costs[set] + steps[from * count + to]);
        }
  }
  return least;
}

/// Returns the least cost of all choices for the ops from number `op` on, given
/// the choices for the ops before.
double AllPlans::extend(size_t op, double seconds) {
  if (op == ops.size()) {
    seconds += getAdaptSeconds(block.getArgument(0));
    for (Operation *each : ops)
      seconds += getAdaptSeconds(each->getResult(0));
    return seconds;
  }
  double least = kImpossible;
  for (const Choice &choice : choices[op]) {
    chosen[ops[op]] = &choice;
    least = std::min(least, extend(op + 1, seconds + choice.seconds));
  }
  return least;
}

namespace {
/// The numbers of results of a plan's layers for which the plan chooses another
/// element type than the function has (`others`), or another device than the
/// host (`elsewhere`).
struct Counts {
  int others = 0, elsewhere = 0;
};
} // namespace

/// Requires that the plans of random functions, of integers or floats, are as
/// cheap as the cheapest of all plans.
static Counts comparePlans(StringRef target, unsigned functions,
                           unsigned mostLayers, bool areIntegers = false) {
  TestMachine on(target);
  Counts counts;
  for (unsigned seed = 0; seed < functions; ++seed) {
    std::string text =
        RandomFunction(seed, areIntegers).print(2 + seed % (mostLayers - 1));
    INFO(text);
    auto module = parseSourceString<ModuleOp>(text, &on.context);
    REQUIRE(module);
    func::FuncOp function = *module->getOps<func::FuncOp>().begin();
    LayerForms forms(function, Precision::f16);
    CostModel cost =
        makeCostModel(function, on.machine, nullptr, nullptr, &forms);
    auto graph = PlanGraph::build(function, cost, /*maxError=*/1);
    REQUIRE(succeeded(graph));
    Plan plan = graph->solve();
    CHECK(plan.solver == "exact");
    for (auto layer : function.getOps<nn::LayerOp>()) {
      RankedTensorType made = graph->getChoice(layer, plan).result;
      counts.others += made.getElementType() !=
                       nn::getTensorType(layer.getY()).getElementType();
      counts.elsewhere += !nn::getDevice(made).empty();
    }
    // Candidates within a thousandth of each other cost the same to the search.
    AllPlans all(function, cost, graph->getLayouts(), forms, Prices());
    REQUIRE(plan.cost == Approx(all.findLeast()).epsilon(1e-3));
  }
  return counts;
}

TEST_CASE("The plan is the cheapest of all layouts and element types") {
  CHECK(comparePlans("aarch64-fp16", 60, 4).others > 0);
}

TEST_CASE("The plan is the cheapest of integers and floats that hold them") {
  CHECK(comparePlans("aarch64", 60, 4, /*areIntegers=*/true).others > 0);
  CHECK(comparePlans("x86-64-v4", 60, 4, /*areIntegers=*/true).others > 0);
  CHECK(
      comparePlans("test-two-devices", 60, 3, /*areIntegers=*/true).elsewhere >
      0);
}

TEST_CASE("The plan is the cheapest of all devices, too") {
  // Chains, diamonds and branches, of which some parts are worth a transfer.
  Counts counts = comparePlans("test-two-devices", 60, 3);
  CHECK(counts.others > 0);
  CHECK(counts.elsewhere > 0);
}

/// Returns random prices of integers for most layers of a function. Some prices
/// are as high as the time that integers save.
static Prices drawPrices(func::FuncOp function, double scale,
                         std::mt19937 &engine) {
  Prices prices;
  for (auto layer : function.getOps<nn::LayerOp>())
    if (engine() % 4)
      prices[layer] = scale * double(engine() % 1000) / 1000;
  return prices;
}

/// Requires that the plans of random functions of integers with prices are as
/// cheap as the cheapest of all plans. Returns the number of plans that are not
/// the fastest one.
static int comparePricedPlans(StringRef target, unsigned functions) {
  TestMachine on(target);
  std::mt19937 engine(1);
  int different = 0;
  for (unsigned seed = 0; seed < functions; ++seed) {
    std::string text =
        RandomFunction(seed, /*areIntegers=*/true).print(2 + seed % 3);
    INFO(text);
    auto module = parseSourceString<ModuleOp>(text, &on.context);
    REQUIRE(module);
    func::FuncOp function = *module->getOps<func::FuncOp>().begin();
    LayerForms forms(function, Precision::f32, Products::both);
    CostModel cost =
        makeCostModel(function, on.machine, nullptr, nullptr, &forms);
    auto graph = PlanGraph::build(function, cost, /*maxError=*/1);
    REQUIRE(succeeded(graph));
    const Plan fastest = graph->solve();
    CHECK(graph->solve(Prices()).cost == Approx(fastest.cost));
    const Prices prices = drawPrices(function, fastest.cost, engine);
    const Plan plan = graph->solve(prices);
    CHECK(plan.solver == "exact");
    AllPlans all(function, cost, graph->getLayouts(), forms, prices);
    REQUIRE(plan.cost == Approx(all.findLeast()).epsilon(1e-3));
    // A plan's price is what its cost has beside its time.
    const double seconds = graph->getProblem().getCost(plan.choices),
                 price = graph->getPrice(plan, prices);
    CHECK(plan.cost == Approx(seconds + price));
    CHECK(seconds >= Approx(fastest.cost).epsilon(1e-3));
    CHECK(price <= graph->getPrice(fastest, prices) + 1e-3 * fastest.cost);
    different += seconds > 1.001 * fastest.cost;
  }
  return different;
}

TEST_CASE("The plan is the cheapest where integers have a price") {
  CHECK(comparePricedPlans("aarch64", 60) > 0);
  CHECK(comparePricedPlans("x86-64-v3", 60) > 0);
  // No vectors: nothing but a price makes floats worth their time.
  CHECK(comparePricedPlans("cortex-m4", 60) > 0);
}
