//===- Window.cpp - Windows that slide over images ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/convolution/Window.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::caffe;

/// The largest number in a window. Products of two fit 64 bits.
static constexpr int64_t kMaxNumber = 1 << 30;

namespace {
/// One property of a window as a layer states it: a number for all axes or one
/// for each, or for images numbers of their rows and columns.
struct Property {
  StringRef name;
  SmallVector<int64_t> list;
  bool hasRows, hasColumns;
  int64_t rows, columns;
  int64_t missing; ///< 0 if the property has to be there
  int64_t least;
};
} // namespace

/// Returns the numbers of a property along `axes` axes.
static std::optional<SmallVector<int64_t>>
readProperty(Layer &layer, const Property &property, size_t axes) {
  SmallVector<int64_t> values = property.list;
  if (property.hasRows || property.hasColumns) {
    if (!values.empty() || axes != 2) {
      layer.broken("has " + property.name + " along rows and columns and " +
                   (axes != 2 ? "works along " + Twine(axes) + " axes"
                              : Twine("along all axes")));
      return std::nullopt;
    }
    values = {property.hasRows ? property.rows : property.missing,
              property.hasColumns ? property.columns : property.missing};
  }
  if (values.empty() && property.missing >= property.least)
    values.push_back(property.missing);
  if (values.size() == 1)
    values.assign(axes, values[0]);
  if (values.size() != axes) {
    layer.broken("has " + Twine(values.size()) + " values of " + property.name +
                 " for " + Twine(axes) + " axes");
    return std::nullopt;
  }
  for (int64_t value : values)
    if (value < property.least || value > kMaxNumber) {
      layer.broken("has a " + property.name + " of " + Twine(value));
      return std::nullopt;
    }
  return values;
}

/// Reads all properties of a window.
static std::optional<Window>
readAll(Layer &layer, size_t axes, const Property &kernel,
        const Property &stride, const Property &dilation, const Property &pad) {
  Window window;
  for (auto [property, to] :
       {std::pair(&kernel, &window.kernel), std::pair(&stride, &window.strides),
        std::pair(&dilation, &window.dilations),
        std::pair(&pad, &window.pads)}) {
    auto values = readProperty(layer, *property, axes);
    if (!values)
      return std::nullopt;
    *to = *values;
  }
  SmallVector<int64_t> before = window.pads;
  llvm::append_range(window.pads, before);
  return window;
}

std::optional<Window>
nnc::caffe::readWindow(Layer &layer, const schema::ConvolutionParameter &param,
                       size_t axes) {
  auto list = [](const auto &values) {
    return SmallVector<int64_t>(values.begin(), values.end());
  };
  return readAll(
      layer, axes,
      {"kernel_size", list(param.kernel_size()), param.has_kernel_h(),
       param.has_kernel_w(), param.kernel_h(), param.kernel_w(), 0, 1},
      {"stride", list(param.stride()), param.has_stride_h(),
       param.has_stride_w(), param.stride_h(), param.stride_w(), 1, 1},
      {"dilation", list(param.dilation()), false, false, 0, 0, 1, 1},
      {"pad", list(param.pad()), param.has_pad_h(), param.has_pad_w(),
       param.pad_h(), param.pad_w(), 0, 0});
}

std::optional<Window>
nnc::caffe::readWindow(Layer &layer, const schema::PoolingParameter &param,
                       ArrayRef<int64_t> shape) {
  auto one = [](bool has, int64_t value) {
    return has ? SmallVector<int64_t>{value} : SmallVector<int64_t>();
  };
  Property kernel = {"kernel_size",
                     one(param.has_kernel_size(), param.kernel_size()),
                     param.has_kernel_h(),
                     param.has_kernel_w(),
                     param.kernel_h(),
                     param.kernel_w(),
                     0,
                     1};
  if (param.global_pooling())
    kernel = {
        "kernel_size", SmallVector<int64_t>(shape), false, false, 0, 0, 0, 1};
  return readAll(layer, 2, kernel,
                 {"stride", one(param.has_stride(), param.stride()),
                  param.has_stride_h(), param.has_stride_w(), param.stride_h(),
                  param.stride_w(), 1, 1},
                 {"dilation", {}, false, false, 0, 0, 1, 1},
                 {"pad", one(param.has_pad(), param.pad()), param.has_pad_h(),
                  param.has_pad_w(), param.pad_h(), param.pad_w(), 0, 0});
}
