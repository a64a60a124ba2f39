//===- Repeat.cpp - Elements repeated, filled in and reversed -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/ReverseSequence.h"
#include "frontends/tflite/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

Value convertBroadcastTo(Layer &layer) {
  auto shape = layer.readInts(layer.getInput(1), "sizes");
  return shape ? layer.expand(layer.getInput(0), *shape) : Value();
}

Value convertTile(Layer &layer) {
  Value x = layer.getInput(0);
  auto repeats = layer.readInts(layer.getInput(1), "numbers of copies");
  if (!repeats || !x)
    return {};
  if (int64_t(repeats->size()) != getRank(x) ||
      llvm::any_of(*repeats, [](int64_t n) { return n < 0; }))
    return layer.broken("repeats a tensor of shape " + toString(getShape(x)) +
                        " " + toString(*repeats) + " times");
  Sizes from, to, shape;
  for (auto [size, copies] : llvm::zip(getShape(x), *repeats)) {
    from.append({1, size});
    to.append({copies, size});
    shape.push_back(size * copies);
  }
  if (to.size() > size_t(kMaxRank)) {
    // Neighbouring axes that are not repeated are merged and need no axis of
    // copies.
    from.clear(), to.clear();
    for (auto [size, copies] : llvm::zip(getShape(x), *repeats)) {
      if (copies != 1)
        from.push_back(1), to.push_back(copies);
      from.push_back(size), to.push_back(size);
    }
  }
  return layer.reshape(layer.expand(layer.reshape(x, from), to), shape);
}

Value convertFill(Layer &layer) {
  auto shape = layer.readInts(layer.getInput(0), "sizes");
  if (!shape)
    return {};
  return layer.expand(layer.reshape(layer.getInput(1), {}), *shape);
}

Value convertReverse(Layer &layer) {
  Value x = layer.getInput(0);
  auto axes = layer.readInts(layer.getInput(1), "axes");
  if (!axes || !x || !layer.normalizeAxes(*axes, getRank(x)))
    return {};
  Sizes starts(getRank(x), 0), steps(getRank(x), 1);
  for (int64_t axis : *axes) {
    starts[axis] = std::max<int64_t>(getShape(x)[axis] - 1, 0);
    steps[axis] = -1;
  }
  return layer.slice(x, starts, getShape(x), steps);
}

Value convertReverseSequence(Layer &layer) {
  const auto *options = layer.getOptions<fb::ReverseSequenceOptions>(
      fb::Options::ReverseSequence);
  if (!options)
    return {};
  return reverseSequence(layer, keepScale(layer, layer.getInput(0)),
                         layer.getInput(1), options->seq_dim(),
                         options->batch_dim());
}

} // namespace nnc::tflite
