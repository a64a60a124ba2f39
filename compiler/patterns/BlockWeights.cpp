//===- BlockWeights.cpp - Products with weights that stay compressed ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A matrix product of floats with dequantized constant weights becomes one that
// reads the integers, which take a quarter or an eighth of the memory of
// floats. Its sums are those of the same real weights.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/QuantizedLayers.h"
#include "dialects/nn/tensors/TensorData.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
/// Integer weights and their parameters, as the operands of nn.block_matmul: a
/// row for each column of the result.
struct BlockWeights {
  /// Columns of the result, and weights for each column.
  int64_t columns, length;
  int64_t block;                   ///< weights that share a scale
  std::vector<int64_t> integers;   ///< [columns][length]
  std::vector<float> scales;       ///< [columns][ceil(length / block)]
  std::vector<int64_t> zeroPoints; ///< [columns][ceil(length / block)]

  /// Shifts integers and zero points into [0, 2^bits), and returns the smaller
  /// of 4 and 8 bits for which that is possible; 0 if there is none.
  int64_t makeUnsigned();
};

/// A matrix or its transpose, whose elements are read by row and column.
struct MatrixView {
  TensorData data;
  bool transposed;

  double get(int64_t row, int64_t column) const {
    int64_t width = data.getShape()[1];
    return data.getReal(transposed ? column * width + row
                                   : row * width + column);
  }
  int64_t getRows() const { return data.getShape()[transposed ? 1 : 0]; }
  int64_t getColumns() const { return data.getShape()[transposed ? 0 : 1]; }
};
} // namespace

/// Returns the matrix that a constant holds, possibly behind reshapes. The
/// constant may also hold the filters of a 1 x 1 convolution. Returns nullopt
/// for other values.
static std::optional<TensorData> getMatrix(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  std::optional<TensorData> data = TensorData::get(value);
  if (!data || type.getRank() < 2 ||
      product(type.getShape().drop_front(2)) != 1)
    return std::nullopt;
  return data->withType(type.clone(type.getShape().take_front(2)));
}

int64_t BlockWeights::makeUnsigned() {
  for (int64_t bits : {4, 8}) {
    int64_t half = 1LL << (bits - 1);
    for (int64_t shift : {int64_t(0), half}) {
      auto fits = [&](int64_t value) {
        return value + shift >= 0 && value + shift < 2 * half;
      };
      if (!llvm::all_of(integers, fits) || !llvm::all_of(zeroPoints, fits))
        continue;
      for (int64_t &value : integers)
        value += shift;
      for (int64_t &value : zeroPoints)
        value += shift;
      return bits;
    }
  }
  return 0;
}

/// Returns weights that have one scale for each block along the axis that is
/// summed over.
static std::optional<BlockWeights> read(qnn::DequantizeBlocksOp op,
                                        bool transposed) {
  auto q = getMatrix(op.getX()), scales = getMatrix(op.getScales());
  if (!q || !scales)
    return std::nullopt;
  std::optional<TensorData> zeros;
  if (op.getZeroPoints() && !(zeros = getMatrix(op.getZeroPoints())))
    return std::nullopt;
  // Scales must be shared along the axis that is summed over.
  if (op.getAxis() != (transposed ? 1 : 0))
    return std::nullopt;
  MatrixView view{*q, transposed}, scaleView{*scales, transposed};
  BlockWeights weights{view.getColumns(),
                       view.getRows(),
                       static_cast<int64_t>(op.getBlock()),
                       {},
                       {},
                       {}};
  for (int64_t column = 0; column < weights.columns; ++column) {
    for (int64_t i = 0; i < weights.length; ++i)
      weights.integers.push_back(int64_t(view.get(i, column)));
    for (int64_t group = 0; group < scaleView.getRows(); ++group) {
      weights.scales.push_back(float(scaleView.get(group, column)));
      weights.zeroPoints.push_back(
          zeros ? int64_t(MatrixView{*zeros, transposed}.get(group, column))
                : 0);
    }
  }
  return weights;
}

/// Returns weights that have a single scale or one for each column of the
/// result.
static std::optional<BlockWeights> read(qnn::DequantizeOp op, bool transposed) {
  auto reinterpret = op.getX().getDefiningOp<qnn::ReinterpretOp>();
  auto q = reinterpret ? getMatrix(reinterpret.getX()) : std::nullopt;
  qnn::Parameters parameters = qnn::getParameters(op.getX().getType());
  if (!q || (parameters.axis >= 0 && parameters.axis != (transposed ? 0 : 1)))
    return std::nullopt;
  MatrixView view{*q, transposed};
  BlockWeights weights{
      view.getColumns(), view.getRows(), view.getRows(), {}, {}, {}};
  for (int64_t column = 0; column < weights.columns; ++column) {
    for (int64_t i = 0; i < weights.length; ++i)
      weights.integers.push_back(int64_t(view.get(i, column)));
    size_t own = parameters.axis < 0 ? 0 : column;
    weights.scales.push_back(float(parameters.scales[own]));
    weights.zeroPoints.push_back(parameters.zeroPoints[own]);
  }
  return weights;
}

