//===- Volumes.cpp - Rewrites 3-D convolutions to 2-D ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Routines convolve images. A convolution over depth, height and width is the
// sum, over the filter's taps along the depth, of convolutions of the slices of
// the input that lie at the tap. With the depth as the first axis these slices
// are a part of the input's memory, so that the sum takes no more memory than
// the result, and each convolution has all routines and layouts that images
// have. Elementwise ops behind the sum move into the epilogue of its last
// convolution.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/legalize/LegalForms.h"

#include "dialects/nn/Nn.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
/// A sliding window over two of the three axes.
struct PlaneWindow {
  SmallVector<int64_t> strides, dilations, pads;
};

/// A builder of the ops that replace one op over three axes.
class VolumeBuilder {
public:
  VolumeBuilder(PatternRewriter &rewriter, Location location)
      : rewriter(rewriter), location(location) {}

  template <class Op, class... Args> Value make(Args... args) {
    return rewriter.createOrFold<Op>(location, args...);
  }
  Value reshape(Value x, ArrayRef<int64_t> shape) {
    if (getTensorType(x).getShape() == shape)
      return x;
    return make<ReshapeOp>(
        RankedTensorType::get(shape, getTensorType(x).getElementType()), x);
  }
  /// Returns the slice of `x` with `size` indices along `axis`, from `start` on
  /// in steps of `step`.
  Value slice(Value x, int64_t axis, int64_t start, int64_t size,
              int64_t step = 1) {
    SmallVector<int64_t> sizes(getTensorType(x).getShape());
    if (start == 0 && size == sizes[axis])
      return x;
    SmallVector<int64_t> starts(sizes.size(), 0), steps(sizes.size(), 1);
    starts[axis] = start;
    sizes[axis] = size;
    steps[axis] = step;
    return make<SliceOp>(x, starts, sizes, steps);
  }
  Value padFirst(Value x, int64_t before, int64_t after, double value) {
    if (before == 0 && after == 0)
      return x;
    int64_t rank = getTensorType(x).getRank();
    SmallVector<int64_t> pads(2 * rank, 0);
    pads[0] = before;
    pads[rank] = after;
    return make<PadOp>(PadMode::constant, x, pads, APFloat(value));
  }
  /// Transposes [n, c, d, h, w] to [d, n, c, h, w].
  Value toDepthFirst(Value x) {
    return make<TransposeOp>(x, ArrayRef<int64_t>{2, 0, 1, 3, 4});
  }
  Value fromDepthFirst(Value y) {
    return make<TransposeOp>(y, ArrayRef<int64_t>{1, 2, 0, 3, 4});
  }
  /// Merges the first two axes into one.
  Value joinFirst(Value x) {
    ArrayRef<int64_t> shape = getTensorType(x).getShape();
    SmallVector<int64_t> joined = {shape[0] * shape[1]};
    llvm::append_range(joined, shape.drop_front(2));
    return reshape(x, joined);
  }
  /// Returns the part of a rank 5 filter at one tap along the depth.
  Value getTap(Value w, int64_t tap) {
    SmallVector<int64_t> shape(getTensorType(w).getShape());
    shape.erase(shape.begin() + 2);
    return reshape(slice(w, 2, tap, 1), shape);
  }

private:
  PatternRewriter &rewriter;
  Location location;
};

/// The elementwise ops behind an op over three axes that can be applied to
/// images, before these are reshaped to the op's result. Their other operands
/// are constants with one value or one value per channel.
class VolumeEpilogue {
public:
  explicit VolumeEpilogue(Value result) : last(result) {
    while (last.hasOneUse()) {
      Operation *user = *last.getUsers().begin();
      if (!mayMove(user))
        break;
      ops.push_back(user);
      last = user->getResult(0);
    }
  }
  /// Returns the value that the rewritten ops replace.
  Value getLast() const { return last; }
  Operation *getLastOp() const { return last.getDefiningOp(); }

  /// Applies the ops to images [n, k, h, w].
  Value apply(PatternRewriter &rewriter, Value planes) const {
    for (Operation *op : ops) {
      IRMapping mapping;
      for (Value operand : op->getOperands())
        mapping.map(operand, operand.getDefiningOp<ConstantOp>()
                                 ? dropAxes(rewriter, operand)
                                 : planes);
      Operation *moved = rewriter.clone(*op, mapping);
      Type element = getElementTypeOrSelf(op->getResult(0).getType());
      moved->getResult(0).setType(
          RankedTensorType::get(getTensorType(planes).getShape(), element));
      planes = moved->getResult(0);
    }
    return planes;
  }

private:
  bool mayMove(Operation *op) const {
    if (!isa<ElementwiseOpInterface>(op) || op->getNumResults() != 1 ||
        getTensorType(op->getResult(0)).getShape() !=
            getTensorType(last).getShape())
      return false;
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return operand == last ||
             (operand.getDefiningOp<ConstantOp>() && isOfChannels(operand));
    });
  }
  static bool isOfChannels(Value constant) {
    RankedTensorType type = getTensorType(constant);
    int64_t channels =
        type.getRank() < 4 ? 1 : type.getDimSize(type.getRank() - 4);
    return type.getNumElements() == channels;
  }
  static Value dropAxes(PatternRewriter &rewriter, Value constant) {
    RankedTensorType type = getTensorType(constant);
    if (type.getRank() < 4)
      return constant;
    return rewriter.createOrFold<ReshapeOp>(
        constant.getLoc(),
        RankedTensorType::get({type.getNumElements(), 1, 1},
                              type.getElementType()),
        constant);
  }

  SmallVector<Operation *> ops;
  Value last;
};
} // namespace

