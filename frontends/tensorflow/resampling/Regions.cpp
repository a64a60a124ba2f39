//===- Regions.cpp - Regions of images -----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Padding.h"
#include "frontends/tensorflow/convolution/SlidingWindow.h"
#include "frontends/tensorflow/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

//===----------------------------------------------------------------------===//
// CropAndResize
//===----------------------------------------------------------------------===//

namespace {
/// The places of the results along one axis of an image, for each box.
struct Places {
  Value at;        ///< boxes x size
  Value isOutside; ///< bools
};
} // namespace

/// Returns the places between two sides of boxes on an axis of `from` elements.
static Places findPlaces(Layer &layer, Value boxes, int64_t side, int64_t from,
                         int64_t size) {
  Type real = getElement(boxes);
  int64_t count = getShape(boxes)[0];
  auto number = [&](double value) { return layer.splat(value, real); };
  auto compute = [&](StringRef op, ArrayRef<Value> operands) {
    return layer.createElementwise(op, operands);
  };
  Value begin = layer.slice(boxes, {0, side}, {count, 1}),
        end = layer.slice(boxes, {0, side + 2}, {count, 1});
  auto last = double(from - 1);
  Value at;
  if (size > 1) {
    Value step = compute("mul", {compute("sub", {end, begin}), number(last)});
    step = compute("div", {step, number(double(size - 1))});
    at = compute("add",
                 {compute("mul", {begin, number(last)}),
                  compute("mul", {makeCounts(layer, size, real, 1, 2), step})});
  } else {
    at = compute("mul", {compute("add", {begin, end}), number(0.5 * last)});
  }
  Value isOutside =
      compute("logical_or", {compute("less", {at, number(0)}),
                             compute("greater", {at, number(last)})});
  Value inside =
      compute("max", {compute("min", {at, number(last)}), number(0)});
  return {inside, isOutside};
}

/// Converts CropAndResize: boxes of images, interpolated to one size.
Value convertCropAndResize(Layer &layer) {
  Value x = layer.getInput(0), boxes = layer.getInput(1),
        images = layer.getInput(2);
  auto size = layer.readInts(layer.getInput(3), "a size of crops");
  if (!x || !boxes || !images || !size || !areIndices(layer, images))
    return {};
  StringRef method = layer.getText("method", "bilinear");
  if (getRank(x) != 4 || getNumElements(x) == 0 || getRank(boxes) != 2 ||
      getShape(boxes)[1] != 4 || getNumElements(boxes) == 0 ||
      getNumElements(images) != getShape(boxes)[0] || size->size() != 2 ||
      (*size)[0] < 1 || (*size)[1] < 1 || (*size)[0] > 1 << 12 ||
      (*size)[1] > 1 << 12 || (method != "bilinear" && method != "nearest"))
    return layer.broken("has images, boxes and crops of shapes " +
                        toString(getShape(x)) + ", " +
                        toString(getShape(boxes)) + " and " + toString(*size) +
                        ", and the method '" + method + "'");
  Type real = layer.getBuilder().getF32Type(),
       integer = layer.getBuilder().getI32Type();
  int64_t count = getShape(boxes)[0], rows = getShape(x)[1],
          columns = getShape(x)[2], channels = getShape(x)[3];
  if (getNumElements(x) / channels > 1 << 24)
    return layer.fail(ImportStatus::limit,
                      "takes crops of images of more than 16777216 pixels");
  auto compute = [&](StringRef op, ArrayRef<Value> operands) {
    return layer.createElementwise(op, operands);
  };
  boxes = layer.castTo(boxes, real);
  Places y = findPlaces(layer, boxes, 0, rows, (*size)[0]),
         xs = findPlaces(layer, boxes, 1, columns, (*size)[1]);
  Value flat = layer.reshape(layer.castTo(x, real),
                             {getNumElements(x) / channels, channels});
  Value image = compute(
      "mul", {layer.castTo(layer.reshape(images, {count, 1, 1}), integer),
              layer.splat(double(rows), integer)});
  // The pixels of each crop at rows and columns that are whole numbers.
  auto take = [&](Value row, Value column) {
    row = layer.reshape(layer.castTo(row, integer), {count, (*size)[0], 1});
    column =
        layer.reshape(layer.castTo(column, integer), {count, 1, (*size)[1]});
    Value place = compute("mul", {compute("add", {image, row}),
                                  layer.splat(double(columns), integer)});
    return layer.create<nn::GatherOp>(flat, compute("add", {place, column}),
                                      int64_t(0));
  };
  Value result;
  if (method == "nearest") {
    auto round = [&](Value at) {
      return compute("floor", {compute("add", {at, layer.splat(0.5, real)})});
    };
    result = take(round(y.at), round(xs.at));
  } else {
    Value top = compute("floor", {y.at}), bottom = compute("ceil", {y.at}),
          left = compute("floor", {xs.at}), right = compute("ceil", {xs.at});
    Value down = layer.reshape(compute("sub", {y.at, top}),
                               {count, (*size)[0], 1, 1}),
          along = layer.reshape(compute("sub", {xs.at, left}),
                                {count, 1, (*size)[1], 1});
    auto mix = [&](Value a, Value b, Value part) {
      return compute("add",
                     {a, compute("mul", {compute("sub", {b, a}), part})});
    };
    result = mix(mix(take(top, left), take(top, right), along),
                 mix(take(bottom, left), take(bottom, right), along), down);
  }
  Value isOutside = compute(
      "logical_or", {layer.reshape(y.isOutside, {count, (*size)[0], 1, 1}),
                     layer.reshape(xs.isOutside, {count, 1, (*size)[1], 1})});
  return compute("select",
                 {isOutside,
                  layer.splat(layer.getReal("extrapolation_value", 0), real),
                  result});
}

