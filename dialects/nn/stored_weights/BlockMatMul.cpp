//===- BlockMatMul.cpp - nn.block_matmul ----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LogicalResult BlockMatMulOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  auto q = cast<RankedTensorType>(adaptor.getQ().getType());
  auto scales = cast<RankedTensorType>(adaptor.getScales().getType());
  auto zeros = cast<RankedTensorType>(adaptor.getZeroPoints().getType());
  if (!x.getElementType().isF32() || !scales.getElementType().isF32())
    return emitOptionalError(location, "multiplies ", x.getElementType(),
                             " by weights with scales of ",
                             scales.getElementType(), "; both must be f32");
  for (RankedTensorType type : {q, zeros})
    if (!type.getElementType().isUnsignedInteger(8))
      return emitOptionalError(location, "has weights or zero points of ",
                               type.getElementType(), ", which must be ui8");
  if (x.getRank() < 2 || q.getRank() != 2)
    return emitOptionalError(
        location, "needs an input of rank 2 or more and weights of rank 2");
  int64_t n = q.getDimSize(0), k = q.getDimSize(1);
  if (x.getShape().back() != k)
    return emitOptionalError(location, "multiplies rows of ",
                             x.getShape().back(), " elements by columns of ",
                             k);
  int64_t bits = adaptor.getBits(), block = adaptor.getBlock();
  if (bits != 4 && bits != 8)
    return emitOptionalError(location, "has weights of ", bits,
                             " bits, not of 4 or 8");
  if (block < 1 || (block % 8 != 0 && block != k))
    return emitOptionalError(location, "has blocks of ", block,
                             " weights; a block is a multiple of 8 or all ", k,
                             " weights of a column");
  SmallVector<int64_t> each = {n, int64_t(llvm::divideCeil(k, block))};
  if (scales.getShape() != ArrayRef(each))
    return emitOptionalError(location, "needs ", each[0], " x ", each[1],
                             " scales, has a ", scales);
  if (zeros.getShape() != ArrayRef(each) &&
      zeros.getShape() != ArrayRef<int64_t>{1, 1})
    return emitOptionalError(location, "needs ", each[0], " x ", each[1],
                             " zero points or 1 x 1, has a ", zeros);
  SmallVector<int64_t> shape(x.getShape());
  shape.back() = n;
  types.push_back(RankedTensorType::get(shape, x.getElementType()));
  return success();
}

std::optional<int64_t> BlockMatMulOp::getChannelAxis() {
  return getY().getType().getRank() - 1;
}

AxisUse BlockMatMulOp::getAxisUse(int64_t axis) {
  return AxisUse::samples(*this, axis);
}

SmallVector<RoutineCall> BlockMatMulOp::getRoutineCalls() {
  RankedTensorType x = getLogicalType(getX().getType());
  int64_t n = getQ().getType().getDimSize(0);
  ShapeFields fields(getContext());
  fields.add("m", product(x.getShape().drop_back())).add("n", n);
  fields.add("k", x.getShape().back());
  fields.add("bits", getBits()).add("block", getBlock());
  fields.add(
      "shared_zero",
      static_cast<int64_t>(getZeroPoints().getType().getNumElements() == 1));
  return {{"block_matmul", fields.get(), {0, 1, 2, 3}}};
}

SmallVector<RoutineCall>
BlockMatMulOp::getRoutineCallsOn(ArrayRef<RankedTensorType> inputs,
                                 RankedTensorType result) {
  if (getLayout(inputs[0]) || getLayout(result))
    return {};
  return getRoutineCalls();
}

std::string BlockMatMulOp::spellLayout(StringRef layout, int64_t operand) {
  // The routine table names the axes K and N; the weights have them in the
  // opposite order.
  if (operand < 1 || layout == "plain" || layout == "any")
    return layout.str();
  return renameAxes(layout, {1, 0}, 2, getContext());
}

Work BlockMatMulOp::getWork() {
  Work work = bytesOnly(*this);
  work.multiplyAdds =
      getY().getType().getNumElements() * getX().getType().getShape().back();
  return work;
}
