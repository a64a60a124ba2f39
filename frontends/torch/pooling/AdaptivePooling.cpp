//===- AdaptivePooling.cpp - Pools to results of given sizes -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Window.h"
#include "frontends/torch/graph/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {
namespace {

/// The windows along one axis: window i has the elements from starts[i] on,
/// `widths[i]` of them, and at most `width`.
struct Windows {
  SmallVector<int64_t> starts, widths;
  int64_t width = 0;
};

/// The input of an adaptive pool as batch x channels x spatial axes, and the
/// sizes of the result along these.
struct Adaptive {
  Value x;
  SmallVector<int64_t> sizes;
  bool isSingle = false; ///< the input lacks the axis of the batch

  size_t getAxes() const { return sizes.size(); }
  int64_t getInput(size_t axis) const { return getShape(x)[2 + axis]; }
};

} // namespace

static Windows getWindows(int64_t input, int64_t output) {
  Windows windows;
  for (int64_t i = 0; i < output; ++i) {
    int64_t start = i * input / output,
            end = ((i + 1) * input + output - 1) / output;
    windows.starts.push_back(start);
    windows.widths.push_back(end - start);
    windows.width = std::max(windows.width, end - start);
  }
  return windows;
}

static std::optional<Adaptive> readAdaptive(Node &node) {
  Adaptive pool;
  pool.x = node.getTensor("self");
  size_t at = node.getOp().find("pool") + 4;
  size_t axes = at < node.getOp().size() ? node.getOp()[at] - '0' : 0;
  pool.sizes = node.getInts("output_size", axes, 1);
  if (!pool.x)
    return std::nullopt;
  auto rank = static_cast<size_t>(getRank(pool.x));
  pool.isSingle = rank == axes + 1;
  if (rank != axes + 1 && rank != axes + 2) {
    node.broken("pools a tensor of shape " + toString(getShape(pool.x)));
    return std::nullopt;
  }
  if (pool.isSingle)
    pool.x = node.unsqueeze(pool.x, 0);
  for (size_t i = 0; i < axes; ++i)
    if (pool.sizes[i] < 1 || pool.sizes[i] > INT32_MAX ||
        pool.getInput(i) < 1) {
      node.broken("pools a tensor of shape " + toString(getShape(pool.x)) +
                  " to the sizes " + toString(ArrayRef(pool.sizes)));
      return std::nullopt;
    }
  return pool;
}

/// Returns the window that covers the input evenly, or nullopt if the sizes of
/// the result do not divide those of the input.
static std::optional<Window> getEvenWindow(const Adaptive &pool) {
  Window window;
  for (size_t i = 0; i < pool.getAxes(); ++i) {
    if (pool.getInput(i) % pool.sizes[i] != 0)
      return std::nullopt;
    window.kernel.push_back(pool.getInput(i) / pool.sizes[i]);
  }
  window.strides = window.kernel;
  window.dilations.assign(pool.getAxes(), 1);
  window.pads.assign(2 * pool.getAxes(), 0);
  return window;
}

static Value finish(Node &node, const Adaptive &pool, Value y) {
  return y && pool.isSingle ? node.reshape(y, getShape(y).drop_front()) : y;
}

/// Computes the means of uneven windows along one axis, by known taps.
static Value averageAxis(Node &node, Value x, int64_t axis, int64_t size) {
  int64_t input = getShape(x)[axis];
  Windows windows = getWindows(input, size);
  auto type = RankedTensorType::get({size, windows.width},
                                    node.getBuilder().getF32Type());
  if (!node.checkSize(type, /*isMade=*/true))
    return {};
  SmallVector<float> weights;
  for (auto [start, width] : llvm::zip(windows.starts, windows.widths)) {
    // All taps lie in the input.
    int64_t moved = std::max<int64_t>(start + windows.width - input, 0);
    start -= moved;
    for (int64_t i = 0; i < windows.width; ++i)
      weights.push_back(
          i >= moved && i < moved + width ? 1 / static_cast<float>(width) : 0);
  }
  Value taps =
      node.constant(DenseElementsAttr::get(type, ArrayRef<float>(weights)));
  return node.create<nn::FilterOp>(x, node.constant(windows.starts),
                                   node.castTo(taps, getElement(x)), axis);
}