/// Returns the first of two neighbouring axes along which the window does not
/// slide, so that both can be merged into one: 0 for depth and height, 1 for
/// height and width. Returns nullopt if there are none.
template <class Op>
static std::optional<size_t> findFlatAxes(Op op, ArrayRef<int64_t> more) {
  ArrayRef<int64_t> kernel = getTensorType(op.getW()).getShape().drop_front(2),
                    pads = op.getPads();
  auto isFlat = [&](size_t axis) {
    return kernel[axis] == 1 && op.getStrides()[axis] == 1 && pads[axis] == 0 &&
           pads[3 + axis] == 0 && (more.empty() || more[axis] == 0);
  };
  for (size_t first : {1, 0})
    if (isFlat(first) && isFlat(first + 1))
      return first;
  return std::nullopt;
}

/// Returns a list of one value per axis, of three axes, after axis `first` and
/// the next one have been merged.
static SmallVector<int64_t> dropAxis(ArrayRef<int64_t> list, size_t first) {
  SmallVector<int64_t> kept;
  for (auto [i, value] : llvm::enumerate(list))
    if (i % 3 != first)
      kept.push_back(value);
  return kept;
}

/// Returns a shape after the spatial axes `first` and `first` + 1 of three have
/// been merged.
static SmallVector<int64_t> joinAxes(ArrayRef<int64_t> shape, size_t first) {
  SmallVector<int64_t> joined(shape);
  joined[first + 2] *= joined[first + 3];
  joined.erase(joined.begin() + first + 3);
  return joined;
}

/// Returns the part of a window over three axes along height and width.
template <class Op> static PlaneWindow getPlaneWindow(Op op) {
  return {dropAxis(op.getStrides(), 0), dropAxis(op.getDilations(), 0),
          dropAxis(op.getPads(), 0)};
}

namespace {
struct SplitConv : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvOp conv,
                                PatternRewriter &rewriter) const override {
    if (conv.getX().getType().getRank() != 5)
      return failure();
    if (auto first = findFlatAxes(conv, {}))
      return joinFlatAxes(conv, *first, rewriter);
    if (coversDepth(conv))
      return joinChannels(conv, rewriter);
    return sumTaps(conv, rewriter);
  }

