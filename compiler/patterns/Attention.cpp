//===- Attention.cpp - Attention that is written out ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Constants.h"
#include "compiler/patterns/Patterns.h"
#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// Where the elements of an operand lie
//===----------------------------------------------------------------------===//

namespace {
/// A strided view of a tensor: element i, an index of `shape`, is element start
/// + i . strides of the other tensor in row-major order.
struct View {
  SmallVector<int64_t> shape, strides;
  int64_t start = 0;
};
} // namespace

/// Returns the view of the same elements in another shape; nullopt if that is
/// not a strided view.
static std::optional<View> reshapeView(const View &view,
                                       ArrayRef<int64_t> shape) {
  SmallVector<std::pair<int64_t, int64_t>> old;
  for (auto [dim, stride] : llvm::zip_equal(view.shape, view.strides))
    if (dim != 1)
      old.push_back({dim, stride});
  View result{SmallVector<int64_t>(shape),
              SmallVector<int64_t>(shape.size(), 0), view.start};
  size_t axis = 0;
  for (size_t i = 0; i < old.size(); ++i) {
    // Collects axes of the old and of the new shape until both groups have the
    // same number of elements.
    auto [have, stride] = old[i];
    int64_t want = 1;
    size_t first = axis;
    while (want != have) {
      if (want < have) {
        want *= shape[axis++];
        continue;
      }
      auto [dim, inner] = old[++i];
      if (stride != dim * inner)
        return std::nullopt;
      have *= dim;
      stride = inner;
    }
    for (size_t a = axis; a-- > first;) {
      result.strides[a] = stride;
      stride *= shape[a];
    }
  }
  return result;
}

/// Returns `value` as a view of `base`, from which reshapes, transposes and
/// slices compute it; nullopt if it is not a strided view.
static std::optional<View> getView(Value value, Value base) {
  ArrayRef<int64_t> shape = getTensorType(value).getShape();
  if (value == base)
    return View{SmallVector<int64_t>(shape), getStrides(shape)};
  Operation *op = value.getDefiningOp();
  std::optional<View> view = getView(op->getOperand(0), base);
  if (!view)
    return std::nullopt;
  if (isa<ReshapeOp>(op))
    return reshapeView(*view, shape);
  View result{SmallVector<int64_t>(shape), {}, view->start};
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (int64_t axis : transpose.getPermutation())
      result.strides.push_back(view->strides[axis]);
    return result;
  }
  auto slice = cast<SliceOp>(op);
  for (auto [stride, start, step] :
       llvm::zip_equal(view->strides, slice.getStarts(), slice.getSteps())) {
    result.start += start * stride;
    result.strides.push_back(step * stride);
  }
  return result;
}

namespace {
/// An operand of nn.attention: `base`, reshaped to `type`, from column `start`
/// on.
struct Heads {
  Value base;
  RankedTensorType type;
  int64_t start;
};
} // namespace

/// Returns the operand of nn.attention that reads `view`, of shape [batch,
/// heads, rows, size], from `base`; nullopt if nn.attention cannot read it.
static std::optional<Heads> getHeads(const View &view, Value base) {
  RankedTensorType type = getTensorType(base);
  int64_t batch = view.shape[0], heads = view.shape[1], rows = view.shape[2],
          size = view.shape[3], elements = type.getNumElements();
  auto steps = [&](unsigned axis, int64_t stride) {
    return view.shape[axis] == 1 || view.strides[axis] == stride;
  };
  int64_t columns = elements / (batch * rows);
  if (elements == batch * rows * columns &&
      view.start + heads * size <= columns && steps(0, rows * columns) &&
      steps(1, size) && steps(2, columns) && steps(3, 1))
    return Heads{base, withShape(type, {batch, rows, columns}), view.start};
  if (elements == product(view.shape) && steps(0, heads * rows * size) &&
      steps(1, rows * size) && steps(2, size) && steps(3, 1))
    return Heads{base, withShape(type, view.shape), 0};
  return std::nullopt;
}

/// Returns `shape` with leading axes of size 1 so that it has the axes batch,
/// heads, rows and columns. A batch of matrices without heads thereby becomes
/// the heads of one batch.
static SmallVector<int64_t> padToHeads(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> padded(4 - shape.size(), 1);
  llvm::append_range(padded, shape);
  return padded;
}

