//===- Signature.cpp - The types that a routine reads and writes ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Signature.h"

#include "compiler/routines/Candidates.h"
#include "compiler/routines/LayerForms.h"
#include "compiler/routines/Schema.h"
#include "dialects/nn/encodings/WeightEncoding.h"
#include "dialects/nn/layers/Layer.h"
#include "dialects/nn/layouts/AxisOrder.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

void Signature::moveTo(StringRef device) {
  for (RankedTensorType &type : operands)
    type = onDevice(type, device);
  result = onDevice(result, device);
}

bool nnc::isConstantValue(Value value) {
  Operation *producer = value.getDefiningOp();
  return producer && producer->hasTrait<OpTrait::ConstantLike>();
}

RankedTensorType nnc::getReadType(LayerOp layer, unsigned operand) {
  return Schema{getReadElement(layer, operand), LayoutAttr(), ""}.on(
      getTensorType(layer.getOperand(operand)));
}

StringRef nnc::getFamily(LayerOp layer, std::string &storage) {
  if (auto anchor = dyn_cast_or_null<RoutineOpInterface>(layer.getAnchorOp()))
    storage = anchor.getRoutineCalls().front().family;
  else
    storage = "elementwise";
  return storage;
}

/// Returns `type` in the layout that a line of routines.inc calls `name`. If
/// the name is "any", that is the layout `any`. Returns nullopt if the layout
/// has another rank than `type`.
static std::optional<RankedTensorType>
withTableLayout(LayerOp layer, RankedTensorType type, StringRef name,
                int64_t operand, LayoutAttr any) {
  if (name == "plain" || (name == "any" && !any))
    return inRowMajor(type);
  LayoutAttr layout = any;
  if (name != "any") {
    auto anchor = cast<RoutineOpInterface>(layer.getAnchorOp());
    layout =
        LayoutAttr::get(type.getContext(), anchor.spellLayout(name, operand));
  }
  if (layout.getRank() != type.getRank())
    return std::nullopt;
  return withLayout(type, layout);
}

/// Returns the type of an extra: it has the layout of the result, unless the
/// extra has a single element along each blocked axis. Then it is row-major.
static RankedTensorType getExtraType(RankedTensorType type,
                                     RankedTensorType result) {
  LayoutAttr layout = getLayout(result);
  if (!layout || type.getRank() != result.getRank())
    return inRowMajor(type);
  bool varies = type.getShape() == result.getShape();
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    varies |= layout.getBlockSize(axis) > 1 && type.getDimSize(axis) > 1;
  return varies ? withLayout(type, layout) : inRowMajor(type);
}

std::optional<Signature>
nnc::getSignature(LayerOp layer, const Routine &routine, LayoutAttr any) {
  Signature signature;
  auto result = withTableLayout(layer, getTensorType(layer.getY()),
                                routine.getLayout(-1), -1, any);
  if (!result)
    return std::nullopt;
  signature.result = *result;
  const unsigned inputs = layer.getInputs().size();
  for (unsigned i = 0; i < inputs; ++i) {
    // Operands of another rank, such as indices, stay row-major.
    RankedTensorType type = getReadType(layer, i);
    bool open = any && any.getRank() == type.getRank();
    auto operand = withTableLayout(layer, type, routine.getLayout(i), i,
                                   open ? any : LayoutAttr());
    if (!operand)
      return std::nullopt;
    signature.operands.push_back(*operand);
  }
  const bool isMixed =
      !layer.getAnchorOp() && routine.getLayout(0) != routine.getLayout(-1);
  for (unsigned i = inputs; i < layer->getNumOperands(); ++i) {
    RankedTensorType type = getReadType(layer, i);
    std::optional<RankedTensorType> operand =
        getExtraType(type, signature.result);
    // An elementwise routine that reads and writes different layouts.
    if (isMixed && type.getShape() == signature.result.getShape())
      operand = withTableLayout(layer, type, routine.getLayout(0), i, any);
    if (!operand || (isMixed && !onlyOrdersAxes(*operand)))
      return std::nullopt;
    signature.operands.push_back(*operand);
  }
  if (isMixed && !onlyOrdersAxes(signature.result))
    return std::nullopt;
  // Only an anchor's routine knows where padding is and keeps it zero.
  if (!layer.getAnchorOp() && isPadded(signature.result) &&
      !keepsZeros(layer, signature.operands))
    return std::nullopt;
  return signature;
}

SmallVector<RoutineShape> nnc::makeShapes(LayerOp layer,
                                          const Signature &signature,
                                          std::string &problem) {
  SmallVector<RoutineShape> shapes;
  auto calls = layer.getRoutineCallsOn(signature.operands, signature.result);
  if (calls.empty())
    problem = "the anchor cannot be computed in these layouts";
  for (const RoutineCall &call : calls) {
    auto shape = readShape(call, &problem);
    if (!shape)
      return {};
    shapes.push_back(*shape);
  }
  return shapes;
}

std::string nnc::getObstacle(LayerOp layer, const Routine &routine,
                             target::MachineAttr machine, StringRef deviceName,
                             bool roundsToTf32) {
  auto device = machine ? machine.findDevice(deviceName) : target::DeviceAttr();
  if (device && !device.hasIsa(routine.isa))
    return "needs " + routine.isa.str() + ", which the target '" +
           machine.getName().str() + "' lacks";
  // Portable NHWC routines are for targets whose other routines have no blocked
  // layouts. On targets with vectors they would only widen the search.
  if (device && device.hasVectors() && routine.isa == "portable" &&
      llvm::is_contained(routine.layouts, "NHWC"))
    return "is slower than the vector routines of the target '" +
           machine.getName().str() + "'";
  Type first = layer.getOperands().empty()
                   ? getTensorType(layer.getY()).getElementType()
                   : getReadElement(layer, 0);
  if (routine.elements == "tf32" && first.isF32() &&
      (roundsToTf32 || layer.getRoutine() == routine.name))
    first = FloatTF32Type::get(layer.getContext());
  if (!routine.takesElement(first))
    return "does not compute on the layer's element type";
  // Only lines with a type of sums may have inputs of different types.
  if (!routine.sums.empty())
    for (unsigned i = 0; i < layer.getInputs().size(); ++i)
      if (!routine.takesElement(getReadElement(layer, i), i))
        return "does not compute on the element type of operand " +
               std::to_string(i);
  auto anchor = dyn_cast_or_null<RoutineOpInterface>(layer.getAnchorOp());
  if (!routine.takesSums(anchor ? anchor.getAccumulatorType() : Type()))
    return "does not sum in the layer's accumulator type";
  for (auto [i, value] : llvm::enumerate(layer.getInputs()))
    if (splitLayoutName(routine.getLayout(i)).second &&
        !isConstantValue(value) && !value.getDefiningOp<DecodeOp>())
      return "transforms operand " + std::to_string(i) +
             ", which is not a constant";
  if (layer.getAnchorOp() && !layer.hasEmptyEpilogue() &&
      !routine.family->channelAxis)
    return "takes no epilogue";
  return "";
}
