//===- Pooling.cpp - Pooling over windows and planes ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/convolution/SlidingWindow.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

static std::optional<Window> readPool(Node &node) {
  Value x = node.getOperand(0);
  auto kernel = node.getInts("kernel_shape").value_or(SmallVector<int64_t>());
  if (kernel.empty() || static_cast<int64_t>(kernel.size()) != getRank(x) - 2) {
    node.broken("has a kernel of " + Twine(kernel.size()) +
                " axes on an input of shape " + toString(getShape(x)));
    return std::nullopt;
  }
  auto window = readWindow(node, kernel);
  if (!window || !applyAutoPad(node, getShape(x).drop_front(2), *window))
    return std::nullopt;
  return window;
}

/// Returns the node's ceil_mode, but false for SAME padding, with which the
/// output has ceil(input / stride) elements in either mode.
static bool getCeilMode(Node &node, const Window &window) {
  return node.getBool("ceil_mode") && !window.isSamePadded;
}

/// Returns the positions of the largest elements, MaxPool's second result.
static Value findPlaces(Node &node, const Window &window, bool ceil) {
  if (window.getAxes() > 3)
    return node.unsupported("has places of maxima along " +
                            Twine(window.getAxes()) +
                            " spatial axes; nnc finds them along 1 to 3");
  int64_t order = node.getInt("storage_order");
  if (order != 0 && order != 1)
    return node.broken("has storage_order " + Twine(order));
  return node.create<nn::MaxPoolIndexOp>(node.getOperand(0), window.kernel,
                                         window.strides, window.dilations,
                                         window.pads, ceil, order == 1);
}

Value convertMaxPool(Node &node) {
  auto window = readPool(node);
  if (!window)
    return {};
  bool ceil = getCeilMode(node, *window);
  if (node.hasResult(1)) {
    Value places = findPlaces(node, *window, ceil);
    if (!places)
      return {};
    node.setResult(1, places);
  }
  return poolAxes(node, node.getOperand(0), *window,
                  [&](Value x, const Window &w) {
                    return node.create<nn::MaxPoolOp>(
                        x, w.kernel, w.strides, w.dilations, w.pads, ceil);
                  });
}

Value convertAveragePool(Node &node) {
  auto window = readPool(node);
  if (!window)
    return {};
  bool ceil = getCeilMode(node, *window);
  return poolAxes(
      node, node.getOperand(0), *window, [&](Value x, const Window &w) {
        return node.create<nn::AvgPoolOp>(x, w.kernel, w.strides, w.dilations,
                                          w.pads, ceil,
                                          node.getBool("count_include_pad"),
                                          /*accumulator=*/TypeAttr());
      });
}

/// Pools over all axes behind batch and channels. Images use pooling routines,
/// which support blocked layouts; other ranks use reductions.
static Value poolGlobally(Node &node, bool isMax) {
  Value x = node.getOperand(0);
  int64_t rank = getRank(x);
  if (rank < 3)
    return node.broken("needs an input with spatial axes, not one of shape " +
                       toString(getShape(x)));
  ArrayRef<int64_t> kernel = getShape(x).drop_front(2);
  if (rank > 4 || llvm::is_contained(kernel, 0)) {
    SmallVector<int64_t> axes = iota(rank);
    axes.erase(axes.begin(), axes.begin() + 2);
    return node.create<nn::ReduceOp>(
        isMax ? nn::ReduceKind::max : nn::ReduceKind::mean, x, axes, true);
  }
  SmallVector<int64_t> ones(kernel.size(), 1), zeros(2 * kernel.size(), 0);
  if (isMax)
    return node.create<nn::MaxPoolOp>(x, kernel, ones, ones, zeros, false);
  return node.create<nn::AvgPoolOp>(x, kernel, ones, ones, zeros, false, false,
                                    /*accumulator=*/TypeAttr());
}

Value convertGlobalAveragePool(Node &node) {
  return poolGlobally(node, /*isMax=*/false);
}
Value convertGlobalMaxPool(Node &node) {
  return poolGlobally(node, /*isMax=*/true);
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// Returns |x| to the power of p.
static Value raise(Node &node, Value x, int64_t p) {
  if (p == 1)
    return node.createElementwise("abs", x);
  if (p == 2)
    return node.createElementwise("mul", {x, x});
  return node.createElementwise(
      "pow", {node.createElementwise("abs", x),
              node.splat(static_cast<double>(p), getElement(x))});
}
/// Returns the root of order p.
static Value takeRoot(Node &node, Value x, int64_t p) {
  if (p == 1 || !x)
    return x;
  if (p == 2)
    return node.createElementwise("sqrt", x);
  return node.createElementwise(
      "pow", {x, node.splat(1.0 / static_cast<double>(p), getElement(x))});
}
static bool checkNorm(Node &node, int64_t p) {
  if (p >= 1 && p <= INT32_MAX)
    return true;
  node.broken("has p=" + Twine(p) + ", which is no norm");
  return false;
}

Value convertLpPool(Node &node) {
  auto window = readPool(node);
  int64_t p = node.getInt("p", 2);
  if (!window || !checkNorm(node, p))
    return {};
  bool ceil = getCeilMode(node, *window);
  Value sum = poolAxes(
      node, raise(node, node.getOperand(0), p), *window,
      [&](Value x, const Window &w) { return addWindows(node, x, w, ceil); });
  return takeRoot(node, sum, p);
}

Value convertGlobalLpPool(Node &node) {
  Value x = node.getOperand(0);
  int64_t p = node.getInt("p", 2);
  if (getRank(x) < 3)
    return node.broken("needs an input with spatial axes, not one of shape " +
                       toString(getShape(x)));
  if (!checkNorm(node, p))
    return {};
  SmallVector<int64_t> axes = iota(getRank(x));
  axes.erase(axes.begin(), axes.begin() + 2);
  Value sum = node.create<nn::ReduceOp>(nn::ReduceKind::sum, raise(node, x, p),
                                        axes, true);
  return takeRoot(node, sum, p);
}

} // namespace nnc::onnx