Value convertAdaptiveAvgPool(Node &node) {
  auto pool = readAdaptive(node);
  if (!pool)
    return {};
  if (auto window = getEvenWindow(*pool)) {
    Value y =
        poolAxes(node, pool->x, *window, [&](Value x, const Window &part) {
          return node.create<nn::AvgPoolOp>(x, part.kernel, part.strides,
                                            part.dilations, part.pads, false,
                                            false, /*accumulator=*/TypeAttr());
        });
    return finish(node, *pool, y);
  }
  Value y = pool->x;
  for (size_t i = 0; i < pool->getAxes() && y; ++i)
    if (pool->sizes[i] != pool->getInput(i))
      y = averageAxis(node, y, 2 + static_cast<int64_t>(i), pool->sizes[i]);
  return finish(node, *pool, y);
}

/// Returns the positions in a plane of the largest elements of windows, whose
/// positions among the elements of their windows are `places`.
static Value locate(Node &node, const Adaptive &pool, ArrayRef<Windows> windows,
                    Value places) {
  Value sum = node.splat(0, getElement(places), {});
  int64_t taps = 1, stride = 1;
  for (size_t i = pool.getAxes(); i-- > 0;) {
    Value tap = node.createBinary("div", places, static_cast<double>(taps));
    tap = node.createBinary("mod", tap, static_cast<double>(windows[i].width));
    SmallVector<int64_t> shape(pool.getAxes(), 1);
    shape[i] = pool.sizes[i];
    Value at = node.createElementwise(
        "add", {tap, node.reshape(node.constant(windows[i].starts), shape)});
    sum = node.createElementwise(
        "add",
        {sum, node.createBinary("mul", at, static_cast<double>(stride))});
    taps *= windows[i].width;
    stride *= pool.getInput(i);
  }
  return sum;
}

/// Converts an adaptive maximum. Elements of each window are gathered, in which
/// the last one is repeated in windows that are narrower than others.
Value convertAdaptiveMaxPool(Node &node) {
  auto pool = readAdaptive(node);
  if (!pool)
    return {};
  size_t axes = pool->getAxes();
  Value y = pool->x;
  SmallVector<Windows> windows;
  SmallVector<int64_t> wide(getShape(y).take_front(2)), order = {0, 1}, last,
                                                        shape(wide);
  for (size_t i = 0; i < axes; ++i) {
    windows.push_back(getWindows(pool->getInput(i), pool->sizes[i]));
    SmallVector<int64_t> picked;
    for (auto [start, width] : llvm::zip(windows[i].starts, windows[i].widths))
      for (int64_t tap = 0; tap < windows[i].width; ++tap)
        picked.push_back(start + std::min(tap, width - 1));
    y = node.create<nn::GatherOp>(y, node.constant(picked),
                                  2 + static_cast<int64_t>(i));
    wide.append({pool->sizes[i], windows[i].width});
    order.push_back(2 + 2 * static_cast<int64_t>(i));
    last.push_back(3 + 2 * static_cast<int64_t>(i));
    shape.push_back(pool->sizes[i]);
  }
  llvm::append_range(order, last);
  y = node.transpose(node.reshape(y, wide), order);
  shape.push_back(1);
  for (const Windows &window : windows)
    shape.back() *= window.width;
  y = node.reshape(y, shape);
  auto axis = static_cast<int64_t>(shape.size()) - 1;
  if (node.getNumResults() > 1) {
    Value places = node.create<nn::ArgMaxOp>(y, axis, false, false);
    node.setResult(1,
                   finish(node, *pool, locate(node, *pool, windows, places)));
  }
  return finish(node, *pool,
                node.create<nn::ReduceOp>(nn::ReduceKind::max, y,
                                          ArrayRef<int64_t>(axis), false));
}

} // namespace nnc::torch
