//===- ResampleAxis.h - Resizing along one axis by known taps -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_RESAMPLEAXIS_H
#define NNC_FRONTENDS_COMMON_RESAMPLEAXIS_H

#include "frontends/common/LayerBuilder.h"

namespace nnc::frontends {

/// The parameters of a resize along one axis, by the names of ONNX's Resize.
struct AxisSampling {
  nn::ResizeMode mode;
  nn::ResizeNearest nearest;
  llvm::StringRef coordinates; ///< ONNX's coordinate_transformation_mode
  int64_t size;                ///< size of the result
  double scale;                ///< size of the result / size of the input
  /// For tf_crop_and_resize: the region of the axis that is resized, in [0, 1].
  double roiStart = 0, roiEnd = 1;
  double cubicA = -0.75;
  bool antialias = false, excludeOutside = false;
};

/// Returns true if ONNX defines the coordinate_transformation_mode `name`.
bool isCoordinateMode(llvm::StringRef name);

/// Returns `x` resampled along `axis`. `isOutside` receives, for each index of
/// the result, whether tf_crop_and_resize takes it from outside of `x`.
mlir::Value resampleAxis(LayerBuilder &layer, mlir::Value x, int64_t axis,
                         const AxisSampling &how,
                         llvm::SmallVectorImpl<bool> &isOutside);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_RESAMPLEAXIS_H
