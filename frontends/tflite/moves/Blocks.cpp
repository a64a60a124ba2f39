//===- Blocks.cpp - Blocks of space as channels or batches ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

Value convertDepthToSpace(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::BlockOptions>(fb::Options::DepthToSpace);
  Value x = layer.getInput(0);
  if (!options || !x)
    return {};
  int64_t b = options->block_size();
  if (getRank(x) != 4 || b < 1 || getShape(x)[3] % (b * b) != 0)
    return layer.broken("cannot cut a tensor of shape " +
                        toString(getShape(x)) + " into blocks of " + Twine(b));
  int64_t n = getShape(x)[0], h = getShape(x)[1], w = getShape(x)[2],
          c = getShape(x)[3] / (b * b);
  Value y =
      layer.transpose(layer.reshape(x, {n, h, w, b, b, c}), {0, 1, 3, 2, 4, 5});
  return layer.reshape(y, {n, h * b, w * b, c});
}

Value convertSpaceToDepth(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::BlockOptions>(fb::Options::SpaceToDepth);
  Value x = layer.getInput(0);
  if (!options || !x)
    return {};
  int64_t b = options->block_size();
  if (getRank(x) != 4 || b < 1 || getShape(x)[1] % b != 0 ||
      getShape(x)[2] % b != 0)
    return layer.broken("cannot cut a tensor of shape " +
                        toString(getShape(x)) + " into blocks of " + Twine(b));
  int64_t n = getShape(x)[0], h = getShape(x)[1] / b, w = getShape(x)[2] / b,
          c = getShape(x)[3];
  Value y =
      layer.transpose(layer.reshape(x, {n, h, b, w, b, c}), {0, 1, 3, 2, 4, 5});
  return layer.reshape(y, {n, h, w, b * b * c});
}

/// Reads the block sizes and the pair of numbers (pads or crops) for each axis
/// with blocks. Returns false after an error.
static bool readBlocks(Layer &layer, Value x, Sizes &blocks, Sizes &pairs) {
  auto sizes = layer.readInts(layer.getInput(1), "sizes of blocks");
  auto rows = layer.readInts(layer.getInput(2), "pads or crops");
  if (!sizes || !rows || !x)
    return false;
  blocks = *sizes;
  pairs = *rows;
  bool isSound = pairs.size() == 2 * blocks.size() &&
                 int64_t(blocks.size()) < getRank(x) &&
                 llvm::all_of(
                     blocks, [](int64_t b) { return b > 0; }) &&
                 llvm::all_of(pairs, [](int64_t p) { return p >= 0; });
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
  Quantization in = layer.getInputQuantization(0);
  x = padWith(layer, x, pads,
              isQuantized(x, in) ? double(in.getZeroPoint()) : 0.0);
  if (!x)
    return {};
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
  return sizes == shape ? y : layer.slice(y, starts, sizes);
}

} // namespace nnc::tflite
