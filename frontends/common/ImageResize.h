//===- ImageResize.h - Images of other sizes, as TensorFlow does it -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_IMAGERESIZE_H
#define NNC_FRONTENDS_COMMON_IMAGERESIZE_H

#include "frontends/common/LayerBuilder.h"

namespace nnc::frontends {

/// The sizes of a resized image and the positions of its pixels in the image
/// that it is computed from, for the operators of TensorFlow and TFLite.
struct ImageResize {
  bool alignsCorners; ///< the corner pixels of both images lie on each other
  bool hasHalfPixels; ///< the centers of pixels lie at 0.5, 1.5, ...
  llvm::SmallVector<int64_t> sizes = {}; ///< height and width of the result
  /// The ratio of the sizes may be another one in imports at other sizes.
  bool ratioVaries = false;
};

/// Reads the sizes to which a layer resizes `x`, NHWC, into `how`. Returns
/// false after an error if the operands do not fit.
bool readImageSizes(LayerBuilder &layer, mlir::Value x, mlir::Value sizes,
                    ImageResize &how);

/// Returns for each of `out` elements along an axis the index of the nearest of
/// `in` elements, computed in f32 as TensorFlow does.
llvm::SmallVector<int64_t> findNearestPixels(int64_t in, int64_t out,
                                             const ImageResize &how);

/// Returns `image`, NCHW, resized by repeating pixels or between pixels.
mlir::Value resizeImage(LayerBuilder &layer, nn::ResizeMode mode,
                        mlir::Value image, const ImageResize &how);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_IMAGERESIZE_H
