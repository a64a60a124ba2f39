//===- Blocks.cpp - Blocks of space as channels or batches ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/SpaceBatches.h"
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

Value convertSpaceToBatch(Layer &layer) {
  Value x = layer.getInput(0);
  auto blocks = readSpaceBlocks(layer, x, layer.getInput(1), layer.getInput(2));
  if (!blocks)
    return {};
  Quantization in = layer.getInputQuantization(0);
  return spaceToBatch(layer, x, *blocks,
                      isQuantized(x, in) ? double(in.getZeroPoint()) : 0.0);
}

Value convertBatchToSpace(Layer &layer) {
  Value x = layer.getInput(0);
  auto blocks = readSpaceBlocks(layer, x, layer.getInput(1), layer.getInput(2));
  return blocks ? batchToSpace(layer, x, *blocks) : Value();
}

} // namespace nnc::tflite
