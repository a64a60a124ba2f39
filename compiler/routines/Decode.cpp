//===- Decode.cpp - The routine that decodes a weight ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Decode.h"

#include "dialects/nn/compression/StoredCheck.h"

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
  // Elements that entries skip are only filled in, several at a time.
  const auto &fields = *static_cast<const decode_shape *>(shape->get());
  bool hasEntries =
      fields.form == decode_entries || fields.form == decode_huffman_entries;
  work.operations =
      hasEntries ? fields.entries + fields.elements / 8. : fields.elements;
  work.activationBytes = getPhysicalBytes(weight);
  work.weightBytes = getPhysicalBytes(stored);
  for (const Routine *routine : Catalogue::get().getRoutinesOf("decode")) {
    if (!cost.getMachine().hasIsa(routine->isa) ||
        !routine->applies(*shape, {}))
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
  if (machine && !machine.hasIsa(routine->isa))
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

LogicalResult nnc::checkStored(exec::CallOp call) {
  const Routine *routine = Catalogue::get().findRoutine(call.getRoutine());
  if (!routine || routine->family->name != "decode" ||
      call.getInputs().empty() || call.getOutputs().empty())
    return success();
  std::string problem;
  std::optional<RoutineShape> shape =
      readDecodeShape(call.getShape(), &problem);
  if (!shape)
    return call.emitOpError("cannot be computed: ") << problem;
  auto weight = call.getInputs().front().getDefiningOp<exec::WeightOp>();
  auto data = weight ? TensorData::get(weight.getValue()) : std::nullopt;
  if (!data)
    return call.emitOpError("decodes what is not a weight whose bytes are "
                            "known");
  ArrayRef<char> chars = data->getBytes();
  ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(chars.data()),
                          chars.size());
  RankedTensorType result =
      exec::getPlaceOp(call.getOutputs().front()).getTensor();
  int size = static_cast<int>(getElementBytes(result.getElementType()));
  const auto &fields = *static_cast<const decode_shape *>(shape->get());
  if (fields.elements * int64_t(size) > getPhysicalBytes(result))
    return call.emitOpError("decodes ")
           << fields.elements << " elements, and its output has room for "
           << getPhysicalBytes(result) / size;
  problem = compression::findWrongShape(fields, bytes.size(), size);
  if (!problem.empty())
    return call.emitOpError("has a shape that ") << problem;
  problem = compression::findDamage(fields, bytes, size);
  if (problem.empty())
    return success();
  return call.emitOpError("reads '")
         << weight.getName() << "', which " << problem
         << ": it is damaged; make the module anew from the model";
}
