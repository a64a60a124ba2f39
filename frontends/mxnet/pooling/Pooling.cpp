//===- Pooling.cpp - Pools over windows -----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/pooling/Pooling.h"

#include "frontends/mxnet/convolution/Window.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {
namespace {

/// The number that a node Pooling computes of each window.
enum class PoolKind { max, avg, sum, lp };

class Pool {
public:
  Pool(Layer &layer, PoolKind kind, int64_t power)
      : layer(layer), kind(kind), power(power) {}

  Value overAll(Value x);
  Value overWindows(Value x);

private:
  /// Sets the sizes of the result, and extends the padding behind the axes by
  /// what windows reach beyond it.
  bool readSizes(Value x, Window &window);
  /// Returns the mean of each window. Elements in the padding count as zeros or
  /// not at all.
  Value average(Value x, const Window &window, bool countsPadding);
  Value averageOfElements(Value x, const Window &window);
  /// Pools over three axes as over the last two, then over the first.
  /// `poolPlane` pools over one or two axes.
  Value poolAxes(Value x, const Window &window,
                 llvm::function_ref<Value(Value, const Window &)> poolPlane);

  Layer &layer;
  PoolKind kind;
  int64_t power;
  /// The padding behind each axis that the node states, which counts.
  SmallVector<int64_t> stated;
  SmallVector<int64_t> sizes;
};

} // namespace

/// Returns |x| to a power.
static Value raise(Layer &layer, Value x, double power) {
  if (power == 1)
    return layer.createElementwise("abs", x);
  if (power == 2)
    return layer.mul(x, x);
  return layer.createElementwise(
      "pow", {layer.createElementwise("abs", x), layer.scalar(power, x)});
}

static Value takeRoot(Layer &layer, Value x, double power) {
  if (power == 1)
    return x;
  if (power == 2)
    return layer.createElementwise("sqrt", x);
  return layer.createElementwise("pow", {x, layer.scalar(1 / power, x)});
}

Value Pool::overAll(Value x) {
  ArrayRef<int64_t> kernel = getShape(x).drop_front(2);
  size_t axes = kernel.size();
  SmallVector<int64_t> ones(axes, 1), zeros(2 * axes, 0), others = iota(axes);
  for (int64_t &axis : others)
    axis += 2;
  if (kind == PoolKind::lp)
    return takeRoot(
        layer,
        layer.reduce(nn::ReduceKind::sum, raise(layer, x, power), others, true),
        power);
  if (kind == PoolKind::sum)
    return layer.reduce(nn::ReduceKind::sum, x, others, true);
  bool isMax = kind == PoolKind::max;
  // Pools have routines for blocked layouts.
  if (axes > 2 || llvm::is_contained(kernel, 0))
    return layer.reduce(isMax ? nn::ReduceKind::max : nn::ReduceKind::mean, x,
                        others, true);
  if (isMax)
    return layer.create<nn::MaxPoolOp>(x, kernel, ones, ones, zeros, false);
  return layer.create<nn::AvgPoolOp>(x, kernel, ones, ones, zeros, false, false,
                                     /*accumulator=*/TypeAttr());
}

bool Pool::readSizes(Value x, Window &window) {
  StringRef convention = layer.getText("pooling_convention", "valid");
  if (convention != "valid" && convention != "full" && convention != "same") {
    layer.broken("has the pooling_convention '" + convention + "'");
    return false;
  }
  size_t axes = window.getAxes();
  for (size_t i = 0; i < axes; ++i) {
    int64_t padded = getShape(x)[i + 2] + 2 * window.pads[i],
            stride = window.strides[i];
    int64_t room = padded - window.kernel[i];
    if (room < 0 && convention != "same") {
      layer.broken("has a kernel of " + toString(window.kernel) +
                   " on an input of shape " + toString(getShape(x)));
      return false;
    }
    int64_t size = convention == "valid"  ? room / stride + 1
                   : convention == "full" ? llvm::divideCeil(room, stride) + 1
                                          : llvm::divideCeil(padded, stride);
    sizes.push_back(size);
    stated.push_back(window.pads[axes + i]);
    int64_t reach = (size - 1) * stride + window.kernel[i] - padded;
    window.pads[axes + i] += std::max<int64_t>(reach, 0);
  }
  return true;
}

