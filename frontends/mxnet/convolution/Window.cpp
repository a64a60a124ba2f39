//===- Window.cpp - Windows that slide over spatial axes ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/convolution/Window.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::mxnet;

std::optional<Window> nnc::mxnet::readWindow(Layer &layer, Value x) {
  int64_t axes = getRank(x) - 2;
  if (axes < 1 || axes > 3) {
    layer.broken("needs an input with 1 to 3 spatial axes, not one of shape " +
                 toString(getShape(x)));
    return std::nullopt;
  }
  Window window;
  window.kernel = layer.getSizes("kernel", axes, 1, 1);
  window.strides = layer.getSizes("stride", axes, 1, 1);
  window.dilations = layer.getSizes("dilate", axes, 1, 1);
  window.pads = layer.getSizes("pad", axes, 0, 0);
  window.pads.append(window.pads.begin(), window.pads.begin() + axes);
  if (!layer.getInts("kernel") && !layer.hasFailed()) {
    layer.broken("lacks its kernel");
    return std::nullopt;
  }
  return layer.hasFailed() ? std::nullopt : std::optional(window);
}

Value AxisOrder::enter(Layer &layer, Value x) const {
  return x && isChannelsLast ? layer.moveAxis(x, getRank(x) - 1, 1) : x;
}

Value AxisOrder::leave(Layer &layer, Value x) const {
  return x && isChannelsLast ? layer.moveAxis(x, 1, getRank(x) - 1) : x;
}

std::optional<AxisOrder> nnc::mxnet::readLayout(Layer &layer, int64_t rank) {
  static constexpr StringLiteral kFirst[] = {"NCW", "NCHW", "NCDHW"},
                                 kLast[] = {"NWC", "NHWC", "NDHWC"};
  StringRef layout = layer.getText("layout");
  if (layout.empty())
    return AxisOrder{};
  if (rank >= 3 && rank <= 5) {
    if (layout == kFirst[rank - 3])
      return AxisOrder{};
    if (layout == kLast[rank - 3])
      return AxisOrder{/*isChannelsLast=*/true};
  }
  layer.broken("has the layout '" + layout + "' for an input of " +
               Twine(rank) + " axes");
  return std::nullopt;
}