/// Returns the operand of nn.attention for `value`, whose matrices have one row
/// for each key or query or, if `isTurned`, one column. To make reshapes,
/// transposes and slices unnecessary, it reads the earliest value that it can.
static Heads findHeads(Value value, bool isTurned, PatternRewriter &rewriter) {
  SmallVector<Value> bases = {value};
  while (isa_and_nonnull<ReshapeOp, TransposeOp, SliceOp>(
      bases.back().getDefiningOp()))
    bases.push_back(bases.back().getDefiningOp()->getOperand(0));
  SmallVector<int64_t> shape = padToHeads(getTensorType(value).getShape());
  for (Value base : llvm::reverse(bases)) {
    std::optional<View> view = getView(value, base);
    view = view ? reshapeView(*view, shape) : std::nullopt;
    if (!view)
      continue;
    if (isTurned) {
      std::swap(view->shape[2], view->shape[3]);
      std::swap(view->strides[2], view->strides[3]);
    }
    if (std::optional<Heads> heads = getHeads(*view, base))
      return *heads;
  }
  // No value has the keys or queries as rows in memory, so that a transpose is
  // needed.
  auto order =
      llvm::to_vector(llvm::seq<int64_t>(0, getTensorType(value).getRank()));
  std::swap(order[order.size() - 2], order.back());
  Value rows = rewriter.create<TransposeOp>(value.getLoc(), value, order);
  std::swap(shape[2], shape[3]);
  return {rows, withShape(getTensorType(rows), shape), 0};
}

//===----------------------------------------------------------------------===//
// How the scores are made
//===----------------------------------------------------------------------===//

/// A number that is so low that a score to which it is added has no weight in
/// the softmax.
static constexpr double kHides = -1e30;

namespace {
/// A mask that is added to the scores: `value` times `factor`. If
/// `isCondition`, `value` is a condition instead, and the mask is `hidden`
/// where the condition equals `hides`, and 0 elsewhere.
struct Mask {
  Value value;
  double factor = 1;
  double hidden = 0;
  bool isCondition = false, hides = true;
};

/// Scores in the form scale * product + the sum of the masks.
struct Scores {
  MatMulOp product;
  double scale = 1;
  SmallVector<Mask> masks;
};
} // namespace

/// Returns the other operand if `value` is a multiplication or division by a
/// single number, and multiplies that number into `scale`; else returns null.
static Value getUnscaled(Value value, double &scale) {
  if (auto mul = value.getDefiningOp<MulOp>())
    for (auto [x, factor] :
         {std::pair(mul.getA(), mul.getB()), std::pair(mul.getB(), mul.getA())})
      if (std::optional<double> number = getUniformReal(factor);
          number && x.getType() == value.getType()) {
        scale *= *number;
        return x;
      }
  if (auto div = value.getDefiningOp<DivOp>())
    if (std::optional<double> number = getUniformReal(div.getB());
        number && div.getA().getType() == value.getType()) {
      scale /= *number;
      return div.getA();
    }
  return {};
}

static Value getAllUnscaled(Value value, double &scale) {
  while (Value x = getUnscaled(value, scale))
    value = x;
  return value;
}

/// Sets `scores` from `value` and the ops that compute it. Returns false if
/// these are not of that form or if a value has several uses.
static bool findScores(Value value, Scores &scores) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse())
    return false;
  if (auto product = dyn_cast<MatMulOp>(op)) {
    scores.product = product;
    return true;
  }
  if (Value x = getUnscaled(value, scores.scale))
    return findScores(x, scores);
  auto findIn = [&](Value x, const Mask &mask) {
    Scores attempt = scores;
    attempt.masks.push_back(mask);
    if (x.getType() != value.getType() || !findScores(x, attempt))
      return false;
    scores = attempt;
    return true;
  };
  if (auto add = dyn_cast<AddOp>(op))
    return findIn(add.getA(), {add.getB(), scores.scale}) ||
           findIn(add.getB(), {add.getA(), scores.scale});
  if (auto select = dyn_cast<SelectOp>(op)) {
    for (bool hides : {true, false}) {
      std::optional<double> hidden =
          getUniformReal(hides ? select.getA() : select.getB());
      if (hidden && *hidden * scores.scale <= kHides &&
          findIn(
              hides ? select.getB() : select.getA(),
              {select.getCondition(), 1, *hidden * scores.scale, true, hides}))
        return true;
    }
  }
  return false;
}

