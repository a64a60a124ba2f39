//===- MatMul.cpp - nn.matmul ---------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"
#include "dialects/nn/encodings/WeightEncoding.h"
#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns the rows and columns of a matrix operand after its transposition, if
/// any.
static std::pair<int64_t, int64_t> getMatrix(RankedTensorType type,
                                             bool transposed) {
  int64_t rows = type.getDimSize(type.getRank() - 2);
  int64_t columns = type.getDimSize(type.getRank() - 1);
  return transposed ? std::pair(columns, rows) : std::pair(rows, columns);
}

static ArrayRef<int64_t> getBatch(RankedTensorType type) {
  return type.getShape().drop_back(2);
}

LogicalResult nn::inferAccumulator(std::optional<Location> location, Type a,
                                   Type b, std::optional<Type> accumulator,
                                   Type &sums) {
  auto isNarrow = [](Type type) {
    return isa<IntegerType>(type) && type.getIntOrFloatBitWidth() > 1 &&
           type.getIntOrFloatBitWidth() <= 32;
  };
  sums = accumulator.value_or(a);
  if (!accumulator && a != b)
    return emitOptionalError(location, "multiplies ", a, " by ", b,
                             " without an accumulator; add accumulator = i32");
  if (accumulator &&
      ((!sums.isSignlessInteger(32) && !sums.isSignlessInteger(64)) ||
       !isNarrow(a) || !isNarrow(b)))
    return emitOptionalError(
        location, "multiplies ", a, " by ", b, " and sums in ", sums,
        "; sums of integers of up to 32 bits may be i32 or i64");
  return success();
}

Type MatMulOp::getAccumulatorType() {
  return getAccumulator().value_or(Type());
}

LogicalResult nn::inferMatMul(std::optional<Location> location,
                              RankedTensorType a, RankedTensorType b,
                              bool transposesA, bool transposesB,
                              SmallVectorImpl<int64_t> &shape) {
  if (a.getRank() < 2 || b.getRank() < 2)
    return emitOptionalError(location, "needs operands of rank 2 or more");
  auto [m, k] = getMatrix(a, transposesA);
  auto [k2, n] = getMatrix(b, transposesB);
  if (k != k2)
    return emitOptionalError(location, "multiplies ", m, " x ", k, " by ", k2,
                             " x ", n);
  auto batch = broadcastShapes({getBatch(a), getBatch(b)});
  if (!batch)
    return emitOptionalError(location, "has batch axes that do not broadcast");
  shape.assign(*batch);
  shape.append({m, n});
  return success();
}

LogicalResult MatMulOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto a = cast<RankedTensorType>(adaptor.getA().getType());
  auto b = cast<RankedTensorType>(adaptor.getB().getType());
  SmallVector<int64_t> shape;
  if (failed(inferMatMul(location, a, b, adaptor.getTransposeA(),
                         adaptor.getTransposeB(), shape)))
    return failure();
  Type element;
  if (failed(inferAccumulator(location, a.getElementType(), b.getElementType(),
                              adaptor.getAccumulator(), element)))
    return failure();
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

std::optional<int64_t> MatMulOp::getChannelAxis() {
  return getY().getType().getRank() - 1;
}

/// Each operand must have the result's batch axes or none at all.
bool MatMulOp::hasCollapsibleBatch() {
  int64_t batch = product(getBatch(getY().getType()));
  auto fits = [&](RankedTensorType type) {
    int64_t own = product(getBatch(type));
    return own == 1 || own == batch;
  };
  return fits(getA().getType()) && fits(getB().getType());
}

/// All matrices of `a` may share one `b`, and a row of the result depends on a
/// row of `a`. Else each sample has matrices of its own.
AxisUse MatMulOp::getAxisUse(int64_t axis) {
  RankedTensorType a = getPlain(getA()), b = getPlain(getB()),
                   y = getPlain(getY());
  bool isColumn = axis == y.getRank() - 1;
  if (b.getRank() == 2 && !getTransposeA())
    return isColumn ? AxisUse() : AxisUse::elements(*this, axis);
  if (axis != 0 || y.getRank() == 2)
    return {};
  AxisUse use{AxisKind::apart};
  for (RankedTensorType type : {a, b}) {
    bool hasSamples =
        type.getRank() == y.getRank() && type.getDimSize(0) == y.getDimSize(0);
    use.axes.push_back(hasSamples ? 0 : -1);
  }
  return use;
}

SmallVector<RoutineCall> MatMulOp::getRoutineCalls() {
  return getRoutineCallsOn(
      {getLogicalType(getA().getType()), getLogicalType(getB().getType())},
      getLogicalType(getY().getType()));
}

SmallVector<RoutineCall>
MatMulOp::getRoutineCallsOn(ArrayRef<RankedTensorType> inputs,
                            RankedTensorType result) {
  RankedTensorType a = inputs[0], b = inputs[1];
  if (getLayout(a) || getLayout(result))
    return {};
  auto [m, k] = getMatrix(a, getTransposeA());
  int64_t n = getMatrix(b, getTransposeB()).second;
  int64_t batch = product(getBatch(result));
  bool batchedA = product(getBatch(a)) != 1,
       batchedB = product(getBatch(b)) != 1;
  // One weight for a whole batch of row-major matrices is one taller matrix.
  if (batchedA && !batchedB && !getTransposeA()) {
    m *= batch;
    batch = 1;
    batchedA = false;
  }
  ShapeFields fields(getContext());
  fields.add("batch", batch).add("m", m).add("n", n).add("k", k);
  fields.add("a_batch_stride", batchedA ? m * k : 0);
  fields.add("b_batch_stride",
             batchedB ? getPhysicalElements(b) / product(getBatch(b)) : 0);
  fields.add("transpose_a", getTransposeA());
  // The packed layout of a right-hand side already includes the transposition.
  fields.add("transpose_b", getTransposeB() && !getLayout(b));
  return {{"matmul", fields.get(), {0, 1}}};
}

std::string MatMulOp::spellLayout(StringRef layout, int64_t operand) {
  auto type = cast<RankedTensorType>(
      operand < 0 ? getY().getType() : getOperand(operand).getType());
  bool transposed =
      (operand == 0 && getTransposeA()) || (operand == 1 && getTransposeB());
  unsigned rank = type.getRank();
  // A batch of matrices cannot be encoded. The layout is returned unchanged; it
  // does not fit the operand's rank.
  if (layout == "plain" || layout == "any" || (rank == 2 && !transposed) ||
      (rank != 2 && splitLayoutName(layout).second))
    return layout.str();
  SmallVector<unsigned> axes = {rank - 2, rank - 1};
  if (transposed)
    std::swap(axes[0], axes[1]);
  return renameAxes(layout, axes, rank, getContext());
}

Work MatMulOp::getWork() {
  Work work = bytesOnly(*this);
  work.multiplyAdds = getY().getType().getNumElements() *
                      getMatrix(getA().getType(), getTransposeA()).second;
  return work;
}
