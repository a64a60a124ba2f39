//===- Window.cpp - Sliding windows of convolutions and pools -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Window.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

Window Window::slice(size_t first, size_t count) const {
  auto cut = [&](ArrayRef<int64_t> list, size_t from) {
    return llvm::to_vector(list.slice(from, count));
  };
  Window part{cut(kernel, first), cut(strides, first), cut(dilations, first),
              cut(pads, first), isSamePadded};
  llvm::append_range(part.pads, cut(pads, getAxes() + first));
  return part;
}

void Window::append() {
  pads.insert(pads.begin() + getAxes(), 0);
  pads.push_back(0);
  for (auto *list : {&kernel, &strides, &dilations})
    list->push_back(1);
}

void nnc::frontends::splitPadding(Window &window, size_t axis, int64_t total,
                                  bool moreBefore) {
  int64_t less = total / 2, more = total - less;
  window.pads[axis] = moreBefore ? more : less;
  window.pads[window.getAxes() + axis] = moreBefore ? less : more;
}

Value nnc::frontends::poolAxes(
    LayerBuilder &layer, Value x, const Window &window,
    llvm::function_ref<Value(Value, const Window &)> pool) {
  size_t axes = window.getAxes();
  if (axes <= 2 || !x)
    return pool(x, window);
  SmallVector<int64_t> shape(getShape(x));
  size_t plane = shape.size() - 2;
  Value y =
      layer.reshape(x, {shape[0], product(ArrayRef(shape).slice(1, plane - 1)),
                        shape[plane], shape[plane + 1]});
  y = pool(y, window.slice(axes - 2, 2));
  if (!y)
    return {};
  SmallVector<int64_t> sizes(getShape(y).take_back(2));
  shape.truncate(plane);
  shape.push_back(product(sizes));
  Window others = window.slice(0, axes - 2);
  others.append();
  y = poolAxes(layer, layer.reshape(y, shape), others, pool);
  if (!y)
    return {};
  shape.assign(getShape(y).drop_back().begin(), getShape(y).drop_back().end());
  llvm::append_range(shape, sizes);
  return layer.reshape(y, shape);
}

Value nnc::frontends::addWindows(LayerBuilder &layer, Value x, Window window,
                                 bool ceil) {
  for (size_t i = 0; i < window.getAxes(); ++i) {
    int64_t &behind = window.pads[window.getAxes() + i];
    int64_t size = getShape(x)[i + 2], before = window.pads[i],
            room = size + before + behind - window.getExtent(i),
            over = room % window.strides[i];
    int64_t next = room - over + window.strides[i];
    if (ceil && room >= 0 && over != 0 && next < size + before)
      behind += window.strides[i] - over;
  }
  SmallVector<int64_t> shape = {getShape(x)[1], 1};
  llvm::append_range(shape, window.kernel);
  return layer.create<nn::ConvOp>(x, layer.splat(1, getElement(x), shape),
                                  window.strides, window.dilations, window.pads,
                                  getShape(x)[1], TypeAttr());
}
