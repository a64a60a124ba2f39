//===- Quantized.cpp - Which layers of a quantized model are integer ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/manifest/Quantized.h"
#include "compiler/tools/driver/console/Terminal.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;
using qnn::kQuantizedAttr;
using qnn::kStaysFloatAttr;

namespace json = llvm::json;

static bool isReal(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

static bool isKnown(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

/// Returns true if the value is an input of the model, possibly reshaped.
static bool isInput(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ReshapeOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return true;
}

/// Returns true if the value is only an output of the model, possibly reshaped.
static bool isOutput(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() ||
           (isa<ReshapeOp>(user) && isOutput(user->getResult(0)));
  });
}

std::string tools::getFloatReason(LayerOp layer, const EmittedNames &names) {
  // The anchor sums integers, whatever the epilogue makes of the sums.
  auto routine = dyn_cast_or_null<RoutineOpInterface>(layer.getAnchorOp());
  if (routine && routine.getAccumulatorType())
    return "";
  bool storesFloats = isReal(layer.getY()) && !isOutput(layer.getY());
  Value floats;
  for (Value operand : layer.getOperands())
    if (isReal(operand) && !isKnown(operand) && !isInput(operand))
      floats = operand;
  Operation *anchor = layer.getAnchorOp();
  bool computesFloats =
      anchor &&
      !isa<TransposeOp, SliceOp, ConcatOp, PadOp, GatherOp, ExpandOp>(anchor) &&
      isReal(anchor->getOperand(0));
  if (!storesFloats && !floats && !computesFloats)
    return "";
  if (anchor)
    if (auto reason = anchor->getAttrOfType<StringAttr>(kStaysFloatAttr))
      return reason.str();
  if (floats) {
    Operation *producer = floats.getDefiningOp();
    while (isa<ReshapeOp>(producer))
      producer = producer->getOperand(0).getDefiningOp();
    if (auto from = dyn_cast_or_null<LayerOp>(producer))
      return "it reads the floats that '" + names.get(from) + "' stores";
  }
  if (storesFloats)
    return "what reads its result needs floats";
  return ("there is no integer form of " +
          (anchor ? anchor->getName().stripDialect() : StringRef("it")))
      .str();
}

tools::QuantizedReport tools::reportQuantized(ModuleOp module,
                                              const EmittedNames &names) {
  QuantizedReport report;
  report.isQuantized = module->hasAttr(kQuantizedAttr);
  module.walk([&](LayerOp layer) {
    ++report.layers;
    std::string why = getFloatReason(layer, names);
    if (why.empty())
      return;
    Operation *anchor = layer.getAnchorOp();
    report.floats.push_back(
        {names.get(layer), getModelName(layer.getLoc()).str(),
         anchor ? anchor->getName().stripDialect().str() : "elementwise", why});
  });
  return report;
}

json::Value tools::QuantizedReport::toJson() const {
  json::Array array;
  for (const FloatLayer &one : floats)
    array.push_back(json::Object{{"name", one.name},
                                 {"model_name", one.modelName},
                                 {"op", one.op},
                                 {"why", one.why}});
  return json::Object{{"layers", layers},
                      {"integer_layers", countIntegers()},
                      {"float_layers", std::move(array)}};
}

std::string tools::QuantizedReport::describe() const {
  if (countIntegers() == 0)
    return "no layer works on integers";
  return floats.empty() ? "all layers work on integers"
                        : "all layers but " + std::to_string(floats.size()) +
                              " work on integers";
}

void tools::QuantizedReport::print() const {
  printOut("  {:<14} {}\n", "quantized", describe());
  for (const FloatLayer &one : floats)
    printOut("    {} ({}) stays in floats: {}\n", displayText(one.name), one.op,
             one.why);
}
