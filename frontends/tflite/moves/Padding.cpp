//===- Padding.cpp - Padding operators ------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// Returns the pads of input 1, which has a row of two numbers for each axis,
/// as the pads in front of every axis, then those behind every axis.
static std::optional<Sizes> readPads(Layer &layer, Value x) {
  auto given = layer.readInts(layer.getInput(1), "pads");
  if (!given || !x)
    return std::nullopt;
  size_t rank = getRank(x);
  if (given->size() != 2 * rank ||
      llvm::any_of(*given, [](int64_t pad) { return pad < 0; })) {
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

Value padWith(Layer &layer, Value x, ArrayRef<int64_t> pads, double value) {
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return x;
  return layer.create<nn::PadOp>(nn::PadMode::constant, x, pads,
                                 APFloat(value));
}

Value convertPad(Layer &layer) {
  Value x = layer.getInput(0);
  auto pads = readPads(layer, x);
  if (!pads)
    return {};
  double value = 0;
  if (layer.hasInput(2)) {
    auto given = layer.readReals(layer.getInput(2), "a value");
    if (!given)
      return {};
    if (given->size() != 1)
      return layer.broken("needs one value to pad with");
    value = (*given)[0];
  } else if (Quantization in = layer.getInputQuantization(0);
             isQuantized(x, in)) {
    value = static_cast<double>(in.getZeroPoint());
  }
  return keepScale(layer, padWith(layer, x, *pads, value));
}

/// Returns x padded by mirrored elements at both ends of each axis.
static Value repeatBorders(Layer &layer, Value x, ArrayRef<int64_t> pads) {
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

Value convertMirrorPad(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::MirrorPadOptions>(fb::Options::MirrorPad);
  Value x = layer.getInput(0);
  auto pads = readPads(layer, x);
  if (!options || !pads)
    return {};
  // SYMMETRIC repeats the border, REFLECT does not.
  bool repeats = options->mode() == 1;
  for (auto [i, pad] : llvm::enumerate(*pads))
    if (pad < 0 || pad >= getShape(x)[i % getRank(x)] + (repeats ? 1 : 0))
      return layer.broken("pads an axis of " +
                          Twine(getShape(x)[i % getRank(x)]) + " elements by " +
                          Twine(pad));
  if (repeats)
    return repeatBorders(layer, x, *pads);
  return layer.create<nn::PadOp>(nn::PadMode::reflect, x, *pads, APFloat(0.0));
}

} // namespace nnc::tflite