private:
  static Value makeConv(VolumeBuilder &build, ConvOp conv, Value x, Value w,
                        const PlaneWindow &window) {
    return build.make<ConvOp>(x, w, window.strides, window.dilations,
                              window.pads, conv.getGroups(),
                              conv.getAccumulatorAttr(), conv.getFill());
  }

  static LogicalResult joinFlatAxes(ConvOp conv, size_t first,
                                    PatternRewriter &rewriter) {
    VolumeEpilogue epilogue(conv.getY());
    rewriter.setInsertionPoint(epilogue.getLastOp());
    VolumeBuilder build(rewriter, conv.getLoc());
    Value x = build.reshape(conv.getX(),
                            joinAxes(conv.getX().getType().getShape(), first)),
          w = build.reshape(conv.getW(),
                            joinAxes(conv.getW().getType().getShape(), first));
    Value y = makeConv(build, conv, x, w,
                       {dropAxis(conv.getStrides(), first),
                        dropAxis(conv.getDilations(), first),
                        dropAxis(conv.getPads(), first)});
    y = epilogue.apply(rewriter, y);
    rewriter.replaceAllUsesWith(epilogue.getLast(),
                                build.reshape(y, conv.getType().getShape()));
    return success();
  }

  /// Returns true if each filter has exactly one position along the depth and
  /// covers all of it.
  static bool coversDepth(ConvOp conv) {
    int64_t kernel = conv.getW().getType().getDimSize(2);
    return kernel == conv.getX().getType().getDimSize(2) &&
           (kernel == 1 || conv.getDilations()[0] == 1) &&
           conv.getPads()[0] == 0 && conv.getPads()[3] == 0;
  }
  /// Rewrites a convolution for which coversDepth() holds: the depth slices of
  /// the input become further channels of an image.
  static LogicalResult joinChannels(ConvOp conv, PatternRewriter &rewriter) {
    VolumeEpilogue epilogue(conv.getY());
    rewriter.setInsertionPoint(epilogue.getLastOp());
    VolumeBuilder build(rewriter, conv.getLoc());
    auto join = [&](Value value) {
      ArrayRef<int64_t> s = getTensorType(value).getShape();
      return build.reshape(value, {s[0], s[1] * s[2], s[3], s[4]});
    };
    Value y = makeConv(build, conv, join(conv.getX()), join(conv.getW()),
                       getPlaneWindow(conv));
    y = epilogue.apply(rewriter, y);
    rewriter.replaceAllUsesWith(epilogue.getLast(),
                                build.reshape(y, conv.getType().getShape()));
    return success();
  }

  static LogicalResult sumTaps(ConvOp conv, PatternRewriter &rewriter) {
    VolumeEpilogue epilogue(conv.getY());
    rewriter.setInsertionPoint(epilogue.getLastOp());
    VolumeBuilder build(rewriter, conv.getLoc());
    RankedTensorType x = conv.getX().getType(), w = conv.getW().getType(),
                     y = conv.getType();
    int64_t taps = w.getDimSize(2), depth = y.getDimSize(2),
            stride = conv.getStrides()[0], dilation = conv.getDilations()[0],
            before = conv.getPads()[0], after = conv.getPads()[3],
            fill = static_cast<int64_t>(conv.getFill());
    Value padded = build.padFirst(build.toDepthFirst(conv.getX()), before,
                                  after, static_cast<double>(fill));
    PlaneWindow window = getPlaneWindow(conv);
    SmallVector<Value> slices;
    SmallVector<int64_t> used;
    for (int64_t tap = 0; tap < taps; ++tap) {
      // A tap that only reads padding adds nothing.
      int64_t low = tap * dilation - before, high = low + (depth - 1) * stride;
      bool isOutside = high < 0 || low >= x.getDimSize(2);
      bool isLast = tap == taps - 1 && used.empty();
      if (isOutside && fill == 0 && !isLast)
        continue;
      used.push_back(tap);
      slices.push_back(build.joinFirst(
          build.slice(padded, 0, tap * dilation, depth, stride)));
    }
    Value planes;
    if (static_cast<int64_t>(used.size()) == taps && takesFewChannels(conv)) {
      planes = makeConv(build, conv, joinSlices(build, slices),
                        joinTaps(build, conv.getW()), window);
    } else {
      for (auto [slice, tap] : llvm::zip(slices, used)) {
        Value part = makeConv(build, conv, slice,
                              build.getTap(conv.getW(), tap), window);
        planes = planes ? build.make<AddOp>(part, planes) : part;
      }
    }
    planes = epilogue.apply(rewriter, planes);
    SmallVector<int64_t> shape = {depth, y.getDimSize(0), y.getDimSize(1),
                                  y.getDimSize(3), y.getDimSize(4)};
    Value volume = build.fromDepthFirst(build.reshape(planes, shape));
    rewriter.replaceAllUsesWith(epilogue.getLast(), volume);
    return success();
  }

  /// Returns true if the slices of all taps, concatenated as channels, take no
  /// more memory than the result. Then one convolution of them is faster than a
  /// sum of convolutions, because routines multiply several channels at a time.
  static bool takesFewChannels(ConvOp conv) {
    RankedTensorType x = conv.getX().getType(), y = conv.getType();
    int64_t taps = conv.getW().getType().getDimSize(2);
    int64_t slices = x.getNumElements() / x.getDimSize(2) * y.getDimSize(2);
    return conv.getGroups() == 1 && slices * taps <= y.getNumElements();
  }
  static Value joinSlices(VolumeBuilder &build, ArrayRef<Value> slices) {
    ArrayRef<int64_t> s = getTensorType(slices[0]).getShape();
    SmallVector<Value> parts;
    for (Value slice : slices)
      parts.push_back(build.reshape(slice, {s[0], s[1], 1, s[2] * s[3]}));
    Value all = build.make<ConcatOp>(ValueRange(parts), int64_t(2));
    int64_t taps = slices.size();
    return build.reshape(all, {s[0], s[1] * taps, s[2], s[3]});
  }
  static Value joinTaps(VolumeBuilder &build, Value w) {
    ArrayRef<int64_t> s = getTensorType(w).getShape();
    return build.reshape(w, {s[0], s[1] * s[2], s[3], s[4]});
  }
};

