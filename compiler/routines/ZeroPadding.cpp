//===- ZeroPadding.cpp - Epilogues over the padding of blocked layouts ----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Candidates.h"

#include "runtime/reference.h"
#include "runtime/routines/elementwise/shape.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Evaluates the function for these arguments with the portable routine.
/// Returns nullopt if the routine does not support the function.
static std::optional<float> evaluateScalar(ElementwiseOpInterface op,
                                           ArrayRef<float> arguments) {
  elementwise_shape shape{};
  shape.rank = shape.dims[0] = shape.planes = shape.pixels = 1;
  SmallVector<float> values(arguments);
  SmallVector<nnc_tensor> operands;
  for (float &value : values)
    operands.push_back({&value, NNC_F32, 1});
  float result = 1;
  nnc_tensor out{&result, NNC_F32, 1};
  SmallVector<double> scalars = op.getScalars();
  int status = reference_elementwise(op.getFunction().str().c_str(), shape,
                                     operands.data(), operands.size(), out,
                                     scalars.data(), scalars.size());
  return status == NNC_REFERENCE_OK ? std::optional(result) : std::nullopt;
}

bool nnc::keepsZeros(LayerOp layer, ArrayRef<RankedTensorType> operands) {
  Block &block = layer.getEpilogue().front();
  DenseMap<Value, float> known;
  // Operands that are broadcast over the padding have unknown values there.
  if (layer.getAnchorOp())
    known[block.getArgument(0)] = 0;
  auto extras = operands.take_back(layer.getExtras().size());
  for (auto [argument, type] :
       llvm::zip(block.getArguments().take_back(extras.size()), extras))
    if (getLayout(type))
      known[argument] = 0;
  for (Operation &op : block.without_terminator()) {
    Type type = op.getResult(0).getType();
    if (!isComputedAsFloat(type))
      return false;
    // A cast keeps zeros, and the values that functions give for zeros.
    if (isa<CastOp>(op)) {
      if (auto value = known.find(op.getOperand(0)); value != known.end())
        known[op.getResult(0)] = value->second;
      continue;
    }
    if (auto literal = dyn_cast<arith::ConstantOp>(op)) {
      known[literal] =
          cast<FloatAttr>(literal.getValue()).getValue().convertToFloat();
      continue;
    }
    SmallVector<float> arguments;
    for (Value operand : op.getOperands()) {
      auto value = known.find(operand);
      if (value == known.end())
        break;
      arguments.push_back(value->second);
    }
    if (arguments.size() != op.getNumOperands())
      continue;
    if (auto value =
            evaluateScalar(cast<ElementwiseOpInterface>(op), arguments))
      known[op.getResult(0)] = *value;
  }
  auto result = known.find(cast<YieldOp>(block.getTerminator()).getValue());
  return result != known.end() && result->second == 0;
}
