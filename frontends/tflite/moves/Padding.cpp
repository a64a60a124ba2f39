//===- Padding.cpp - Padding operators ------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Padding.h"
#include "frontends/tflite/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

Value convertPad(Layer &layer) {
  Value x = layer.getInput(0);
  auto pads = readPads(layer, x, layer.getInput(1));
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

Value convertMirrorPad(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::MirrorPadOptions>(fb::Options::MirrorPad);
  Value x = layer.getInput(0);
  auto pads = readPads(layer, x, layer.getInput(1));
  if (!options || !pads)
    return {};
  // SYMMETRIC, 1, repeats the border; REFLECT, 0, does not.
  return padMirrored(layer, x, *pads, options->mode() == 1);
}

} // namespace nnc::tflite
