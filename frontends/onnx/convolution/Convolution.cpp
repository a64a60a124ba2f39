//===- Convolution.cpp - Conv and ConvTranspose ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/convolution/SlidingWindow.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

std::optional<ArrayRef<int64_t>> getKernel(Node &node, Value x, Value w) {
  if (!checkSpatial(node, x))
    return std::nullopt;
  if (getRank(w) != getRank(x)) {
    node.broken("has an input of " + Twine(getRank(x)) +
                " axes and a weight of " + Twine(getRank(w)));
    return std::nullopt;
  }
  ArrayRef<int64_t> kernel = getShape(w).drop_front(2);
  auto stated = node.getInts("kernel_shape");
  if (stated && !stated->empty() && ArrayRef<int64_t>(*stated) != kernel) {
    node.broken("states a kernel of " + toString(*stated) +
                " and has a weight of " + toString(getShape(w)));
    return std::nullopt;
  }
  return kernel;
}

/// Adds the node's bias, one value per channel, to `y`, if the node has one.
static Value addBias(Node &node, Value y) {
  Value bias = node.getOperand(2);
  if (!bias || !y)
    return y;
  if (getShape(bias) != ArrayRef<int64_t>(getShape(y)[1]))
    return node.broken("needs a bias of " + Twine(getShape(y)[1]) +
                       " elements, not one of shape " +
                       toString(getShape(bias)));
  SmallVector<int64_t> shape(getRank(y), 1);
  shape[1] = getShape(y)[1];
  return node.createElementwise("add", {y, node.reshape(bias, shape)});
}

Value convertConv(Node &node) {
  Value x = node.getOperand(0), w = node.getOperand(1);
  auto kernel = getKernel(node, node.getOperand(0), node.getOperand(1));
  auto window = kernel ? readWindow(node, *kernel) : std::nullopt;
  if (!window || !applyAutoPad(node, getShape(x).drop_front(2), *window))
    return {};
  Value y = node.create<nn::ConvOp>(x, w, window->strides, window->dilations,
                                    window->pads, node.getInt("group", 1),
                                    TypeAttr());
  return addBias(node, y);
}

/// Returns the size of the output of a transposed convolution along a spatial
/// axis if nothing is cut off by pads.
static int64_t getNaturalSize(int64_t input, const Window &window, size_t axis,
                              int64_t outputPadding) {
  return (input - 1) * window.strides[axis] + outputPadding +
         window.getExtent(axis);
}

/// Computes the pads of a transposed convolution for which its output has the
/// size that output_shape or auto_pad requires.
static bool fitOutput(Node &node, ArrayRef<int64_t> input, Window &window,
                      SmallVectorImpl<int64_t> &outputPadding) {
  StringRef mode = node.getString("auto_pad");
  auto output = node.getInts("output_shape");
  if (!output || output->empty()) {
    if (mode != "SAME_UPPER" && mode != "SAME_LOWER")
      return applyAutoPad(node, input,
                          window); // NOTSET, VALID or invalid
    // Padding makes the output no larger than the taps reach, where a kernel is
    // smaller than its stride: so ONNX's shape inference and onnxruntime have
    // it, although ONNX's text always says the size times the stride.
    output = SmallVector<int64_t>();
    for (size_t i = 0; i < window.getAxes(); ++i)
      output->push_back(
          std::min(input[i] * window.strides[i],
                   getNaturalSize(input[i], window, i, outputPadding[i])));
  }
  // Some exporters include batch and channels in output_shape.
  if (output->size() == window.getAxes() + 2)
    output->erase(output->begin(), output->begin() + 2);
  if (output->size() != window.getAxes()) {
    node.broken("has an output_shape of " + Twine(output->size()) +
                " values instead of " + Twine(window.getAxes()));
    return false;
  }
  for (size_t i = 0; i < window.getAxes(); ++i) {
    int64_t total =
        getNaturalSize(input[i], window, i, outputPadding[i]) - (*output)[i];
    // An output that is larger than the taps reach is padded with zeros at its
    // end.
    outputPadding[i] += std::max<int64_t>(-total, 0);
    splitPadding(window, i, std::max<int64_t>(total, 0), mode != "SAME_UPPER");
  }
  return true;
}

Value convertConvTranspose(Node &node) {
  Value x = node.getOperand(0), w = node.getOperand(1);
  auto kernel = getKernel(node, node.getOperand(0), node.getOperand(1));
  auto window = kernel ? readWindow(node, *kernel) : std::nullopt;
  if (!window)
    return {};
  SmallVector<int64_t> more =
      node.getInts("output_padding").value_or(SmallVector<int64_t>());
  if (more.empty())
    more.assign(window->getAxes(), 0);
  if (more.size() != window->getAxes() ||
      llvm::any_of(more, [](int64_t v) { return v < 0 || v > INT32_MAX; }))
    return node.broken("has output_padding " + toString(more));
  if (!fitOutput(node, getShape(x).drop_front(2), *window, more))
    return {};
  Value y = node.create<nn::ConvTransposeOp>(x, w, window->strides,
                                             window->dilations, window->pads,
                                             more, node.getInt("group", 1),
                                             /*accumulator=*/TypeAttr());
  return addBias(node, y);
}

} // namespace nnc::onnx
