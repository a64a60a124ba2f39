//===- Resize.cpp - Images of other sizes ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/ImageResize.h"
#include "frontends/tensorflow/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// Reads how a layer resizes its image; nullopt after an error.
static std::optional<ImageResize> readImageResize(Layer &layer) {
  ImageResize how = {layer.getBool("align_corners"),
                     layer.getBool("half_pixel_centers")};
  how.ratioVaries = layer.getImporter().getOptions().isSample;
  if (!readImageSizes(layer, layer.getInput(0), layer.getInput(1), how))
    return std::nullopt;
  return how;
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

Value convertResizeNearest(Layer &layer) {
  auto how = readImageResize(layer);
  if (!how)
    return {};
  Value image = layer.toChannelsFirst(layer.getInput(0));
  if (!image)
    return {};
  Sizes nearest[2];
  bool isRepeated = true;
  for (size_t i = 0; i < 2; ++i) {
    nearest[i] = findNearestPixels(getShape(image)[2 + i], how->sizes[i], *how);
    isRepeated &= getFactor(nearest[i], getShape(image)[2 + i]) > 0;
  }
  if (isRepeated)
    return layer.toChannelsLast(
        resizeImage(layer, nn::ResizeMode::nearest, image, *how));
  for (int64_t i = 0; i < 2; ++i)
    if (nearest[i] != iota(getShape(image)[2 + i]))
      image =
          layer.create<nn::GatherOp>(image, layer.constant(nearest[i]), 2 + i);
  return layer.toChannelsLast(image);
}

/// Converts ResizeBilinear, whose results are floats.
Value convertResizeBilinear(Layer &layer) {
  auto how = readImageResize(layer);
  if (!how)
    return {};
  Value image = layer.castTo(layer.toChannelsFirst(layer.getInput(0)),
                             layer.getBuilder().getF32Type());
  return layer.toChannelsLast(
      resizeImage(layer, nn::ResizeMode::linear, image, *how));
}

} // namespace nnc::tensorflow
