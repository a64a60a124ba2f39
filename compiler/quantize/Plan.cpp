//===- Plan.cpp - Which ops and values become integers --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/Plan.h"

#include "compiler/quantize/LayerRules.h"
#include "dialects/nn/attributes/ModelName.h"

#include <map>

using namespace mlir;
using namespace nnc;
using namespace nnc::quantize;

std::string quantize::getName(Operation *op) {
  return nn::getModelName(op->getLoc(), op->getName().stripDialect()).str();
}

std::vector<std::string> quantize::listNames(func::FuncOp function) {
  std::vector<std::string> names;
  llvm::StringSet<> taken;
  for (Operation &op : function.getBody().front())
    if (std::string name = getName(&op);
        op.getNumResults() && taken.insert(name).second)
      names.push_back(name);
  return names;
}

std::string quantize::getName(Value value) {
  if (Operation *op = value.getDefiningOp())
    return getName(op);
  return nn::getModelName(value.getLoc(), "an argument").str();
}

namespace {

class Planner {
public:
  Planner(func::FuncOp function, const PlanOptions &options,
          const DenseMap<Value, std::string> &unusable)
      : options(options), unusable(unusable) {
    for (Operation &op : function.getBody().front()) {
      numbers[&op] = int(ops.size());
      ops.push_back(&op);
    }
    arguments = function.getArguments();
  }

  Plan run();

private:
  bool isExcluded(Operation *op) const {
    return options.exclude.contains(quantize::getName(op));
  }
  bool isQuantized(Value value) const { return values.count(value) != 0; }
  /// Adds op number `number` to the layers, or the reason why it stays float to
  /// `reasons`. Returns whether it became a layer.
  bool consider(int number, Kind kind);
  std::string describe(PlannedLayer &layer);
  void absorb(PlannedLayer &layer);
  std::string findUnusable(const PlannedLayer &layer) const;
  void markQuantized(Value value, bool byLayer);
  void findUnrounded();
  void orderValues();

  const PlanOptions &options;
  const DenseMap<Value, std::string> &unusable;
  std::vector<Operation *> ops;
  DenseMap<Operation *, int> numbers; ///< of `ops`
  ValueRange arguments;
  Plan plan;
  std::map<int, PlannedLayer> layers; ///< by the numbers of their ops
  std::map<int, std::string> reasons;
  DenseMap<Value, bool> values; ///< as Plan::values
  DenseSet<Operation *> absorbed;
};

} // namespace

/// Returns the op that alone reads `value`, with one operand; or null.
static Operation *getOnlyReader(Value value) {
  return value.hasOneUse() ? *value.user_begin() : nullptr;
}

/// Takes the ops behind the layer into it that need its sums unrounded, as long
/// as nothing else reads what lies in between.
void Planner::absorb(PlannedLayer &layer) {
  auto take = [&](Operation *op) {
    layer.absorbed.push_back(op);
    layer.output = op->getResult(0);
  };
  Operation *reader = getOnlyReader(layer.output);
  if (reader && layer.kind == Kind::linear &&
      isBiasAdd(reader, layer.op, layer.output)) {
    layer.biasAdd = reader;
    take(reader);
    reader = getOnlyReader(layer.output);
  }
  if (reader && getKind(reader) == Kind::clip && !isExcluded(reader))
    take(reader);
}

std::string Planner::findUnusable(const PlannedLayer &layer) const {
  auto all = layer.inputs;
  all.push_back(layer.output);
  for (Value value : all)
    if (auto found = unusable.find(value); found != unusable.end())
      return "'" + quantize::getName(value) + "' " + found->second;
  return "";
}

void Planner::markQuantized(Value value, bool byLayer) {
  bool &entry = values[value];
  entry = entry || byLayer;
}

/// Lists the values in the order in which they are computed.
void Planner::orderValues() {
  auto add = [&](Value value) {
    if (auto found = values.find(value); found != values.end())
      plan.values.insert({value, found->second});
  };
  llvm::for_each(arguments, add);
  for (Operation *op : ops)
    llvm::for_each(op->getResults(), add);
}

/// Finds the results of tables, and if wanted those of products, that no layer
/// reads.
void Planner::findUnrounded() {
  DenseSet<Value> read;
  for (const PlannedLayer &layer : plan.layers)
    read.insert(layer.inputs.begin(), layer.inputs.end());
  for (const PlannedLayer &layer : plan.layers) {
    bool mayStay = layer.kind == Kind::table ||
                   (options.unrounded && layer.kind == Kind::linear);
    if (mayStay && !read.contains(layer.output))
      plan.unrounded.insert(layer.output);
  }
}

/// Returns why the op of the layer stays float, or "".
std::string Planner::describe(PlannedLayer &layer) {
  if (isExcluded(layer.op))
    return "excluded by the command line";
  std::string reason =
      describeLayer(layer, [this](Value value) { return isQuantized(value); });
  if (!reason.empty())
    return reason;
  if (layer.kind == Kind::linear || layer.kind == Kind::join)
    absorb(layer);
  return findUnusable(layer);
}

bool Planner::consider(int number, Kind kind) {
  PlannedLayer layer;
  layer.op = ops[number];
  layer.kind = kind;
  layer.output = layer.op->getResult(0);
  std::string reason = describe(layer);
  // Nobody expects that of an op between floats.
  bool isExpected = kind == Kind::linear || isExcluded(layer.op) ||
                    llvm::any_of(layer.op->getOperands(), [&](Value operand) {
                      return isQuantized(operand);
                    });
  if (isExpected && !reason.empty())
    reasons[number] = reason;
  if (!reason.empty())
    return false;
  reasons.erase(number);
  for (Operation *op : layer.absorbed) {
    absorbed.insert(op);
    reasons.erase(numbers.at(op));
  }
  for (Value input : layer.inputs)
    markQuantized(input, false);
  // An op that reads the row of a table reads floats.
  markQuantized(layer.output, kind != Kind::table);
  if (kind == Kind::move)
    plan.sameAs[layer.output] = layer.inputs.front();
  layers.emplace(number, std::move(layer));
  return true;
}

Plan Planner::run() {
  std::vector<std::optional<Kind>> kinds;
  for (Operation *op : ops)
    kinds.push_back(getKind(op));
  auto considerAll = [&](auto isWanted) {
    bool isChanged = false;
    for (auto [number, kind] : llvm::enumerate(kinds))
      if (kind && isWanted(*kind) && !absorbed.contains(ops[number]) &&
          !layers.count(int(number)))
        isChanged = consider(int(number), *kind) || isChanged;
    return isChanged;
  };
  // Layers with products first: the others are quantized where they read what
  // these read or write, in any order of the ops.
  considerAll([](Kind kind) { return kind == Kind::linear; });
  while (considerAll(
      [](Kind kind) { return kind != Kind::linear && kind != Kind::table; })) {
  }
  // Nothing is quantized because of a table that it reads.
  considerAll([](Kind kind) { return kind == Kind::table; });
  for (auto &[number, layer] : layers)
    plan.layers.push_back(std::move(layer));
  for (auto &[number, reason] : reasons)
    plan.floats.push_back(
        {ops[number], reason,
         isExcluded(ops[number]) || kinds[number] == Kind::linear});
  findUnrounded();
  orderValues();
  return std::move(plan);
}

Plan quantize::makePlan(func::FuncOp function, const PlanOptions &options,
                        const DenseMap<Value, std::string> &unusable) {
  return Planner(function, options, unusable).run();
}
