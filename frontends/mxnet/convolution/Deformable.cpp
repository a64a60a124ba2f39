//===- Deformable.cpp - Deformable convolutions ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/DeformConv.h"
#include "frontends/mxnet/convolution/Window.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

/// Converts deformable convolutions, whose first inputs are the image and the
/// offsets. In the first version taps at the edge of the image are not mixed
/// with 0.
static Value convertDeformable(Layer &layer, bool hasMask) {
  size_t next = 2;
  DeformConv conv;
  conv.x = layer.getInput(0);
  conv.offsets = layer.getInput(1);
  conv.mask = hasMask ? layer.getInput(next++) : Value();
  conv.w = layer.getInput(next++);
  if (!layer.getBool("no_bias", false))
    conv.bias = layer.getInput(next);
  conv.groups = layer.getInt("num_group", 1);
  conv.parts = layer.getInt("num_deformable_group", 1);
  conv.hasSharpEdges = !hasMask;
  StringRef layout = layer.getText("layout", "NCHW");
  if (getRank(conv.x) != 4 || layout != "NCHW")
    return layer.unsupported("has an image of shape " +
                             toString(getShape(conv.x)) + " in the layout " +
                             layout + "; nnc handles NCHW");
  auto window = readWindow(layer, conv.x);
  if (!window)
    return {};
  if (!conv.w || getRank(conv.w) != 4 ||
      getShape(conv.w).drop_front(2) != ArrayRef<int64_t>(window->kernel))
    return layer.broken("states a kernel of " + toString(window->kernel) +
                        " and has a weight of shape " +
                        toString(getShape(conv.w)));
  conv.window = *window;
  return convolveDeformed(layer, conv);
}

Value convertDeformableV1(Layer &layer) {
  return convertDeformable(layer, false);
}
Value convertDeformableV2(Layer &layer) {
  return convertDeformable(layer, true);
}

} // namespace nnc::mxnet
