//===- DeformConv.cpp - DeformConv ----------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/DeformConv.h"
#include "frontends/onnx/convolution/SlidingWindow.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

Value convertDeformConv(Node &node) {
  DeformConv conv;
  conv.x = node.getOperand(0);
  conv.w = node.getOperand(1);
  conv.offsets = node.getOperand(2);
  conv.bias = node.getOperand(3);
  conv.mask = node.getOperand(4);
  conv.groups = node.getInt("group", 1);
  conv.parts = node.getInt("offset_group", 1);
  int64_t axes = getRank(conv.x) - 2;
  if (axes < 2 || axes > 3)
    return node.unsupported("works along " + Twine(axes) +
                            " spatial axes; nnc handles 2 and 3");
  auto kernel = getKernel(node, conv.x, conv.w);
  auto window = kernel ? readWindow(node, *kernel) : std::nullopt;
  if (!window)
    return {};
  conv.window = *window;
  return frontends::convolveDeformed(node, conv);
}

} // namespace nnc::onnx
