//===- Decode.cpp - The routine that decodes a weight ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Decode.h"

#include "dialects/nn/stored_weights/forms/StoredCheck.h"
#include "dialects/nn/tensors/TensorData.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

static std::optional<RoutineShape> readDecodeShape(ShapeAttr fields,
                                                   std::string *problem) {
  return readShape(RoutineCall{"decode", fields, {0}}, problem);
}

DecodeCost nnc::findDecode(ShapeAttr attribute, RankedTensorType stored,
                           RankedTensorType weight, const CostModel &cost) {
  DecodeCost best;
  std::optional<RoutineShape> shape = readDecodeShape(attribute, nullptr);
  if (!shape)
    return best;
  LayerWork work;
  work.operations =
      decode_steps(*static_cast<const decode_shape *>(shape->get()));
  work.activationBytes = getPhysicalBytes(weight);
  work.weightBytes = getPhysicalBytes(stored);
  for (const Routine *routine : Catalogue::get().getRoutinesOf("decode")) {
    if (!cost.getDevice().hasIsa(routine->isa) || !routine->applies(*shape, {}))
      continue;
    DecodeCost found;
    found.routine = routine;
    found.estimate = cost.estimate(*routine, *shape, {}, work);
    found.seconds = found.estimate;
    if (!best.routine || found.seconds < best.seconds)
      best = found;
  }
  return best;
}

LogicalResult nnc::checkRoutine(DecodeOp decode, target::MachineAttr machine) {
  StringRef name = decode.getRoutine().value_or("");
  const Routine *routine = Catalogue::get().findRoutine(name);
  if (!routine || routine->family->name != "decode") {
    InFlightDiagnostic error = decode.emitOpError("names the routine '")
                               << name << "'; of its family there are ";
    llvm::interleaveComma(Catalogue::get().getRoutinesOf("decode"), error,
                          [&](const Routine *each) { error << each->name; });
    return error;
  }
  if (machine && !machine.getHost().hasIsa(routine->isa))
    return decode.emitOpError("names the routine '")
           << name << "', which needs " << routine->isa
           << "; the target lacks that";
  std::string problem;
  std::optional<RoutineShape> shape =
      readDecodeShape(decode.getShape(), &problem);
  if (!shape)
    return decode.emitOpError("cannot be computed: ") << problem;
  if (!routine->applies(*shape, {}))
    return decode.emitOpError("names the routine '")
           << name << "', which reads another form of weights";
  return success();
}

/// Returns the bytes of the weight that is input `i` of a call. Returns
/// nothing, and reports an error, if they are not known.
static std::optional<TensorData> getStoredBytes(exec::CallOp call, size_t i) {
  auto weight = call.getInputs()[i].getDefiningOp<exec::WeightOp>();
  auto data = weight ? TensorData::get(weight.getValue()) : std::nullopt;
  if (!data)
    call.emitOpError("decodes what is not a weight whose bytes are known");
  return data;
}

/// Checks that `bytes`, input `i` of a call, hold elements of `size` bytes each
/// in the form that `shape` describes.
static LogicalResult checkBytes(exec::CallOp call, size_t i,
                                const decode_shape &shape, int size) {
  std::optional<TensorData> data = getStoredBytes(call, i);
  if (!data)
    return failure();
  ArrayRef<char> chars = data->getBytes();
  ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(chars.data()),
                          chars.size());
  std::string problem = stored::findWrongShape(shape, bytes.size(), size);
  if (!problem.empty())
    return call.emitOpError("has a shape that ") << problem;
  problem = stored::findDamage(shape, bytes, size);
  if (problem.empty())
    return success();
  return call.emitOpError("reads '")
         << call.getInputs()[i].getDefiningOp<exec::WeightOp>().getName()
         << "', which " << problem
         << ": it is damaged; make the module anew from the model";
}

/// Checks that `shape` describes the bytes of input 1 of a layer, which hold
/// weights with the element type of input 0.
static LogicalResult checkLayerBytes(exec::CallOp call,
                                     const decode_shape &shape) {
  if (call.getInputs().size() != 2)
    return call.emitOpError("needs two inputs");
  RankedTensorType x = exec::getPlaceOp(call.getInputs()[0]).getTensor();
  return checkBytes(call, 1, shape, x.getElementType().isF32() ? 4 : 1);
}

/// Checks the stored weights that a matrix product reads directly.
static LogicalResult checkStoredProduct(exec::CallOp call,
                                        const stored_matmul_shape &s) {
  if (s.elements != stored_elements(s.order, s.n, s.k))
    return call.emitOpError("multiplies by ")
           << s.n << " rows of " << s.k << " weights, which are not the "
           << s.elements << " elements of its shape";
  return checkLayerBytes(call, {s.form, s.elements, s.block, s.values,
                                s.value_bits, s.gaps, s.gap_bits, s.entries});
}

/// Checks the stored filters that a convolution decodes a strip at a time.
static LogicalResult checkStoredConv(exec::CallOp call,
                                     const stored_conv2d_shape &s) {
  if (s.elements != stored_filters_elements(s))
    return call.emitOpError("has filters of ")
           << stored_filters_elements(s) << " weights, which are not the "
           << s.elements << " elements of its shape";
  return checkLayerBytes(call, s);
}

LogicalResult nnc::checkStored(exec::CallOp call) {
  const Routine *routine = Catalogue::get().findRoutine(call.getRoutine());
  StringRef family = routine ? StringRef(routine->family->name) : "";
  if (family != "decode" && family != "stored_matmul" &&
      family != "stored_conv2d")
    return success();
  std::string problem;
  std::optional<RoutineShape> shape =
      readShape(RoutineCall{family.str(), call.getShape(), {0}}, &problem);
  if (!shape)
    return call.emitOpError("cannot be computed: ") << problem;
  if (family == "stored_matmul")
    return checkStoredProduct(
        call, *static_cast<const stored_matmul_shape *>(shape->get()));
  if (family == "stored_conv2d")
    return checkStoredConv(
        call, *static_cast<const stored_conv2d_shape *>(shape->get()));
  if (call.getInputs().empty() || call.getOutputs().empty())
    return success();
  RankedTensorType result =
      exec::getPlaceOp(call.getOutputs().front()).getTensor();
  int size = static_cast<int>(getElementBytes(result.getElementType()));
  const auto &fields = *static_cast<const decode_shape *>(shape->get());
  if (fields.elements * int64_t(size) > getPhysicalBytes(result))
    return call.emitOpError("decodes ")
           << fields.elements << " elements, and its output has room for "
           << getPhysicalBytes(result) / size;
  return checkBytes(call, 0, fields, size);
}