/// Returns the windows of two axes, the second of which has one element in
/// each.
static Window sliceWindow(const Window &window, size_t axis, size_t count) {
  Window part;
  size_t axes = window.getAxes();
  auto take = [&](const SmallVector<int64_t> &from, SmallVector<int64_t> &to,
                  size_t begin, int64_t otherwise) {
    to.append(from.begin() + begin, from.begin() + begin + count);
    to.resize(to.size() + 2 - count, otherwise);
  };
  take(window.kernel, part.kernel, axis, 1);
  take(window.strides, part.strides, axis, 1);
  take(window.dilations, part.dilations, axis, 1);
  take(window.pads, part.pads, axis, 0);
  take(window.pads, part.pads, axes + axis, 0);
  return part;
}

Value Pool::poolAxes(
    Value x, const Window &window,
    llvm::function_ref<Value(Value, const Window &)> poolPlane) {
  if (window.getAxes() <= 2)
    return poolPlane(x, window);
  SmallVector<int64_t> shape(getShape(x));
  Value y = poolPlane(
      layer.reshape(x, {shape[0], shape[1] * shape[2], shape[3], shape[4]}),
      sliceWindow(window, 1, 2));
  if (!y)
    return {};
  SmallVector<int64_t> plane(getShape(y).take_back(2));
  y = poolPlane(
      layer.reshape(y, {shape[0], shape[1], shape[2], plane[0] * plane[1]}),
      sliceWindow(window, 0, 1));
  if (!y)
    return {};
  return layer.reshape(
      y, {shape[0], shape[1], getShape(y)[2], plane[0], plane[1]});
}

Value Pool::average(Value x, const Window &window, bool countsPadding) {
  return poolAxes(x, window, [&](Value plane, const Window &w) {
    return layer.create<nn::AvgPoolOp>(plane, w.kernel, w.strides, w.dilations,
                                       w.pads, false, countsPadding,
                                       /*accumulator=*/TypeAttr());
  });
}

Value Pool::averageOfElements(Value x, const Window &window) {
  if (!layer.getBool("count_include_pad", true))
    return average(x, window, false);
  // Elements that windows reach beyond the stated padding do not count.
  size_t axes = window.getAxes();
  Value y = average(x, window, true);
  for (size_t i = 0; i < axes; ++i) {
    int64_t end = getShape(x)[i + 2] + stated[i];
    SmallVector<double> factors;
    bool isWhole = true;
    for (int64_t o = 0; o < sizes[i]; ++o) {
      int64_t begin = o * window.strides[i] - window.pads[i];
      int64_t counted = std::min(begin + window.kernel[i], end) - begin;
      isWhole &= counted == window.kernel[i];
      factors.push_back(double(window.kernel[i]) /
                        double(std::max<int64_t>(counted, 1)));
    }
    if (isWhole || !y)
      continue;
    if (sizes[i] > kMaxReadElements)
      return layer.fail(ImportStatus::limit, "pools an axis into more than " +
                                                 Twine(kMaxReadElements) +
                                                 " windows");
    SmallVector<int64_t> shape(axes - i, 1);
    shape[0] = sizes[i];
    Type element = layer.getF32();
    Value factor = layer.constant(frontends::makeAttribute(
        {RankedTensorType::get(sizes[i], element), {}, factors}));
    y = layer.mul(y, layer.castTo(layer.reshape(factor, shape), getElement(y)));
  }
  return y;
}

