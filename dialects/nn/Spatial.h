//===- Spatial.h - What convolutions and pools share ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_SPATIAL_H
#define NNC_DIALECTS_NN_SPATIAL_H

#include "dialects/nn/Nn.h"

namespace nnc::nn {

/// Attribute lists of an op with a sliding window.
struct Window {
  llvm::ArrayRef<int64_t> kernel, strides, dilations, pads;
};

/// Checks ranks and signs: 1 or 2 spatial axes, lists of that length.
mlir::LogicalResult verifyWindow(std::optional<mlir::Location> location,
                                 llvm::ArrayRef<int64_t> input,
                                 const Window &window);

/// Output size of a sliding window along one axis, or -1 if nothing fits.
int64_t slideWindow(int64_t input, int64_t kernel, int64_t stride,
                    int64_t dilation, int64_t before, int64_t after,
                    bool ceilMode);

/// Adds h/w pairs, treating a single spatial axis as width with height 1:
/// `addPair(fields, "kh", "kw", {3}, 1)` gives kh = 1, kw = 3.
void addPair(ShapeFields &fields, llvm::StringRef height, llvm::StringRef width,
             llvm::ArrayRef<int64_t> values, int64_t missing);

/// Fields h, w, kh, kw, sh, sw, dh, dw, pt, pl, oh, ow.
void addWindow(ShapeFields &fields, llvm::ArrayRef<int64_t> input,
               llvm::ArrayRef<int64_t> output, const Window &window);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_SPATIAL_H
