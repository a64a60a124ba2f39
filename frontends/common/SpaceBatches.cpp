//===- SpaceBatches.cpp - Blocks of space as samples of a batch -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/SpaceBatches.h"
#include "frontends/common/Padding.h"

using namespace mlir;

namespace nnc::frontends {

using Sizes = SmallVector<int64_t>;

std::optional<SpaceBlocks> readSpaceBlocks(LayerBuilder &layer, Value x,
                                           Value sizes, Value edges) {
  auto blocks = layer.readInts(sizes, "sizes of blocks");
  auto rows = layer.readInts(edges, "pads or crops");
  if (!blocks || !rows || !x)
    return std::nullopt;
  bool isSound =
      rows->size() == 2 * blocks->size() &&
      int64_t(blocks->size()) < getRank(x) &&
      llvm::all_of(
          *blocks, [](int64_t size) { return size > 0 && size < 1 << 20; }) &&
      llvm::all_of(
          *rows, [](int64_t edge) { return edge >= 0 && edge < 1 << 30; });
  int64_t count = 1;
  for (int64_t size : *blocks)
    isSound = isSound && (count *= size) < 1 << 30;
  if (isSound)
    return SpaceBlocks{*blocks, *rows};
  layer.broken("has blocks of " + toString(*blocks) + " and pads or crops " +
               toString(*rows) + " for shape " + toString(getShape(x)));
  return std::nullopt;
}

Value spaceToBatch(LayerBuilder &layer, Value x, const SpaceBlocks &blocks,
                   double padding) {
  size_t rank = getRank(x), count = blocks.sizes.size();
  Sizes pads(2 * rank, 0);
  for (size_t i = 0; i < count; ++i) {
    pads[1 + i] = blocks.edges[2 * i];
    pads[rank + 1 + i] = blocks.edges[2 * i + 1];
  }
  x = padWith(layer, x, pads, padding);
  if (!x)
    return {};
  // Axis 1 + i becomes the axes of blocks and of places in a block; the latter
  // are moved in front of the samples.
  Sizes split = {getShape(x)[0]}, order, shape = {getShape(x)[0]};
  for (size_t i = 0; i < count; ++i) {
    int64_t size = getShape(x)[1 + i], block = blocks.sizes[i];
    if (size % block != 0)
      return layer.broken("cuts an axis of " + Twine(size) +
                          " into blocks of " + Twine(block));
    split.append({size / block, block});
    order.push_back(2 + 2 * int64_t(i));
    shape[0] *= block;
    shape.push_back(size / block);
  }
  order.push_back(0);
  for (size_t i = 0; i < count; ++i)
    order.push_back(1 + 2 * int64_t(i));
  for (size_t i = count + 1; i < rank; ++i) {
    order.push_back(int64_t(split.size()));
    split.push_back(getShape(x)[i]);
    shape.push_back(getShape(x)[i]);
  }
  return layer.reshape(layer.transpose(layer.reshape(x, split), order), shape);
}

Value batchToSpace(LayerBuilder &layer, Value x, const SpaceBlocks &blocks) {
  size_t rank = getRank(x), count = blocks.sizes.size();
  int64_t batch = getShape(x)[0], places = product(blocks.sizes);
  if (batch % places != 0)
    return layer.broken("joins " + Twine(batch) + " images in blocks of " +
                        toString(blocks.sizes));
  Sizes split(blocks.sizes), order = {int64_t(count)}, shape = {batch / places};
  split.push_back(shape[0]);
  for (size_t i = 1; i < rank; ++i)
    split.push_back(getShape(x)[i]);
  for (size_t i = 0; i < count; ++i) {
    order.append({int64_t(count + 1 + i), int64_t(i)});
    shape.push_back(getShape(x)[1 + i] * blocks.sizes[i]);
  }
  for (size_t i = count + 1; i < rank; ++i) {
    order.push_back(int64_t(count + i));
    shape.push_back(getShape(x)[i]);
  }
  Value y =
      layer.reshape(layer.transpose(layer.reshape(x, split), order), shape);
  Sizes starts(rank, 0), sizes(shape);
  for (size_t i = 0; i < count; ++i) {
    starts[1 + i] = blocks.edges[2 * i];
    sizes[1 + i] -= blocks.edges[2 * i] + blocks.edges[2 * i + 1];
    if (sizes[1 + i] < 0)
      return layer.broken("crops more than there is");
  }
  return sizes == shape
             ? y
             : layer.create<nn::SliceOp>(y, ArrayRef(starts), ArrayRef(sizes),
                                         ArrayRef(Sizes(rank, 1)));
}

} // namespace nnc::frontends
