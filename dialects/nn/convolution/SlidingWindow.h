//===- SlidingWindow.h - Sliding windows of convolutions and pools --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_CONVOLUTION_SLIDINGWINDOW_H
#define NNC_DIALECTS_NN_CONVOLUTION_SLIDINGWINDOW_H

#include "dialects/nn/Nn.h"

namespace nnc::nn {

/// The attributes of an op with a sliding window, one list entry per spatial
/// axis. `pads` has those before all axes, then those behind.
struct Window {
  llvm::ArrayRef<int64_t> kernel, strides, dilations, pads;
};

/// Verifies that the window has 1 to `mostAxes` spatial axes, that its lists
/// have that many entries, and that these have valid signs. `input` is the
/// input's shape.
mlir::LogicalResult verifyWindow(std::optional<mlir::Location> location,
                                 llvm::ArrayRef<int64_t> input,
                                 const Window &window, size_t mostAxes);

/// Returns the output size of a sliding window along one axis, or -1 if the
/// window does not fit into the padded input. Where it may exceed that, a
/// window that is larger by less than a stride has one place, and one that is
/// larger by less than two strides none.
int64_t slideWindow(int64_t input, int64_t kernel, int64_t stride,
                    int64_t dilation, int64_t before, int64_t after,
                    bool ceilMode, bool mayExceed = false);

/// Adds a pair of fields for height and width, the last two of `values`. If
/// there is a single spatial axis, it is the width and the height is `missing`:
/// `addPair(fields, "kh", "kw", {3}, 1)` adds kh = 1, kw = 3.
void addPair(ShapeFields &fields, llvm::StringRef height, llvm::StringRef width,
             llvm::ArrayRef<int64_t> values, int64_t missing);

/// Returns the fields n, c, h, w of the images `x`, with which the shapes of
/// all families on images begin.
ShapeFields getImageFields(mlir::RankedTensorType x);

/// Adds the fields kh, kw, sh, sw, dh, dw, pt, pl.
void addWindow(ShapeFields &fields, const Window &window);

/// Adds the fields oh and ow, the height and width of the result `y`.
void addOutput(ShapeFields &fields, mlir::RankedTensorType y);

/// Infers the shape of a convolution of `x` with the weight `w`. Fails, with an
/// error if there is a location, if they do not fit.
mlir::LogicalResult
inferConv(std::optional<mlir::Location> location, mlir::RankedTensorType x,
          mlir::RankedTensorType w, llvm::ArrayRef<int64_t> strides,
          llvm::ArrayRef<int64_t> dilations, llvm::ArrayRef<int64_t> pads,
          int64_t groups, llvm::SmallVectorImpl<int64_t> &shape);

/// Verifies that elements outside of `x` may be `fill`: zeros, or numbers of
/// the type of its integers.
mlir::LogicalResult verifyFill(std::optional<mlir::Location> location,
                               mlir::RankedTensorType x, int64_t fill);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_CONVOLUTION_SLIDINGWINDOW_H
