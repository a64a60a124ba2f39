//===- Morphology.cpp - Greyscale dilation of images ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Padding.h"
#include "frontends/tensorflow/moves/Moves.h"

#include <limits>

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// The largest number of taps of a structuring element: each is an addition
/// and a maximum over the image.
static constexpr int64_t kMostTaps = 256;

/// Returns the two spatial numbers of a list attribute; nullopt after an error.
static std::optional<Sizes> readSpatial(Layer &layer, StringRef name) {
  Sizes given = layer.getInts(name);
  auto isSound = [](int64_t number) { return number > 0 && number < 1 << 20; };
  if (given.size() == 4 && llvm::all_of(given, isSound) && given[0] == 1 &&
      given[3] == 1)
    return Sizes{given[1], given[2]};
  layer.broken("has " + name + " of " + toString(given));
  return std::nullopt;
}

/// Converts Dilation2D: the largest sum of the image and of the structuring
/// element, of all places of the latter that are in the image.
Value convertDilation(Layer &layer) {
  Value x = layer.getInput(0), w = layer.getInput(1);
  auto strides = readSpatial(layer, "strides"),
       rates = readSpatial(layer, "rates");
  StringRef padding = layer.getText("padding");
  if (!x || !w || !strides || !rates)
    return {};
  if (getRank(x) != 4 || getRank(w) != 3 || getShape(w)[2] != getShape(x)[3] ||
      getNumElements(x) == 0 || getNumElements(w) == 0 ||
      (padding != "SAME" && padding != "VALID"))
    return layer.broken("has an image of shape " + toString(getShape(x)) +
                        ", a filter of shape " + toString(getShape(w)) +
                        " and a padding of '" + padding + "'");
  if (!isa<FloatType>(getElement(x)) || getElement(w) != getElement(x))
    return layer.unsupported(
        "dilates an image of " + getTypeName(getElement(x)) + " by " +
        getTypeName(getElement(w)) + "; nnc handles floats");
  int64_t height = getShape(w)[0], width = getShape(w)[1],
          channels = getShape(w)[2];
  if (height * width > kMostTaps)
    return layer.fail(ImportStatus::limit,
                      "has a filter of " + Twine(height * width) +
                          " elements; nnc handles " + Twine(kMostTaps));
  Sizes pads(8, 0), sizes(getShape(x)),
      steps = {1, (*strides)[0], (*strides)[1], 1};
  for (size_t i : {0, 1}) {
    int64_t size = getShape(x)[1 + i], stride = (*strides)[i];
    int64_t extent = (getShape(w)[i] - 1) * (*rates)[i] + 1;
    if (padding == "SAME") {
      sizes[1 + i] = (size + stride - 1) / stride;
      int64_t total =
          std::max<int64_t>((sizes[1 + i] - 1) * stride + extent - size, 0);
      pads[1 + i] = total / 2;
      pads[5 + i] = total - total / 2;
    } else if (extent > size) {
      return layer.broken(
          "has a filter that is larger than the image of shape " +
          toString(getShape(x)));
    } else {
      sizes[1 + i] = (size - extent) / stride + 1;
    }
  }
  x = padWith(layer, x, pads, -std::numeric_limits<double>::infinity());
  Value y;
  for (int64_t i = 0; x && i < height; ++i)
    for (int64_t j = 0; j < width; ++j) {
      Value taken = layer.slice(x, {0, i * (*rates)[0], j * (*rates)[1], 0},
                                sizes, steps);
      Value tap = layer.reshape(layer.slice(w, {i, j, 0}, {1, 1, channels}),
                                {channels});
      Value sum = layer.createElementwise("add", {taken, tap});
      y = y ? layer.createElementwise("max", {y, sum}) : sum;
      if (!y)
        return {};
    }
  return y;
}

} // namespace nnc::tensorflow
