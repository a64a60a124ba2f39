//===- Identities.cpp - Ops and operands that change nothing --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/Constants.h"
#include "compiler/patterns/Patterns.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

std::optional<SmallVector<int64_t>> nnc::joinPads(PadOp pad,
                                                  ArrayRef<int64_t> pads) {
  ArrayRef<int64_t> outer = pad.getPads();
  size_t rank = outer.size() / 2, spatial = rank - 2;
  if (llvm::any_of(outer, [](int64_t size) { return size < 0; }) ||
      outer[0] != 0 || outer[1] != 0 || outer[rank] != 0 ||
      outer[rank + 1] != 0)
    return std::nullopt;
  SmallVector<int64_t> joined(pads);
  for (size_t i = 0; i < spatial; ++i) {
    joined[i] += outer[2 + i];
    joined[spatial + i] += outer[rank + 2 + i];
  }
  return joined;
}

namespace {
/// A neutral element of a binary function: `function(x, value)` is x; with
/// `either`, `function(value, x)` is x as well.
struct Neutral {
  StringLiteral function;
  double value;
  bool either;
};
} // namespace

// Note that x + 0 turns -0 into +0. This is the only difference that these
// rewrites ignore.
static constexpr Neutral kNeutral[] = {
    {"add", 0, true},         {"bit_or", 0, true},      {"bit_xor", 0, true},
    {"div", 1, false},        {"logical_and", 1, true}, {"logical_or", 0, true},
    {"logical_xor", 0, true}, {"mul", 1, true},         {"pow", 1, false},
    {"sub", 0, false},
};

namespace {
struct DropNeutralOperand : OpInterfaceRewritePattern<ElementwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(ElementwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumOperands() != 2)
      return failure();
    for (const Neutral &neutral : kNeutral) {
      if (op.getFunction() != neutral.function)
        continue;
      for (unsigned i : {1u, 0u}) {
        Value other = op->getOperand(1 - i);
        // A constant that broadcasts x changes its shape, so that it is not
        // neutral.
        if ((i == 0 && !neutral.either) ||
            other.getType() != op->getResult(0).getType() ||
            getUniformValue(op->getOperand(i)) != neutral.value)
          continue;
        rewriter.replaceOp(op, other);
        return success();
      }
    }
    return failure();
  }
};

/// Removes an expand in front of an elementwise op, which broadcasts by itself,
/// if the other operands still give the result its shape.
struct DropExpandedOperand : OpInterfaceRewritePattern<ElementwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(ElementwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type)
      return failure();
    for (OpOperand &operand : op->getOpOperands()) {
      auto expand = operand.get().getDefiningOp<ExpandOp>();
      if (!expand)
        continue;
      SmallVector<ArrayRef<int64_t>> shapes;
      for (OpOperand &other : op->getOpOperands()) {
        Value value = &other == &operand ? expand.getX() : other.get();
        shapes.push_back(cast<RankedTensorType>(value.getType()).getShape());
      }
      auto shape = broadcastShapes(shapes);
      if (!shape || ArrayRef<int64_t>(*shape) != type.getShape())
        continue;
      rewriter.modifyOpInPlace(op, [&] { operand.set(expand.getX()); });
      return success();
    }
    return failure();
  }
};

/// Folds a padding with zeros into the padding of the convolution that reads
/// it.
struct PadIntoConv : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvOp conv,
                                PatternRewriter &rewriter) const override {
    auto pad = conv.getX().getDefiningOp<PadOp>();
    if (!pad || pad.getMode() != PadMode::constant || !pad.getValue().isZero())
      return failure();
    auto pads = joinPads(pad, conv.getPads());
    if (!pads)
      return failure();
    rewriter.modifyOpInPlace(conv, [&] {
      conv.getXMutable().assign(pad.getX());
      conv.setPads(*pads);
    });
    return success();
  }
};

/// Cuts a pooling window that reaches beyond the padded input to the size of
/// that input, along axes with a single window. Elements beyond the padding
/// never count, but routines that do not know this would visit all of them.
/// Exporters write the pooling of whole planes with a window of any size that
/// is large enough.
template <class Op> struct CutWindow : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op pool,
                                PatternRewriter &rewriter) const override {
    SmallVector<int64_t> kernel(pool.getKernel()), strides(pool.getStrides());
    ArrayRef<int64_t> in = pool.getX().getType().getShape().drop_front(2),
                      out = pool.getY().getType().getShape().drop_front(2),
                      pads = pool.getPads();
    bool isCut = false;
    for (auto [i, size] : llvm::enumerate(kernel)) {
      int64_t most = pads[i] + in[i] + pads[kernel.size() + i];
      if (out[i] != 1 || size <= most || most < 1 ||
          pool.getDilations()[i] != 1)
        continue;
      size = most;
      strides[i] = 1;
      isCut = true;
    }
    if (!isCut)
      return failure();
    rewriter.modifyOpInPlace(pool, [&] {
      pool.setKernel(kernel);
      pool.setStrides(strides);
    });
    return success();
  }
};

/// Turns a gather with one constant index into a slice, which can be a view.
struct GatherToSlice : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp gather,
                                PatternRewriter &rewriter) const override {
    std::optional<TensorData> indices = TensorData::get(gather.getIndices());
    if (!indices || indices->getNumElements() != 1)
      return failure();
    RankedTensorType x = gather.getX().getType();
    int64_t axis = gather.getAxis(), size = x.getDimSize(axis);
    auto index = static_cast<int64_t>(indices->getReal(0));
    index = index < 0 ? index + size : index;
    if (index < 0 || index >= size)
      return rewriter.notifyMatchFailure(gather, "the index is out of bounds");
    SmallVector<int64_t> starts(x.getRank(), 0), steps(x.getRank(), 1);
    SmallVector<int64_t> sizes(x.getShape());
    starts[axis] = index;
    sizes[axis] = 1;
    Value slice = rewriter.create<SliceOp>(gather.getLoc(), gather.getX(),
                                           starts, sizes, steps);
    rewriter.replaceOpWithNewOp<ReshapeOp>(gather, gather.getType(), slice);
    return success();
  }
};

/// Turns a reduction over axes of size 1 into a reshape.
struct ReduceOfOneElement : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp reduce,
                                PatternRewriter &rewriter) const override {
    RankedTensorType x = reduce.getX().getType();
    if (llvm::any_of(reduce.getAxes(),
                     [&](int64_t axis) { return x.getDimSize(axis) != 1; }))
      return failure();
    switch (reduce.getKind()) {
    case ReduceKind::sum:
    case ReduceKind::mean:
    case ReduceKind::max:
    case ReduceKind::min:
    case ReduceKind::prod:
      rewriter.replaceOpWithNewOp<ReshapeOp>(reduce, reduce.getType(),
                                             reduce.getX());
      return success();
    default:
      return failure();
    }
  }
};
} // namespace

void nnc::populateIdentities(RewritePatternSet &patterns) {
  patterns.add<DropNeutralOperand, DropExpandedOperand, PadIntoConv,
               CutWindow<AvgPoolOp>, CutWindow<MaxPoolOp>, GatherToSlice,
               ReduceOfOneElement>(patterns.getContext());
}