/// Rewrites a transposed convolution over three axes. Its result consists of
/// `stride` interleaved parts along the depth; each is a sum over the taps that
/// reach it.
struct SplitConvTranspose : OpRewritePattern<ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvTransposeOp conv,
                                PatternRewriter &rewriter) const override {
    if (conv.getX().getType().getRank() != 5)
      return failure();
    if (auto first = findFlatAxes(conv, conv.getOutputPadding()))
      return joinFlatAxes(conv, *first, rewriter);
    VolumeEpilogue epilogue(conv.getY());
    rewriter.setInsertionPoint(epilogue.getLastOp());
    VolumeBuilder build(rewriter, conv.getLoc());
    RankedTensorType y = conv.getType();
    int64_t taps = conv.getW().getType().getDimSize(2),
            stride = conv.getStrides()[0], dilation = conv.getDilations()[0],
            before = conv.getPads()[0], depth = y.getDimSize(2);
    // Element m of part r is at m * stride + r before the result is cropped;
    // the elements from `first` to `end` of each part are needed. A tap moves
    // the input by `shift` elements, at most by `reach`.
    int64_t first = before / stride,
            end = llvm::divideCeil(before + depth, stride), count = end - first,
            reach = (taps - 1) * dilation / stride,
            size = conv.getX().getType().getDimSize(2);
    Value padded = build.padFirst(build.toDepthFirst(conv.getX()), reach,
                                  std::max<int64_t>(end - size, 0), 0);
    SmallVector<int64_t> shape = {count,           1,
                                  y.getDimSize(0), y.getDimSize(1),
                                  y.getDimSize(3), y.getDimSize(4)};
    SmallVector<Value> parts;
    for (int64_t phase = 0; phase < stride; ++phase) {
      Value sum;
      for (int64_t tap = 0; tap < taps; ++tap) {
        if (tap * dilation % stride != phase)
          continue;
        int64_t shift = tap * dilation / stride;
        Value part = makeConv(build, conv,
                              build.joinFirst(build.slice(
                                  padded, 0, reach - shift + first, count)),
                              build.getTap(conv.getW(), tap));
        sum = sum ? build.make<AddOp>(part, sum) : part;
      }
      if (!sum)
        sum = makeZeros(rewriter, conv, count);
      parts.push_back(build.reshape(epilogue.apply(rewriter, sum), shape));
    }
    Value all = parts.size() == 1
                    ? parts[0]
                    : build.make<ConcatOp>(ValueRange(parts), int64_t(1));
    all = build.slice(build.joinFirst(all), 0, before - first * stride, depth);
    rewriter.replaceAllUsesWith(epilogue.getLast(), build.fromDepthFirst(all));
    return success();
  }

private:
  static Value makeConv(VolumeBuilder &build, ConvTransposeOp conv, Value x,
                        Value w) {
    PlaneWindow window = getPlaneWindow(conv);
    return build.make<ConvTransposeOp>(
        x, w, window.strides, window.dilations, window.pads,
        dropAxis(conv.getOutputPadding(), 0), conv.getGroups(),
        conv.getAccumulatorAttr());
  }
  static LogicalResult joinFlatAxes(ConvTransposeOp conv, size_t first,
                                    PatternRewriter &rewriter) {
    VolumeEpilogue epilogue(conv.getY());
    rewriter.setInsertionPoint(epilogue.getLastOp());
    VolumeBuilder build(rewriter, conv.getLoc());
    Value x = build.reshape(conv.getX(),
                            joinAxes(conv.getX().getType().getShape(), first)),
          w = build.reshape(conv.getW(),
                            joinAxes(conv.getW().getType().getShape(), first));
    Value y = build.make<ConvTransposeOp>(
        x, w, dropAxis(conv.getStrides(), first),
        dropAxis(conv.getDilations(), first), dropAxis(conv.getPads(), first),
        dropAxis(conv.getOutputPadding(), first), conv.getGroups(),
        conv.getAccumulatorAttr());
    y = epilogue.apply(rewriter, y);
    rewriter.replaceAllUsesWith(epilogue.getLast(),
                                build.reshape(y, conv.getType().getShape()));
    return success();
  }
  /// Returns `count` planes of zeros, for a part that no tap reaches.
  static Value makeZeros(PatternRewriter &rewriter, ConvTransposeOp conv,
                         int64_t count) {
    RankedTensorType y = conv.getType();
    auto number = RankedTensorType::get({}, y.getElementType());
    Value zero = rewriter.create<ConstantOp>(
        conv.getLoc(), DenseElementsAttr::get(
                           number, rewriter.getZeroAttr(y.getElementType())));
    return rewriter.create<ExpandOp>(
        conv.getLoc(),
        RankedTensorType::get({count * y.getDimSize(0), y.getDimSize(1),
                               y.getDimSize(3), y.getDimSize(4)},
                              y.getElementType()),
        zero);
  }
};
} // namespace

void nnc::populateVolumes(RewritePatternSet &patterns) {
  patterns.add<SplitConv, SplitConvTranspose>(patterns.getContext());
}
