//===- Resize.cpp - Images of other sizes ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/graph/Layer.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

namespace {
/// The positions of the pixels of the result in the image.
struct Placement {
  bool alignsCorners, hasHalfPixels;
  Sizes sizes; ///< height and width of the result
};
} // namespace

/// Reads the attributes and the sizes of the result; nullopt after an error.
static std::optional<Placement> readPlacement(Layer &layer) {
  Value x = layer.getInput(0);
  auto sizes = layer.readInts(layer.getInput(1), "sizes");
  if (!x || !sizes)
    return std::nullopt;
  auto isWrong = [](int64_t size) { return size < 1 || size > 1 << 20; };
  if (getRank(x) != 4 || getNumElements(x) == 0 || sizes->size() != 2 ||
      llvm::any_of(*sizes, isWrong) || isWrong(getShape(x)[1]) ||
      isWrong(getShape(x)[2])) {
    layer.broken("resizes an image of shape " + toString(getShape(x)) + " to " +
                 toString(*sizes) +
                 "; needs 4 axes and sizes from 1 to 1048576");
    return std::nullopt;
  }
  Placement places = {layer.getBool("align_corners"),
                      layer.getBool("half_pixel_centers"), *sizes};
  if (places.alignsCorners && places.hasHalfPixels) {
    layer.broken("has both aligned corners and half pixels");
    return std::nullopt;
  }
  return places;
}

/// Returns for each of `out` elements along an axis the index of the nearest of
/// `in` elements, computed in f32 as TensorFlow does.
static Sizes findNearest(int64_t in, int64_t out, const Placement &places) {
  float scale = places.alignsCorners && out > 1
                    ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                    : static_cast<float>(in) / static_cast<float>(out);
  Sizes nearest;
  for (int64_t i = 0; i < out; ++i) {
    float at =
        (static_cast<float>(i) + (places.hasHalfPixels ? 0.5f : 0.0f)) * scale;
    at = places.alignsCorners ? std::round(at) : std::floor(at);
    nearest.push_back(std::clamp<int64_t>(static_cast<int64_t>(at), 0, in - 1));
  }
  return nearest;
}

/// Returns the number by which an axis is enlarged if each element is repeated
/// as often; 0 otherwise.
static int64_t getFactor(ArrayRef<int64_t> nearest, int64_t in) {
  auto out = static_cast<int64_t>(nearest.size());
  if (out % in != 0)
    return 0;
  for (int64_t i = 0; i < out; ++i)
    if (nearest[i] != i / (out / in))
      return 0;
  return out / in;
}

/// Returns `image`, with the channels second, resized in the mode `mode`.
static Value resize(Layer &layer, nn::ResizeMode mode,
                    nn::ResizeCoordinates coordinates, Value image,
                    ArrayRef<int64_t> sizes) {
  if (!image)
    return {};
  ArrayRef<int64_t> shape = getShape(image);
  // A scale of 0 stands for the ratio of the sizes, which may differ from size
  // to size if these vary.
  const bool isSample = layer.getImporter().getOptions().isSample;
  SmallVector<double> scales;
  for (size_t i = 0; i < 2; ++i)
    scales.push_back(isSample ? 0.0
                              : static_cast<double>(sizes[i]) /
                                    static_cast<double>(shape[2 + i]));
  return layer.createAs<nn::ResizeOp>(
      RankedTensorType::get({shape[0], shape[1], sizes[0], sizes[1]},
                            getElement(image)),
      mode, coordinates, nn::ResizeNearest::floor, image,
      ArrayRef<double>(scales),
      layer.getBuilder().getF64FloatAttr(-0.75).getValue(),
      /*exclude_outside=*/false);
}

Value convertResizeNearest(Layer &layer) {
  auto places = readPlacement(layer);
  if (!places)
    return {};
  Value image = layer.toChannelsFirst(layer.getInput(0));
  if (!image)
    return {};
  Sizes nearest[2];
  bool isRepeated = true;
  for (size_t i = 0; i < 2; ++i) {
    nearest[i] = findNearest(getShape(image)[2 + i], places->sizes[i], *places);
    isRepeated &= getFactor(nearest[i], getShape(image)[2 + i]) > 0;
  }
  if (isRepeated)
    return layer.toChannelsLast(resize(layer, nn::ResizeMode::nearest,
                                       nn::ResizeCoordinates::asymmetric, image,
                                       places->sizes));
  for (int64_t i = 0; i < 2; ++i)
    if (nearest[i] != iota(getShape(image)[2 + i]))
      image =
          layer.create<nn::GatherOp>(image, layer.constant(nearest[i]), 2 + i);
  return layer.toChannelsLast(image);
}

static nn::ResizeCoordinates getCoordinates(const Placement &places) {
  return places.alignsCorners   ? nn::ResizeCoordinates::align_corners
         : places.hasHalfPixels ? nn::ResizeCoordinates::half_pixel
                                : nn::ResizeCoordinates::asymmetric;
}

/// Converts ResizeBilinear, whose results are floats.
Value convertResizeBilinear(Layer &layer) {
  auto places = readPlacement(layer);
  if (!places)
    return {};
  Value image = layer.castTo(layer.toChannelsFirst(layer.getInput(0)),
                             layer.getBuilder().getF32Type());
  return layer.toChannelsLast(resize(layer, nn::ResizeMode::linear,
                                     getCoordinates(*places), image,
                                     places->sizes));
}

} // namespace nnc::tensorflow