//===----------------------------------------------------------------------===//
// Windows of images
//===----------------------------------------------------------------------===//

/// Converts ExtractImagePatches: the pixels of each window, as channels.
Value convertExtractPatches(Layer &layer) {
  Value x = layer.getInput(0);
  if (!x)
    return {};
  Sizes kernel = layer.getInts("ksizes"), strides = layer.getInts("strides"),
        rates = layer.getInts("rates");
  StringRef padding = layer.getText("padding", "VALID");
  for (const Sizes &each : {kernel, strides, rates})
    if (getRank(x) != 4 || each.size() != 4 || each[0] != 1 || each[3] != 1 ||
        each[1] < 1 || each[2] < 1 || each[1] > 1 << 12 || each[2] > 1 << 12)
      return layer.broken("has windows of " + toString(each) +
                          " in images of shape " + toString(getShape(x)));
  Sizes pads(8, 0), out(2), extents(2);
  for (size_t i = 0; i < 2; ++i) {
    int64_t size = getShape(x)[1 + i];
    extents[i] = (kernel[1 + i] - 1) * rates[1 + i] + 1;
    if (padding == "SAME") {
      out[i] = (size + strides[1 + i] - 1) / strides[1 + i];
      int64_t total = std::max<int64_t>(
          (out[i] - 1) * strides[1 + i] + extents[i] - size, 0);
      pads[1 + i] = total / 2;
      pads[5 + i] = total - total / 2;
    } else {
      out[i] = (size - extents[i]) / strides[1 + i] + 1;
    }
    if (size < 1 || (padding != "SAME" && size < extents[i]))
      return layer.broken("has windows that are larger than the image");
  }
  if (out[0] * out[1] * kernel[1] * kernel[2] > 1 << 24)
    return layer.fail(ImportStatus::limit,
                      "takes more than 16777216 pixels of windows");
  Value padded = padWith(layer, x, pads, 0);
  if (!padded)
    return {};
  Sizes shape(getShape(padded)), places;
  for (int64_t row = 0; row < out[0]; ++row)
    for (int64_t column = 0; column < out[1]; ++column)
      for (int64_t i = 0; i < kernel[1]; ++i)
        for (int64_t j = 0; j < kernel[2]; ++j)
          places.push_back((row * strides[1] + i * rates[1]) * shape[2] +
                           column * strides[2] + j * rates[2]);
  Value flat = layer.reshape(padded, {shape[0], shape[1] * shape[2], shape[3]});
  return layer.reshape(
      layer.create<nn::GatherOp>(flat, layer.constant(places), int64_t(1)),
      {shape[0], out[0], out[1], kernel[1] * kernel[2] * shape[3]});
}

/// Converts MaxPoolWithArgmax: the largest pixel of each window, and its place
/// among all elements of an image with the channels last.
Value convertMaxPoolWithArgmax(Layer &layer) {
  Value given = layer.getInput(0), x = toImage(layer, given);
  Type element = layer.getType("Targmax", pb::DT_INT64);
  if (!x || !element)
    return {};
  auto kernel = getSpatial(layer, "ksize", layer.getInts("ksize"), getRank(x));
  if (!kernel || getRank(x) != 4)
    return {};
  auto window = readWindow(layer, getShape(x).drop_front(2), *kernel);
  if (!window)
    return {};
  Value y = layer.create<nn::MaxPoolOp>(x, window->kernel, window->strides,
                                        window->dilations, window->pads,
                                        /*ceil_mode=*/false);
  Value at = layer.create<nn::MaxPoolIndexOp>(
      x, window->kernel, window->strides, window->dilations, window->pads,
      /*ceil_mode=*/false, /*column_major=*/false);
  if (!at)
    return {};
  Type index = getElement(at);
  int64_t samples = getShape(x)[0], channels = getShape(x)[1],
          pixels = getShape(x)[2] * getShape(x)[3];
  auto number = [&](int64_t value) {
    return layer.splat(double(value), index);
  };
  at = layer.createElementwise("mod", {at, number(pixels)});
  at = layer.createElementwise("mul", {at, number(channels)});
  at = layer.createElementwise("add",
                               {at, makeCounts(layer, channels, index, 1, 4)});
  if (layer.getBool("include_batch_in_index"))
    at = layer.createElementwise(
        "add", {at, layer.createElementwise(
                        "mul", {makeCounts(layer, samples, index, 0, 4),
                                number(pixels * channels)})});
  layer.setResult(1, fromImage(layer, layer.castTo(at, element)));
  return fromImage(layer, y);
}

} // namespace nnc::tensorflow
