//===- Padding.cpp - Elements added at the ends of axes -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Padding.h"

using namespace mlir;

namespace nnc::frontends {

using Sizes = SmallVector<int64_t>;

std::optional<Sizes> readPads(LayerBuilder &layer, Value x, Value rows) {
  auto given = layer.readInts(rows, "pads");
  if (!given || !x)
    return std::nullopt;
  size_t rank = getRank(x);
  if (given->size() != 2 * rank || llvm::any_of(*given, [](int64_t pad) {
        return pad < 0 || pad > kMaxDim;
      })) {
    layer.broken("has pads " + toString(*given) + " for " + Twine(rank) +
                 " axes");
    return std::nullopt;
  }
  Sizes pads(2 * rank);
  for (size_t i = 0; i < rank; ++i) {
    pads[i] = (*given)[2 * i];
    pads[rank + i] = (*given)[2 * i + 1];
  }
  return pads;
}

Value padWith(LayerBuilder &layer, Value x, ArrayRef<int64_t> pads,
              double value) {
  if (!x || llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return x;
  return layer.create<nn::PadOp>(nn::PadMode::constant, x, pads,
                                 APFloat(value));
}

/// Returns `x` padded with its mirror images, which begin with the elements at
/// the borders: a b c padded by 2 is b a a b c c b.
static Value repeatBorders(LayerBuilder &layer, Value x,
                           ArrayRef<int64_t> pads) {
  int64_t rank = getRank(x);
  for (int64_t axis = 0; axis < rank && x; ++axis) {
    int64_t before = pads[axis], size = getShape(x)[axis];
    if (before == 0 && pads[rank + axis] == 0)
      continue;
    if (size > 1 << 24)
      return layer.fail(ImportStatus::limit,
                        "pads an axis of " + Twine(size) +
                            " elements; nnc handles 16777216");
    Sizes places;
    for (int64_t i = -before; i < size + pads[rank + axis]; ++i)
      places.push_back(i < 0 ? -1 - i : i < size ? i : 2 * size - 1 - i);
    x = layer.create<nn::GatherOp>(x, layer.constant(places), axis);
  }
  return x;
}

Value padMirrored(LayerBuilder &layer, Value x, ArrayRef<int64_t> pads,
                  bool repeatsBorder) {
  for (auto [i, pad] : llvm::enumerate(pads)) {
    int64_t size = getShape(x)[i % getRank(x)];
    if (pad != 0 && pad >= size + (repeatsBorder ? 1 : 0))
      return layer.broken("pads an axis of " + Twine(size) + " elements by " +
                          Twine(pad));
  }
  if (repeatsBorder)
    return repeatBorders(layer, x, pads);
  return layer.create<nn::PadOp>(nn::PadMode::reflect, x, pads, APFloat(0.0));
}

} // namespace nnc::frontends