Value Pool::overWindows(Value x) {
  auto window = readWindow(layer, x);
  if (!window || !readSizes(x, *window))
    return {};
  if (kind == PoolKind::max)
    return poolAxes(x, *window, [&](Value plane, const Window &w) {
      return layer.create<nn::MaxPoolOp>(plane, w.kernel, w.strides,
                                         w.dilations, w.pads, false);
    });
  if (kind == PoolKind::avg)
    return averageOfElements(x, *window);
  if (kind == PoolKind::lp)
    x = raise(layer, x, power);
  Value y = average(x, *window, true);
  y = layer.mul(y, layer.scalar(double(product(window->kernel)), y));
  return kind == PoolKind::lp ? takeRoot(layer, y, power) : y;
}

Value pool(Layer &layer, Value x) {
  StringRef type = layer.getText("pool_type", "max");
  static constexpr StringLiteral kKinds[] = {"max", "avg", "sum", "lp"};
  const auto *found = llvm::find(kKinds, type);
  if (found == std::end(kKinds))
    return layer.broken("has the pool_type '" + type + "'");
  int64_t power = layer.getInt("p_value", 2);
  if (power < 1 || power > 64)
    return layer.broken("has the p_value " + Twine(power));
  auto layout = x ? readLayout(layer, getRank(x)) : std::nullopt;
  if (!layout)
    return {};
  x = layout->enter(layer, x);
  if (getRank(x) < 3)
    return layer.broken("needs an input with spatial axes, not one of shape " +
                        toString(getShape(x)));
  Pool pool(layer, PoolKind(found - kKinds), power);
  Value y = layer.getBool("global_pool", false) ? pool.overAll(x)
                                                : pool.overWindows(x);
  return layout->leave(layer, y);
}

Value convertPooling(Layer &layer) { return pool(layer, layer.getInput(0)); }

/// Converts _contrib_AdaptiveAvgPooling2D: bin i of n along an axis holds the
/// elements from floor(i * size / n) to ceil((i + 1) * size / n). Where these
/// are not windows of one size, means are a product with a matrix.
Value convertAdaptiveAvgPooling(Layer &layer) {
  Value x = layer.getInput(0);
  if (getRank(x) != 4)
    return layer.broken("needs an input of 4 axes, not one of shape " +
                        toString(getShape(x)));
  auto given = layer.getInts("output_size").value_or(SmallVector<int64_t>());
  if (given.empty())
    given.push_back(1);
  if (given.size() == 1)
    given.push_back(given[0]);
  if (given.size() != 2 || given[0] < 1 || given[1] < 1 ||
      given[0] > kMaxReadElements || given[1] > kMaxReadElements)
    return layer.broken("has the output_size " + toString(given));
  ArrayRef<int64_t> sizes = getShape(x).drop_front(2);
  if (sizes[0] % given[0] == 0 && sizes[1] % given[1] == 0) {
    SmallVector<int64_t> kernel = {sizes[0] / given[0], sizes[1] / given[1]},
                         ones(2, 1), zeros(4, 0);
    bool isAll = given[0] == 1 && given[1] == 1;
    return layer.create<nn::AvgPoolOp>(x, kernel, isAll ? ones : kernel, ones,
                                       zeros, false, false,
                                       /*accumulator=*/TypeAttr());
  }
  for (int64_t axis : {3, 2}) {
    int64_t size = getShape(x)[axis], count = given[axis - 2];
    if (size * count > kMaxReadElements * 16)
      return layer.fail(ImportStatus::limit, "pools an axis of " + Twine(size) +
                                                 " elements into " +
                                                 Twine(count) + " bins");
    std::vector<float> means(size * count, 0.0F);
    for (int64_t i = 0; i < count; ++i) {
      int64_t begin = i * size / count,
              end = llvm::divideCeil((i + 1) * size, count);
      for (int64_t j = begin; j < end; ++j)
        means[j * count + i] = 1.0F / float(end - begin);
    }
    Value matrix = layer.constant(DenseElementsAttr::get(
        RankedTensorType::get({size, count}, layer.getF32()),
        ArrayRef<float>(means)));
    x = layer.moveAxis(x, axis, 3);
    x = layer.create<nn::MatMulOp>(x, matrix, false, false, TypeAttr());
    if (!x)
      return {};
    x = layer.moveAxis(x, 3, axis);
  }
  return x;
}

} // namespace nnc::mxnet
