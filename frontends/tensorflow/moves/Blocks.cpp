//===- Blocks.cpp - Blocks of space as channels or batches ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/SpaceBatches.h"
#include "frontends/tensorflow/convolution/SlidingWindow.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// Returns the attribute `block_size` if `x`, an image with the channels
/// second, can be cut into such blocks; 0 after an error.
static int64_t readBlock(Layer &layer, Value x, bool isDepth) {
  int64_t block = layer.getInt("block_size");
  if (!x)
    return 0;
  bool fits = getRank(x) == 4 && block >= 1 && block <= 1 << 15;
  if (fits && isDepth)
    fits = getShape(x)[1] % (block * block) == 0;
  else if (fits)
    fits = getShape(x)[2] % block == 0 && getShape(x)[3] % block == 0;
  if (!fits)
    layer.broken("cannot cut a tensor of shape " + toString(getShape(x)) +
                 " into blocks of " + Twine(block));
  return fits ? block : 0;
}

Value convertDepthToSpace(Layer &layer) {
  Value x = toImage(layer, layer.getInput(0));
  int64_t b = readBlock(layer, x, /*isDepth=*/true);
  if (b == 0)
    return {};
  int64_t n = getShape(x)[0], c = getShape(x)[1] / (b * b), h = getShape(x)[2],
          w = getShape(x)[3];
  Value y =
      layer.transpose(layer.reshape(x, {n, b, b, c, h, w}), {0, 3, 4, 1, 5, 2});
  return fromImage(layer, layer.reshape(y, {n, c, h * b, w * b}));
}

Value convertSpaceToDepth(Layer &layer) {
  Value x = toImage(layer, layer.getInput(0));
  int64_t b = readBlock(layer, x, /*isDepth=*/false);
  if (b == 0)
    return {};
  int64_t n = getShape(x)[0], c = getShape(x)[1], h = getShape(x)[2] / b,
          w = getShape(x)[3] / b;
  Value y =
      layer.transpose(layer.reshape(x, {n, c, h, b, w, b}), {0, 3, 5, 1, 2, 4});
  return fromImage(layer, layer.reshape(y, {n, b * b * c, h, w}));
}

Value convertSpaceToBatch(Layer &layer) {
  Value x = layer.getInput(0);
  auto blocks = readSpaceBlocks(layer, x, layer.getInput(1), layer.getInput(2));
  if (!blocks)
    return {};
  return spaceToBatch(layer, x, *blocks, 0.0);
}

Value convertBatchToSpace(Layer &layer) {
  Value x = layer.getInput(0);
  auto blocks = readSpaceBlocks(layer, x, layer.getInput(1), layer.getInput(2));
  return blocks ? batchToSpace(layer, x, *blocks) : Value();
}

} // namespace nnc::tensorflow
