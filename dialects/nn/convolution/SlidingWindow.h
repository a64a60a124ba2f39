//===- SlidingWindow.h - Sliding windows of convolutions and pools --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_CONVOLUTION_SLIDINGWINDOW_H
#define NNC_DIALECTS_NN_CONVOLUTION_SLIDINGWINDOW_H

#include "dialects/nn/Nn.h"

namespace nnc::nn {

/// The attributes of an op with a sliding window, with one list entry per
/// spatial axis. `pads` has two entries per axis: first the padding in front of
/// every axis, then the padding behind every axis.
struct Window {
  llvm::ArrayRef<int64_t> kernel, strides, dilations, pads;
};

/// Verifies that the window has 1 to `mostAxes` spatial axes, that its lists
/// have that many entries, and that these have valid signs. `input` is the
/// input's shape.
mlir::LogicalResult verifyWindow(std::optional<mlir::Location> location,
                                 llvm::ArrayRef<int64_t> input,
                                 const Window &window, size_t mostAxes);

/// Returns the number of positions of a sliding window along one axis, or -1 if
/// the window does not fit into the padded input. With `mayExceed`, a window
/// that is larger than the padded input by less than a stride has one position,
/// and a window that is larger by less than two strides has none (as in
/// onnxruntime).
int64_t slideWindow(int64_t input, int64_t kernel, int64_t stride,
                    int64_t dilation, int64_t before, int64_t after,
                    bool ceilMode, bool mayExceed = false);

/// Adds two fields, for height and width, whose values are the last two of
/// `values`. A single value is that of the width, and the height is `missing`:
/// `addPair(fields, "kh", "kw", {3}, 1)` adds kh = 1, kw = 3.
void addPair(ShapeFields &fields, llvm::StringRef height, llvm::StringRef width,
             llvm::ArrayRef<int64_t> values, int64_t missing);

/// Returns the fields n, c, h and w of the images `x`. The shape of every
/// family on images begins with them.
ShapeFields getImageFields(mlir::RankedTensorType x);

/// Adds the fields of a window: kh, kw (kernel), sh, sw (strides), dh, dw
/// (dilations), pt, pl (padding at the top and on the left).
void addWindow(ShapeFields &fields, const Window &window);

/// Adds the fields oh and ow, the height and width of the result `y`.
void addOutput(ShapeFields &fields, mlir::RankedTensorType y);

/// Returns the fields from n to ow of a convolution, which all families of
/// convolutions with a window share. For a convolution over three axes, they
/// describe the two-dimensional convolution for one tap along the first axis.
template <class Op> ShapeFields getConvFields(Op op) {
  mlir::RankedTensorType y = op.getY().getType();
  ShapeFields fields = getImageFields(op.getX().getType());
  fields.add("k", y.getDimSize(1));
  addWindow(fields, {op.getW().getType().getShape().drop_front(2),
                     op.getStrides(), op.getDilations(), op.getPads()});
  addOutput(fields, y);
  return fields;
}

/// Infers the shape of a convolution of `x` with the weight `w`. Fails if their
/// shapes do not fit, and emits an error if `location` is given.
mlir::LogicalResult
inferConv(std::optional<mlir::Location> location, mlir::RankedTensorType x,
          mlir::RankedTensorType w, llvm::ArrayRef<int64_t> strides,
          llvm::ArrayRef<int64_t> dilations, llvm::ArrayRef<int64_t> pads,
          int64_t groups, llvm::SmallVectorImpl<int64_t> &shape);

/// Returns how a convolution or a pool treats axis `axis` of its result:
/// samples are apart, and spatial axes have the windows `window`. An answer for
/// the channels would have to tell pools and groups from other convolutions.
AxisUse getWindowUse(mlir::Operation *op, const Window &window, int64_t axis);

/// Verifies that `fill` is a possible value of the padding around `x`: 0, or
/// for integers any number that the element type of `x` holds.
mlir::LogicalResult verifyFill(std::optional<mlir::Location> location,
                               mlir::RankedTensorType x, int64_t fill);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_CONVOLUTION_SLIDINGWINDOW_H
