//===- Blocks.cpp - Blocks of space as channels or batches ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/convolution/SlidingWindow.h"
#include "frontends/tensorflow/moves/Moves.h"

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

/// Reads the sizes of blocks and the pair of numbers (pads or crops) for each
/// axis with blocks. Returns false after an error.
static bool readBlocks(Layer &layer, Value x, Sizes &blocks, Sizes &pairs) {
  auto sizes = layer.readInts(layer.getInput(1), "sizes of blocks");
  auto rows = layer.readInts(layer.getInput(2), "pads or crops");
  if (!sizes || !rows || !x)
    return false;
  blocks = *sizes;
  pairs = *rows;
  bool isSound =
      pairs.size() == 2 * blocks.size() &&
      int64_t(blocks.size()) < getRank(x) &&
      llvm::all_of(
          blocks, [](int64_t b) { return b > 0 && b < 1 << 20; }) &&
      llvm::all_of(pairs, [](int64_t p) { return p >= 0 && p < 1 << 30; });
  int64_t count = 1;
  for (int64_t block : blocks)
    isSound = isSound && (count *= block) < (1 << 30);
  if (!isSound)
    layer.broken("has blocks of " + toString(blocks) + " and pads or crops " +
                 toString(pairs) + " for shape " + toString(getShape(x)));
  return isSound;
}

Value convertSpaceToBatch(Layer &layer) {
  Value x = layer.getInput(0);
  Sizes blocks, pairs;
  if (!readBlocks(layer, x, blocks, pairs))
    return {};
  size_t rank = getRank(x), m = blocks.size();
  Sizes pads(2 * rank, 0);
  for (size_t i = 0; i < m; ++i) {
    pads[1 + i] = pairs[2 * i];
    pads[rank + 1 + i] = pairs[2 * i + 1];
  }
  x = padWith(layer, x, pads, 0.0);
  if (!x)
    return {};
  // Axis 1 + i becomes the axes of blocks and of places in a block; the latter
  // are moved in front of the samples.
  Sizes split = {getShape(x)[0]}, order, shape = {getShape(x)[0]};
  for (size_t i = 0; i < m; ++i) {
    int64_t size = getShape(x)[1 + i];
    if (size % blocks[i] != 0)
      return layer.broken("cuts an axis of " + Twine(size) +
                          " into blocks of " + Twine(blocks[i]));
    split.append({size / blocks[i], blocks[i]});
    order.push_back(2 + 2 * int64_t(i));
    shape[0] *= blocks[i];
    shape.push_back(size / blocks[i]);
  }
  order.push_back(0);
  for (size_t i = 0; i < m; ++i)
    order.push_back(1 + 2 * int64_t(i));
  for (size_t i = m + 1; i < rank; ++i) {
    order.push_back(int64_t(split.size()));
    split.push_back(getShape(x)[i]);
    shape.push_back(getShape(x)[i]);
  }
  return layer.reshape(layer.transpose(layer.reshape(x, split), order), shape);
}

Value convertBatchToSpace(Layer &layer) {
  Value x = layer.getInput(0);
  Sizes blocks, pairs;
  if (!readBlocks(layer, x, blocks, pairs))
    return {};
  size_t rank = getRank(x), m = blocks.size();
  int64_t batch = getShape(x)[0];
  if (batch % product(blocks) != 0)
    return layer.broken("joins " + Twine(batch) + " images in blocks of " +
                        toString(blocks));
  Sizes split(blocks), order = {int64_t(m)}, shape = {batch / product(blocks)};
  split.push_back(shape[0]);
  for (size_t i = 1; i < rank; ++i)
    split.push_back(getShape(x)[i]);
  for (size_t i = 0; i < m; ++i) {
    order.append({int64_t(m + 1 + i), int64_t(i)});
    shape.push_back(getShape(x)[1 + i] * blocks[i]);
  }
  for (size_t i = m + 1; i < rank; ++i) {
    order.push_back(int64_t(m + i));
    shape.push_back(getShape(x)[i]);
  }
  Value y =
      layer.reshape(layer.transpose(layer.reshape(x, split), order), shape);
  Sizes starts(rank, 0), sizes(shape);
  for (size_t i = 0; i < m; ++i) {
    starts[1 + i] = pairs[2 * i];
    sizes[1 + i] -= pairs[2 * i] + pairs[2 * i + 1];
    if (sizes[1 + i] < 0)
      return layer.broken("crops more than there is");
  }
  return layer.slice(y, starts, sizes);
}

} // namespace nnc::tensorflow
