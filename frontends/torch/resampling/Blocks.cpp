//===- Blocks.cpp - Pixels and windows that become channels, and back ----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Returns `x`, whose last three axes are channels, rows and columns, with
/// these reshaped to `wide`, transposed by `order`, and reshaped to `shape`.
static Value rearrange(Node &node, Value x, ArrayRef<int64_t> wide,
                       ArrayRef<int64_t> order, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> outer(getShape(x).drop_back(3)), front(outer),
      permutation = iota(outer.size());
  llvm::append_range(front, wide);
  for (int64_t axis : order)
    permutation.push_back(axis + static_cast<int64_t>(outer.size()));
  llvm::append_range(outer, shape);
  return node.reshape(node.transpose(node.reshape(x, front), permutation),
                      outer);
}

Value convertPixelShuffle(Node &node) {
  Value x = node.getTensor("self");
  int64_t factor = node.getInt("upscale_factor", 1);
  if (getRank(x) < 3 || factor < 1 || factor > 1 << 15 ||
      getShape(x)[getRank(x) - 3] % (factor * factor) != 0)
    return x ? node.broken("shuffles pixels of a tensor of shape " +
                           toString(getShape(x)) + " by " + Twine(factor))
             : Value();
  ArrayRef<int64_t> image = getShape(x).take_back(3);
  int64_t channels = image[0] / (factor * factor);
  return rearrange(node, x, {channels, factor, factor, image[1], image[2]},
                   {0, 3, 1, 4, 2},
                   {channels, image[1] * factor, image[2] * factor});
}

Value convertPixelUnshuffle(Node &node) {
  Value x = node.getTensor("self");
  int64_t factor = node.getInt("downscale_factor", 1);
  if (getRank(x) < 3 || factor < 1 || factor > 1 << 15 ||
      getShape(x)[getRank(x) - 2] % factor != 0 ||
      getShape(x)[getRank(x) - 1] % factor != 0)
    return x ? node.broken("unshuffles pixels of a tensor of shape " +
                           toString(getShape(x)) + " by " + Twine(factor))
             : Value();
  ArrayRef<int64_t> image = getShape(x).take_back(3);
  int64_t rows = image[1] / factor, columns = image[2] / factor;
  return rearrange(node, x, {image[0], rows, factor, columns, factor},
                   {0, 2, 4, 1, 3},
                   {image[0] * factor * factor, rows, columns});
}

Value convertChannelShuffle(Node &node) {
  Value x = node.getTensor("self");
  int64_t groups = node.getInt("groups", 1);
  if (getRank(x) < 3 || groups < 1 || getShape(x)[1] % groups != 0)
    return x ? node.broken("shuffles channels of a tensor of shape " +
                           toString(getShape(x)) + " in " + Twine(groups) +
                           " groups")
             : Value();
  SmallVector<int64_t> shape(getShape(x));
  int64_t pixels = product(ArrayRef(shape).drop_front(2));
  Value y = node.reshape(x, {shape[0], groups, shape[1] / groups, pixels});
  return node.reshape(node.transpose(y, {0, 2, 1, 3}), shape);
}

//===----------------------------------------------------------------------===//
// Windows as columns
//===----------------------------------------------------------------------===//

namespace {
/// The windows of im2col and col2im along rows and columns.
struct Blocks {
  SmallVector<int64_t> kernel, strides, dilations, pads;

  /// Returns the number of windows along an axis with `size` elements.
  int64_t count(size_t axis, int64_t size) const {
    int64_t span =
        size + 2 * pads[axis] - dilations[axis] * (kernel[axis] - 1) - 1;
    return span < 0 ? 0 : span / strides[axis] + 1;
  }
};
} // namespace

static std::optional<Blocks> readBlocks(Node &node) {
  Blocks blocks{node.getInts("kernel_size", 2, 1), node.getInts("stride", 2, 1),
                node.getInts("dilation", 2, 1), node.getInts("padding", 2, 0)};
  constexpr int64_t most = 1 << 15;
  for (auto *list : {&blocks.kernel, &blocks.strides, &blocks.dilations})
    for (int64_t number : *list)
      if (number < 1 || number > most) {
        node.broken("has windows with a size of " + Twine(number));
        return std::nullopt;
      }
  for (int64_t pad : blocks.pads)
    if (pad < 0 || pad > most) {
      node.broken("has a padding of " + Twine(pad));
      return std::nullopt;
    }
  return blocks;
}

