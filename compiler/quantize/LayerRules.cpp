//===- LayerRules.cpp - How each kind of op is quantized ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/LayerRules.h"

#include "compiler/patterns/Constants.h"
#include "compiler/patterns/QuantizedLayers.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;
using namespace nnc::quantize;

static bool isKnownTensor(Value value) {
  return value.getDefiningOp<ConstantOp>() != nullptr;
}

std::optional<Kind> quantize::getKind(Operation *op) {
  if (op->getNumResults() != 1 ||
      !isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())))
    return std::nullopt;
  if (isa<ConvOp, ConvTransposeOp, MatMulOp>(op))
    return Kind::linear;
  if (isa<AddOp, MulOp>(op))
    return Kind::join;
  if (isa<ConcatOp>(op))
    return Kind::concat;
  if (isa<ReluOp, ClipOp>(op))
    return Kind::clip;
  auto reduce = dyn_cast<ReduceOp>(op);
  if (isa<AvgPoolOp>(op) || (reduce && reduce.getKind() == ReduceKind::mean))
    return Kind::average;
  if (isa<GatherOp>(op) && isKnownTensor(op->getOperand(0)))
    return Kind::table;
  if (countMoved(op) == 1)
    return Kind::move;
  return std::nullopt;
}

/// Returns the reason why the elements of a constant cannot be quantized, or
/// "". `what` names the elements in the reason.
static std::string findObstacle(Value constant, StringRef what) {
  auto data = TensorData::get(constant);
  if (!data || !data->getElementType().isF32() || data->getNumElements() == 0)
    return ("its " + what + " are not 32-bit floats").str();
  for (float value : data->getAs<float>())
    if (!std::isfinite(value))
      return ("its " + what + " hold values that are not finite").str();
  return "";
}

/// Returns the axis of constant weights along which products of integers allow
/// a scale for each index; -1 if there is none.
static int64_t getChannelAxis(Operation *op) {
  if (isa<ConvOp>(op))
    return 0;
  auto matmul = dyn_cast<MatMulOp>(op);
  if (!matmul || cast<RankedTensorType>(matmul.getB().getType()).getRank() != 2)
    return -1;
  return matmul.getTransposeB() ? 0 : 1;
}

static std::string describeLinear(PlannedLayer &layer) {
  Operation *op = layer.op;
  bool isKnown[2] = {isKnownTensor(op->getOperand(0)),
                     isKnownTensor(op->getOperand(1))};
  if (isKnown[0] && isKnown[1])
    return "all of its operands are constants";
  if (!isa<MatMulOp>(op)) {
    if (isKnown[0])
      return "its first operand is a constant";
    if (!isKnown[1])
      return "its weights are computed";
  }
  for (int i = 0; i < 2; ++i) {
    if (!isKnown[i]) {
      layer.inputs.push_back(op->getOperand(i));
      continue;
    }
    layer.weights = i;
    if (std::string why = findObstacle(op->getOperand(i), "weights");
        !why.empty())
      return why;
  }
  if (layer.weights == 1)
    layer.axis = getChannelAxis(op);
  return "";
}

static std::string describeTable(PlannedLayer &layer) {
  auto gather = cast<GatherOp>(layer.op);
  Value table = gather->getOperand(0);
  if (isKnownTensor(gather->getOperand(1)))
    return "all of its operands are constants";
  if (std::string why = findObstacle(table, "table's elements"); !why.empty())
    return why;
  // If other ops read the table, its floats would be stored in addition to the
  // integers.
  for (Operation *user : table.getUsers())
    if (getKind(user) != Kind::table)
      return "other ops read the floats of its table";
  layer.weights = 0;
  int64_t rank = cast<RankedTensorType>(table.getType()).getRank();
  // Each element of a row may have a scale of its own.
  if (int64_t(gather.getAxis()) < rank - 1)
    layer.axis = rank - 1;
  return "";
}

/// Completes the description of a layer that is neither linear nor a table.
static std::string describeOther(PlannedLayer &layer,
                                 llvm::function_ref<bool(Value)> isQuantized) {
  Operation *op = layer.op;
  bool isJoin = layer.kind == Kind::join || layer.kind == Kind::concat;
  unsigned count = isJoin ? op->getNumOperands() : 1;
  for (Value operand : op->getOperands().take_front(count)) {
    if (isKnownTensor(operand))
      return "an operand is a constant";
    if (!isQuantized(operand))
      return "it reads '" + quantize::getName(operand) +
             "', which is not quantized";
    if (!llvm::is_contained(layer.inputs, operand))
      layer.inputs.push_back(operand);
  }
  auto pad = dyn_cast<PadOp>(op);
  if (pad && pad.getMode() == PadMode::constant && !pad.getValue().isZero())
    return "it pads with another number than 0";
  return "";
}

std::string
quantize::describeLayer(PlannedLayer &layer,
                        llvm::function_ref<bool(Value)> isQuantized) {
  for (Value value : layer.op->getOperands())
    if (Type type = getElementTypeOrSelf(value.getType());
        isa<FloatType>(type) && !type.isF32())
      return "it computes with other floats than those of 32 bits";
  switch (layer.kind) {
  case Kind::linear:
    return describeLinear(layer);
  case Kind::table:
    return describeTable(layer);
  default:
    return describeOther(layer, isQuantized);
  }
}

bool quantize::isBiasAdd(Operation *op, Operation *anchor, Value sums) {
  auto add = dyn_cast<AddOp>(op);
  auto routine = dyn_cast<RoutineOpInterface>(anchor);
  if (!add || !routine || add.getA() == add.getB() ||
      add.getType() != sums.getType())
    return false;
  Value other = add.getA() == sums ? add.getB() : add.getA();
  std::optional<int64_t> axis = routine.getChannelAxis();
  return axis && isKnownTensor(other) &&
         getChannelValues(other, cast<RankedTensorType>(sums.getType()), *axis)
             .has_value() &&
         findObstacle(other, "bias").empty();
}
