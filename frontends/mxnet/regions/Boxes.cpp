//===- Boxes.cpp - Boxes that are given by anchors ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

/// Converts _contrib_box_decode: the corners of boxes, from their shifts
/// against the centres of anchors and the logarithms of their sizes.
Value convertBoxDecode(Layer &layer) {
  Value shifts = layer.getInput(0), anchors = layer.getInput(1);
  int64_t rank = getRank(shifts);
  if (rank < 1 || getShape(shifts).back() != 4 || getRank(anchors) < 1 ||
      getShape(anchors).back() != 4)
    return layer.broken("has boxes of shapes " + toString(getShape(shifts)) +
                        " and " + toString(getShape(anchors)));
  StringRef format = layer.getText("format", "center");
  if (format != "center" && format != "corner")
    return layer.broken("has the format '" + format + "'");
  double clip = layer.getReal("clip", -1);
  anchors = layer.castTo(anchors, getElement(shifts));
  auto take = [&](Value x, int64_t i) {
    return layer.slice(x, getRank(x) - 1, i, 1);
  };
  auto apply = [&](StringRef op, Value a, Value b) {
    return layer.createElementwise(op, {a, b});
  };
  SmallVector<Value> low, high;
  for (int64_t i : {0, 1}) {
    Value centre = take(anchors, i), size = take(anchors, i + 2);
    if (format == "corner") {
      Value begin = centre;
      size = apply("sub", size, begin);
      centre = layer.add(begin, layer.mul(size, layer.scalar(0.5, size)));
    }
    auto scaled = [&](int64_t k) {
      double factor = layer.getReal("std" + std::to_string(k), 1);
      return layer.mul(take(shifts, k), layer.scalar(factor, shifts));
    };
    Value middle = layer.add(layer.mul(scaled(i), size), centre),
          growth = scaled(i + 2);
    if (clip > 0)
      growth = apply("min", growth, layer.scalar(clip, growth));
    Value half =
        layer.mul(layer.mul(layer.createElementwise("exp", growth), size),
                  layer.scalar(0.5, size));
    low.push_back(apply("sub", middle, half));
    high.push_back(layer.add(middle, half));
  }
  llvm::append_range(low, high);
  return layer.create<nn::ConcatOp>(ValueRange(low), rank - 1);
}

} // namespace nnc::mxnet