/// Converts im2col: batch x (channels * elements of a window) x windows.
Value convertIm2Col(Node &node) {
  Value x = node.getTensor("self");
  auto blocks = readBlocks(node);
  if (!x || !blocks)
    return {};
  bool isSingle = getRank(x) == 3;
  if (isSingle)
    x = node.unsqueeze(x, 0);
  if (getRank(x) != 4)
    return node.broken("takes windows of a tensor of shape " +
                       toString(getShape(x)));
  SmallVector<int64_t> image(getShape(x)), counts;
  SmallVector<int64_t> pads = {0, 0, blocks->pads[0], blocks->pads[1],
                               0, 0, blocks->pads[0], blocks->pads[1]};
  Value y =
      node.create<nn::PadOp>(nn::PadMode::constant, x, pads, APFloat(0.0));
  // Each gathered axis becomes two: the elements of a window, and the windows.
  for (size_t axis : {0, 1}) {
    counts.push_back(blocks->count(axis, image[2 + axis]));
    auto type = RankedTensorType::get({blocks->kernel[axis], counts.back()},
                                      node.getBuilder().getI64Type());
    if (!node.checkSize(type, /*isMade=*/true))
      return {};
    SmallVector<int64_t> picked;
    for (int64_t tap = 0; tap < blocks->kernel[axis]; ++tap)
      for (int64_t i = 0; i < counts.back(); ++i)
        picked.push_back(i * blocks->strides[axis] +
                         tap * blocks->dilations[axis]);
    y = node.create<nn::GatherOp>(
        y, node.reshape(node.constant(picked), type.getShape()),
        static_cast<int64_t>(2 + 2 * axis));
  }
  y = node.transpose(y, {0, 1, 2, 4, 3, 5});
  SmallVector<int64_t> shape = {image[0],
                                image[1] * product(ArrayRef(blocks->kernel)),
                                counts[0] * counts[1]};
  return node.reshape(y, ArrayRef(shape).drop_front(isSingle ? 1 : 0));
}

/// Converts col2im, the sum of windows at their places: a transposed
/// convolution whose filters each have a single 1.
Value convertCol2Im(Node &node) {
  Value x = node.getTensor("self");
  auto blocks = readBlocks(node);
  SmallVector<int64_t> size = node.getInts("output_size", 2, 1);
  if (!x || !blocks)
    return {};
  bool isSingle = getRank(x) == 2;
  if (isSingle)
    x = node.unsqueeze(x, 0);
  int64_t taps = product(ArrayRef(blocks->kernel));
  constexpr int64_t most = 1 << 24;
  bool fits = getRank(x) == 3 && taps <= most && size[0] >= 1 && size[1] >= 1 &&
              size[0] <= most && size[1] <= most && getShape(x)[1] % taps == 0;
  int64_t rows = fits ? blocks->count(0, size[0]) : 0,
          columns = fits ? blocks->count(1, size[1]) : 0;
  if (!fits || rows < 1 || columns < 1 || getShape(x)[2] != rows * columns)
    return node.broken("has columns of shape " + toString(getShape(x)) +
                       " for an image of " + toString(ArrayRef(size)));
  int64_t channels = getShape(x)[1] / taps;
  auto type =
      RankedTensorType::get({taps, 1, blocks->kernel[0], blocks->kernel[1]},
                            node.getBuilder().getF32Type());
  if (!node.checkSize(type, /*isMade=*/true))
    return {};
  SmallVector<float> weights(taps * taps, 0);
  for (int64_t tap = 0; tap < taps; ++tap)
    weights[tap * taps + tap] = 1;
  Value w = node.castTo(
      node.constant(DenseElementsAttr::get(type, ArrayRef<float>(weights))),
      getElement(x));
  SmallVector<int64_t> pads(blocks->pads), more;
  llvm::append_range(pads, blocks->pads);
  // Elements that the last windows do not reach stay zero.
  for (size_t axis : {0, 1})
    more.push_back((size[axis] + 2 * blocks->pads[axis] -
                    blocks->dilations[axis] * (blocks->kernel[axis] - 1) - 1) %
                   blocks->strides[axis]);
  Value y = node.create<nn::ConvTransposeOp>(
      node.reshape(x, {getShape(x)[0] * channels, taps, rows, columns}), w,
      blocks->strides, blocks->dilations, pads, more, /*groups=*/1,
      /*accumulator=*/TypeAttr());
  SmallVector<int64_t> shape = {getShape(x)[0], channels, size[0], size[1]};
  return node.reshape(y, ArrayRef(shape).drop_front(isSingle ? 1 : 0));
}

} // namespace nnc::torch
