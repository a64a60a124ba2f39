//===- ImageResize.cpp - Images of other sizes, as TensorFlow does it -----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/ImageResize.h"

#include <cmath>

using namespace mlir;

namespace nnc::frontends {

bool readImageSizes(LayerBuilder &layer, Value x, Value sizes,
                    ImageResize &how) {
  auto known = layer.readInts(sizes, "sizes");
  if (!x || !known)
    return false;
  auto isWrong = [](int64_t size) { return size < 1 || size > 1 << 20; };
  if (getRank(x) != 4 || getNumElements(x) == 0 || known->size() != 2 ||
      llvm::any_of(*known, isWrong) || isWrong(getShape(x)[1]) ||
      isWrong(getShape(x)[2])) {
    layer.broken("resizes an image of shape " + toString(getShape(x)) + " to " +
                 toString(*known) +
                 "; needs 4 axes and sizes from 1 to 1048576");
    return false;
  }
  if (how.alignsCorners && how.hasHalfPixels) {
    layer.broken("has both aligned corners and half pixels");
    return false;
  }
  how.sizes = *known;
  return true;
}

SmallVector<int64_t> findNearestPixels(int64_t in, int64_t out,
                                       const ImageResize &how) {
  bool isAligned = how.alignsCorners && out > 1;
  float scale =
      static_cast<float>(in - isAligned) / static_cast<float>(out - isAligned);
  float offset = how.hasHalfPixels ? 0.5f : 0.0f;
  SmallVector<int64_t> nearest;
  for (int64_t i = 0; i < out; ++i) {
    float at = (static_cast<float>(i) + offset) * scale;
    at = how.alignsCorners ? std::round(at) : std::floor(at);
    nearest.push_back(std::clamp<int64_t>(static_cast<int64_t>(at), 0, in - 1));
  }
  return nearest;
}

Value resizeImage(LayerBuilder &layer, nn::ResizeMode mode, Value image,
                  const ImageResize &how) {
  if (!image)
    return {};
  ArrayRef<int64_t> shape = getShape(image);
  // A scale of 0 stands for the ratio of the sizes.
  SmallVector<double> scales;
  for (size_t i = 0; i < 2; ++i)
    scales.push_back(how.ratioVaries ? 0.0
                                     : static_cast<double>(how.sizes[i]) /
                                           static_cast<double>(shape[2 + i]));
  auto coordinates = mode == nn::ResizeMode::nearest
                         ? nn::ResizeCoordinates::asymmetric
                     : how.alignsCorners ? nn::ResizeCoordinates::align_corners
                     : how.hasHalfPixels ? nn::ResizeCoordinates::half_pixel
                                         : nn::ResizeCoordinates::asymmetric;
  // The coefficient of cubic interpolation, which no mode here reads.
  APFloat cubic(-0.75);
  return layer.createAs<nn::ResizeOp>(
      RankedTensorType::get({shape[0], shape[1], how.sizes[0], how.sizes[1]},
                            getElement(image)),
      mode, coordinates, nn::ResizeNearest::floor, image,
      ArrayRef<double>(scales), cubic, /*exclude_outside=*/false);
}

} // namespace nnc::frontends