/// Creates the sum of all masks in the shape that nn.attention reads; null if
/// there are none.
static Value createMask(ArrayRef<Mask> masks, Type element,
                        PatternRewriter &rewriter) {
  Value sum;
  for (const Mask &mask : masks) {
    Location location = mask.value.getLoc();
    auto number = [&](double value) -> Value {
      return rewriter.create<ConstantOp>(
          location,
          DenseElementsAttr::get(RankedTensorType::get({}, element),
                                 rewriter.getFloatAttr(element, value)));
    };
    Value added = mask.value;
    if (mask.isCondition)
      added = rewriter.create<SelectOp>(location, added,
                                        number(mask.hides ? mask.hidden : 0),
                                        number(mask.hides ? 0 : mask.hidden));
    else if (mask.factor != 1)
      added = rewriter.create<MulOp>(location, added, number(mask.factor));
    sum = sum ? rewriter.create<AddOp>(location, sum, added) : added;
  }
  if (!sum)
    return sum;
  RankedTensorType type = getTensorType(sum);
  return rewriter.createOrFold<ReshapeOp>(
      sum.getLoc(), withShape(type, padToHeads(type.getShape())), sum);
}

//===----------------------------------------------------------------------===//
// softmax(scores) . v
//===----------------------------------------------------------------------===//

namespace {
struct RecomposeAttention : OpRewritePattern<MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatMulOp op,
                                PatternRewriter &rewriter) const override {
    auto softmax = op.getA().getDefiningOp<SoftmaxOp>();
    RankedTensorType type = op.getType();
    int64_t last = type.getRank() - 1;
    if (!softmax || !softmax->hasOneUse() || softmax.getLog() ||
        static_cast<int64_t>(softmax.getAxis()) != last || op.getTransposeA() ||
        last > 3 || !isReal(op))
      return failure();
    Scores scores;
    if (!findScores(softmax.getX(), scores) ||
        scores.product.getType() != softmax.getType())
      return failure();
    MatMulOp product = scores.product;
    int64_t keys = product.getType().getDimSize(last);
    for (const Mask &mask : scores.masks) {
      ArrayRef<int64_t> shape = getTensorType(mask.value).getShape();
      if (shape.empty() || shape.back() != keys)
        return failure();
    }
    Value q = getAllUnscaled(product.getA(), scores.scale);
    Value k = getAllUnscaled(product.getB(), scores.scale);
    // Routines take the scale as a float.
    if (type.getElementType().isF64() &&
        static_cast<double>(static_cast<float>(scores.scale)) != scores.scale)
      return failure();
    Value v = op.getB();
    for (Value value : {q, k, v}) {
      RankedTensorType own = getTensorType(value);
      if (own.getNumElements() == 0 ||
          own.getShape().drop_back(2) != type.getShape().drop_back(2))
        return failure();
    }

    Location location = op.getLoc();
    SmallVector<Value> operands;
    SmallVector<int64_t> starts;
    for (auto [value, isTurned] : {std::pair(q, product.getTransposeA()),
                                   std::pair(k, !product.getTransposeB()),
                                   std::pair(v, op.getTransposeB())}) {
      Heads heads = findHeads(value, isTurned, rewriter);
      operands.push_back(
          rewriter.createOrFold<ReshapeOp>(location, heads.type, heads.base));
      starts.push_back(heads.start);
    }
    Value mask = createMask(scores.masks, type.getElementType(), rewriter);
    SmallVector<int64_t> shape = padToHeads(type.getShape());
    int64_t dim = getTensorType(q).getDimSize(last - product.getTransposeA());
    Value y = rewriter.create<AttentionOp>(
        location, operands[0], operands[1], operands[2], mask,
        rewriter.getI64IntegerAttr(shape[1]), rewriter.getI64IntegerAttr(dim),
        rewriter.getI64IntegerAttr(shape[3]),
        rewriter.getDenseI64ArrayAttr(starts),
        rewriter.getF64FloatAttr(scores.scale));
    y = rewriter.create<ReshapeOp>(
        location, withShape(type, {shape[0], shape[2], shape[1], shape[3]}), y);
    y = rewriter.create<TransposeOp>(location, y,
                                     ArrayRef<int64_t>{0, 2, 1, 3});
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, type, y);
    return success();
  }
};
} // namespace

void nnc::populateAttention(RewritePatternSet &patterns) {
  patterns.add<RecomposeAttention>(patterns.getContext());
}
