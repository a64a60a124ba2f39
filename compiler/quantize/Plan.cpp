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
  DenseMap<Operation *, int> numbers; ///< index of each op in `ops`
  ValueRange arguments;
  Plan plan;
  std::map<int, PlannedLayer> layers; ///< by the numbers of their ops
  std::map<int, std::string> reasons;
  DenseMap<Value, bool> values; ///< as Plan::values
  DenseSet<Operation *> absorbed;
};

} // namespace

/// Returns the only user of `value`, or null if it has several uses or none.
static Operation *getOnlyReader(Value value) {
  return value.hasOneUse() ? *value.user_begin() : nullptr;
}

/// Absorbs the ops behind the layer that read its unrounded sums into the
/// layer, as long as the values in between have no other readers.
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

/// Sets Plan::values, in the order in which the values are computed.
void Planner::orderValues() {
  auto add = [&](Value value) {
    if (auto found = values.find(value); found != values.end())
      plan.values.insert({value, found->second});
  };
  llvm::for_each(arguments, add);
  for (Operation *op : ops)
    llvm::for_each(op->getResults(), add);
}

/// Sets Plan::unrounded to the results of tables and, with the option
/// `unrounded`, of products that no layer reads.
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

/// Completes the description of the layer. Returns the reason why its op stays
/// float, or "".
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
  // No reason is reported for an op without products between float values,
  // which nobody expects to be quantized.
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
  // Readers of a row of a table read floats.
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
  // Layers with products come first: other ops are quantized if they read
  // quantized values, in any order of the ops.
  considerAll([](Kind kind) { return kind == Kind::linear; });
  while (considerAll(
      [](Kind kind) { return kind != Kind::linear && kind != Kind::table; })) {
  }
  // Tables come last, since a reader of a table is not quantized for that
  // reason.
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
