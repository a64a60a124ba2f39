//===- Interp.cpp - Interpolation of images -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::caffe {

/// Returns the size of the result along an axis of `size` elements, without
/// those that are cut off; 0 if the parameters make no sense.
static int64_t getResultSize(const schema::InterpParameter &param, int64_t size,
                             int64_t stated, int64_t like) {
  if (like > 0)
    return like;
  int64_t shrink = param.shrink_factor(), zoom = param.zoom_factor();
  if (stated > 0)
    return stated;
  if (shrink < 1 || zoom < 1)
    return 0;
  size = (size - 1) / shrink + 1;
  return size + (size - 1) * (zoom - 1);
}

/// Converts Interp of DeepLab and PSPNet: bilinear, with the corners of both
/// images at the same places.
Value convertInterp(Layer &layer) {
  const schema::InterpParameter &param = layer.getParam().interp_param();
  Value x = layer.getBottom(0);
  bool hasLike = layer.getNumBottoms() > 1;
  if (getRank(x) != 4 || (hasLike && getRank(layer.getBottom(1)) != 4))
    return layer.broken("needs bottoms of four axes, not one of shape " +
                        toString(getShape(x)));
  if (param.pad_beg() > 0 || param.pad_end() > 0)
    return layer.broken("has a pad of " + Twine(param.pad_beg()) + " and " +
                        Twine(param.pad_end()) +
                        "; Caffe only cuts pixels off, by negative numbers");
  SmallVector<int64_t> shape(getShape(x)), starts(4, 0), sizes(shape);
  SmallVector<double> scales;
  for (size_t i : {2, 3}) {
    starts[i] = -int64_t(param.pad_beg());
    sizes[i] += int64_t(param.pad_beg()) + param.pad_end();
    shape[i] =
        sizes[i] < 1
            ? 0
            : getResultSize(param, sizes[i],
                            i == 2 ? param.height() : param.width(),
                            hasLike ? getShape(layer.getBottom(1))[i] : 0);
    if (shape[i] < 1 || shape[i] > kMaxDim)
      return layer.broken("makes " + Twine(shape[i]) + " pixels of " +
                          Twine(getShape(x)[i]) + " along axis " + Twine(i));
    scales.push_back(static_cast<double>(shape[i]) /
                     static_cast<double>(sizes[i]));
  }
  if (sizes != getShape(x))
    x = layer.slice(x, starts, sizes);
  if (!x || shape == sizes)
    return x;
  return layer.createAs<nn::ResizeOp>(
      RankedTensorType::get(shape, getElement(x)), nn::ResizeMode::linear,
      nn::ResizeCoordinates::align_corners, nn::ResizeNearest::floor, x,
      ArrayRef<double>(scales), APFloat(-0.75), false);
}

} // namespace nnc::caffe