/// Returns the weights of a product that multiplies by `value` or, if
/// `transposed`, by its transpose; nullopt if they are not dequantized
/// constants.
static std::optional<BlockWeights> getWeights(Value value, bool transposed) {
  if (auto transpose = value.getDefiningOp<TransposeOp>())
    if (transpose.getPermutation() == ArrayRef<int64_t>{1, 0})
      return getWeights(transpose.getX(), !transposed);
  if (auto op = value.getDefiningOp<qnn::DequantizeBlocksOp>())
    return read(op, transposed);
  if (auto op = value.getDefiningOp<qnn::DequantizeOp>())
    return read(op, transposed);
  return std::nullopt;
}

/// Creates a constant [rows][columns] of bytes or floats.
template <class T, class Values>
static Value makeConstant(PatternRewriter &rewriter, Location loc, Type element,
                          int64_t rows, const Values &values, StringRef name) {
  auto type =
      RankedTensorType::get({rows, int64_t(values.size()) / rows}, element);
  TensorData data = TensorData::allocate(type);
  llvm::copy(values, data.getMutable<T>());
  return rewriter.create<ConstantOp>(loc, data.toAttribute(name));
}

/// Creates the product of `x` with the transpose of constant weights that are
/// dequantized to `w`, or with `w` itself; null where they cannot stay
/// compressed. The result has the shape of x, but for its last axis.
static Value multiply(PatternRewriter &rewriter, Location loc, Value x, Value w,
                      bool transposed) {
  // If the input is quantized, too, the product uses floats only because these
  // are faster than integers. It has many rows, for which decoding the weights
  // would take too long.
  if (getDequantized(x))
    return {};
  auto weights = getWeights(w, transposed);
  if (!weights ||
      (weights->block % 8 != 0 && weights->block != weights->length))
    return {};
  int64_t bits = weights->makeUnsigned(), columns = weights->columns;
  if (!bits)
    return {};
  if (llvm::all_equal(weights->zeroPoints))
    weights->zeroPoints.resize(1);
  Type byte = rewriter.getIntegerType(8, /*isSigned=*/false);
  Value q = makeConstant<uint8_t>(rewriter, loc, byte, columns,
                                  weights->integers, "weight");
  Value scales = makeConstant<float>(rewriter, loc, rewriter.getF32Type(),
                                     columns, weights->scales, "scales");
  int64_t rows = weights->zeroPoints.size() == 1 ? 1 : columns;
  Value zeros = makeConstant<uint8_t>(rewriter, loc, byte, rows,
                                      weights->zeroPoints, "zero_points");
  SmallVector<int64_t> shape(getTensorType(x).getShape());
  shape.back() = columns;
  return rewriter.create<BlockMatMulOp>(loc, getTensorType(x).clone(shape), x,
                                        q, scales, zeros, bits, weights->block);
}

namespace {
struct KeepWeightsCompressed : OpRewritePattern<MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatMulOp matmul,
                                PatternRewriter &rewriter) const override {
    RankedTensorType a = getTensorType(matmul.getA());
    RankedTensorType b = getTensorType(matmul.getB());
    if (!a.getElementType().isF32() || matmul.getTransposeA() ||
        b.getRank() != 2 || b.getNumElements() == 0)
      return failure();
    Value y = multiply(rewriter, matmul.getLoc(), matmul.getA(), matmul.getB(),
                       matmul.getTransposeB());
    if (!y)
      return rewriter.notifyMatchFailure(matmul, "no suitable constant");
    rewriter.replaceOp(matmul, y);
    return success();
  }
};

/// Replaces a 1 x 1 convolution of an image with a single pixel, which is a
/// matrix product.
struct KeepFiltersCompressed : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvOp conv,
                                PatternRewriter &rewriter) const override {
    RankedTensorType x = getTensorType(conv.getX()), y = conv.getType();
    ArrayRef<int64_t> shape = x.getShape();
    if (!x.getElementType().isF32() || conv.getGroups() != 1 ||
        !conv.isPointwise() || product(shape.drop_front(2)) != 1 ||
        getTensorType(conv.getW()).getNumElements() == 0)
      return failure();
    Location loc = conv.getLoc();
    Value rows = rewriter.create<ReshapeOp>(loc, x.clone(shape.take_front(2)),
                                            conv.getX());
    Value product = multiply(rewriter, loc, rows, conv.getW(), true);
    if (!product) {
      rewriter.eraseOp(rows.getDefiningOp());
      return failure();
    }
    rewriter.replaceOpWithNewOp<ReshapeOp>(conv, y, product);
    return success();
  }
};
} // namespace

void nnc::populateBlockWeights(RewritePatternSet &patterns) {
  patterns.add<KeepWeightsCompressed, KeepFiltersCompressed>(
      patterns.getContext());
  populateByteWeights(patterns);
}
