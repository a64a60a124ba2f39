//===- Pooling.cpp - Pools over windows ----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Positions.h"
#include "frontends/common/Window.h"
#include "frontends/torch/graph/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {
namespace {

/// The input of a pool, and its window.
struct Pool {
  Value x;
  Window window;
  bool ceil = false;
  bool isSingle = false; ///< the input lacks the axis of the batch
};

} // namespace

/// Returns the number of spatial axes of an operator whose name says it:
/// "max_pool2d_with_indices" has 2.
static size_t getAxes(Node &node) {
  size_t at = node.getOp().find("pool") + 4;
  return at < node.getOp().size() ? node.getOp()[at] - '0' : 0;
}

static std::optional<Pool> readPool(Node &node) {
  constexpr int64_t most = 1 << 30;
  size_t axes = getAxes(node);
  Pool pool;
  pool.x = node.getTensor("self");
  if (!pool.x)
    return std::nullopt;
  auto rank = static_cast<size_t>(getRank(pool.x));
  if (rank != axes + 1 && rank != axes + 2) {
    node.broken("pools a tensor of shape " + toString(getShape(pool.x)));
    return std::nullopt;
  }
  pool.isSingle = rank == axes + 1;
  if (pool.isSingle)
    pool.x = node.unsqueeze(pool.x, 0);
  pool.ceil = node.getBool("ceil_mode");
  Window &window = pool.window;
  window.kernel = node.getInts("kernel_size", axes, 1);
  window.strides = node.getInts("stride", axes, 0);
  if (node.getInts("stride").empty())
    window.strides = window.kernel;
  window.dilations = node.getInts("dilation", axes, 1);
  window.pads = node.getInts("padding", axes, 0);
  window.pads.append(window.pads.begin(), window.pads.end());
  for (auto *list : {&window.kernel, &window.strides, &window.dilations})
    for (int64_t number : *list)
      if (number < 1 || number > most) {
        node.broken("has a window with a size of " + Twine(number));
        return std::nullopt;
      }
  for (int64_t pad : window.pads)
    if (pad < 0 || pad > most) {
      node.broken("has a padding of " + Twine(pad));
      return std::nullopt;
    }
  return pool;
}

/// Removes the axis of a batch that the input lacks.
static Value finish(Node &node, const Pool &pool, Value y) {
  return y && pool.isSingle ? node.reshape(y, getShape(y).drop_front()) : y;
}

Value convertMaxPool(Node &node) {
  auto pool = readPool(node);
  if (!pool)
    return {};
  const Window &window = pool->window;
  if (node.getNumResults() > 1) {
    // PyTorch counts positions within a plane, nnc within the whole tensor.
    Value places = node.create<nn::MaxPoolIndexOp>(
        pool->x, window.kernel, window.strides, window.dilations, window.pads,
        pool->ceil, /*column_major=*/false);
    int64_t plane = product(getShape(pool->x).drop_front(2));
    if (plane > 0)
      node.setResult(1, finish(node, *pool,
                               node.createBinary("mod", places,
                                                 static_cast<double>(plane))));
  }
  Value y = poolAxes(node, pool->x, window, [&](Value x, const Window &part) {
    return node.create<nn::MaxPoolOp>(x, part.kernel, part.strides,
                                      part.dilations, part.pads, pool->ceil);
  });
  return finish(node, *pool, y);
}

/// Converts max_unpool2d and max_unpool3d: zeros, with the elements at their
/// places, which count within a plane.
Value convertMaxUnpool(Node &node) {
  Value x = node.getTensor("self"), places = node.getTensor("indices");
  int64_t axes = node.getOp().starts_with("max_unpool3d") ? 3 : 2;
  SmallVector<int64_t> size = node.getInts("output_size", axes, 0);
  if (!x || !places || node.hasFailed())
    return {};
  if (getShape(x) != getShape(places) ||
      (getRank(x) != axes + 1 && getRank(x) != axes + 2))
    return node.broken("has elements of shape " + toString(getShape(x)) +
                       " and places of shape " + toString(getShape(places)));
  SmallVector<int64_t> shape(getShape(x).drop_back(axes));
  int64_t planes = product(shape);
  shape.append(size);
  if (!node.checkSize(RankedTensorType::get(shape, getElement(x))))
    return {};
  int64_t plane = product(size), count = getNumElements(x);
  places = node.createElementwise(
      "add", {node.reshape(places, {planes, planes ? count / planes : 0}),
              makeSteps(node, planes, plane, 0, 2)});
  Value zeros = node.splat(0, getElement(x), {planes * plane});
  if (!places || count == 0)
    return places ? node.reshape(zeros, shape) : places;
  Value y = node.create<nn::ScatterOp>(nn::ScatterKind::replace, zeros,
                                       node.reshape(places, {count}),
                                       node.reshape(x, {count}));
  return node.reshape(y, shape);
}

Value convertAvgPool(Node &node) {
  auto pool = readPool(node);
  if (!pool)
    return {};
  if (node.has("divisor_override")) {
    double divisor = static_cast<double>(node.getInt("divisor_override", 1));
    if (divisor == 0)
      return node.broken("divides by 0");
    Value sum =
        poolAxes(node, pool->x, pool->window, [&](Value x, const Window &part) {
          return addWindows(node, x, part, pool->ceil);
        });
    return finish(node, *pool, node.createBinary("div", sum, divisor));
  }
  bool countsPads = node.getBool("count_include_pad", true);
  Value y =
      poolAxes(node, pool->x, pool->window, [&](Value x, const Window &part) {
        return node.create<nn::AvgPoolOp>(x, part.kernel, part.strides,
                                          part.dilations, part.pads, pool->ceil,
                                          countsPads,
                                          /*accumulator=*/TypeAttr());
      });
  return finish(node, *pool, y);
}

} // namespace nnc::torch
