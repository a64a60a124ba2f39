//===- Weights.cpp - The bytes of the weights -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "dialects/nn/TensorData.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

/// The bytes of `weight` as they are written.
static FailureOr<TensorData> getBytes(exec::WeightOp weight) {
  if (!weight.getEncoded())
    return weight.emitOpError("is not encoded; nnc-encode-weights has to run "
                              "before the code is written");
  std::optional<TensorData> bytes = TensorData::get(weight.getValue());
  if (!bytes)
    return weight.emitOpError(
        "has a value whose data is not in memory; was it elided?");
  return *bytes;
}

LogicalResult codegen::writeWeights(exec::ProgramOp program,
                                    llvm::raw_ostream &stream) {
  SmallVector<exec::WeightOp> weights(
      program.getBody().getOps<exec::WeightOp>());
  llvm::sort(weights, [](exec::WeightOp a, exec::WeightOp b) {
    return a.getOffset() < b.getOffset();
  });
  uint64_t at = 0;
  auto fillTo = [&](uint64_t offset) {
    if (offset > at)
      stream.write_zeros(offset - at);
    at = std::max(at, offset);
  };
  for (exec::WeightOp weight : weights) {
    if (weight.getOffset() < at)
      return weight.emitOpError("overlaps another weight");
    fillTo(weight.getOffset());
    FailureOr<TensorData> data = getBytes(weight);
    if (failed(data))
      return failure();
    ArrayRef<char> bytes = data->getBytes();
    stream.write(bytes.data(), bytes.size());
    at += bytes.size();
  }
  fillTo(program.getWeights());
  return success();
}
