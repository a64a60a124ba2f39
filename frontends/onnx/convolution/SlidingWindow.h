//===- SlidingWindow.h - Sliding windows of convolutions and pools --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_CONVOLUTION_SLIDINGWINDOW_H
#define NNC_FRONTENDS_ONNX_CONVOLUTION_SLIDINGWINDOW_H

#include "frontends/common/Window.h"
#include "frontends/onnx/graph/Node.h"

namespace nnc::onnx {

/// Returns true if `x` has 1 to 3 spatial axes; otherwise reports an error.
bool checkSpatial(Node &node, mlir::Value x);

/// Returns the spatial sizes of the weight `w` of a convolution of `x`. Fails,
/// with a report, if they do not fit or the node's kernel_shape differs.
std::optional<llvm::ArrayRef<int64_t>> getKernel(Node &node, mlir::Value x,
                                                 mlir::Value w);

/// Returns the window of a node with this kernel, without applying auto_pad.
/// Returns nullopt after an error if its attributes do not fit together.
std::optional<Window> readWindow(Node &node, llvm::ArrayRef<int64_t> kernel);

/// Sets the pads according to the node's auto_pad for an input of these spatial
/// sizes. Returns false after an error if ONNX does not define the value of
/// auto_pad.
bool applyAutoPad(Node &node, llvm::ArrayRef<int64_t> input, Window &window);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_CONVOLUTION_SLIDINGWINDOW_H
