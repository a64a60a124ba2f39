//===- Pixels.cpp - Weights of first layers for GPUs ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// `pixels` stores the weight of a convolution of an image with at most four
// channels, padded with zeros to four, in the order in which the kernels of a
// GPU read it. runtime/routines/convolution/conv2d/pixels_plan.h says where
// each element is.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/encodings/PanelFilters.h"
#include "runtime/routines/convolution/conv2d/pixels_plan.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns the sizes of a weight of `type`, whose axes are filters, channels
/// and taps.
static pixel_weights getPixelWeights(RankedTensorType type) {
  int64_t taps = product(type.getShape().drop_front(2));
  return {static_cast<int>(type.getDimSize(1)),
          static_cast<int>(type.getDimSize(0)), static_cast<int>(taps)};
}

namespace {
class Pixels : public PanelFilters {
public:
  using PanelFilters::PanelFilters;

  LogicalResult verify(LayoutAttr, ArrayRef<int64_t> shape, Type,
                       EmitError emitError) const override {
    if (shape[1] <= pixel_channels && llvm::isInt<25>(product(shape)))
      return success();
    return emitError() << "is for weights of at most " << pixel_channels
                       << " channels and 2^24 elements";
  }

  /// Returns a matrix type with one row for each panel.
  RankedTensorType getStoredType(RankedTensorType type) const override {
    matmul_as_conv2d product = getPixelWeights(type).product();
    int64_t shape[] = {
        gemm_panels(product),
        packed_panel_elements(product, getElementBytes(type.getElementType()))};
    return RankedTensorType::get(shape, type.getElementType());
  }

  void encode(RankedTensorType type, ArrayRef<float> weight,
              MutableArrayRef<float> stored) const override {
    encodeAs(getPixelWeights(type), type, weight, stored);
  }
};
} // namespace

std::unique_ptr<WeightEncoding> nn::makePixelsEncoding(StringRef spelling) {
  if (spelling == "pixels")
    return std::make_unique<Pixels>(spelling);
  return nullptr;
}
