//===- Fourier.cpp - Fourier transforms of lines --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Fourier.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

Value nnc::frontends::makeReals(LayerBuilder &layer, ArrayRef<int64_t> shape,
                                Type element, ArrayRef<double> values) {
  auto f64 = RankedTensorType::get(shape, layer.getBuilder().getF64Type());
  if (!isa<FloatType>(element) || !layer.checkSize(f64, /*isMade=*/true))
    return {};
  if (element.isF64())
    return layer.constant(makeAttribute({f64, {}, llvm::to_vector(values)}));
  SmallVector<float> floats(values.begin(), values.end());
  auto type = RankedTensorType::get(shape, layer.getBuilder().getF32Type());
  return layer.castTo(
      layer.constant(DenseElementsAttr::get(type, ArrayRef<float>(floats))),
      element);
}

/// Returns cos(2 pi i / length) and -sin(2 pi i / length) for each i. All
/// values are mirrored from an eighth of a turn, so that 0, 1 and -1 are exact.
static Value makeRoots(LayerBuilder &layer, int64_t length, Type element) {
  SmallVector<double> roots;
  auto turn = static_cast<double>(length);
  for (int64_t i = 0; i < length; ++i) {
    // In eighths: 8 i / length = eighth + rest / length.
    int64_t eighth = 8 * i / length, rest = 8 * i % length;
    bool isMirrored = eighth % 2 != 0;
    double angle = (isMirrored ? turn - static_cast<double>(rest)
                               : static_cast<double>(rest)) /
                   turn * (M_PI / 4);
    double c = std::cos(angle), s = std::sin(angle);
    if (isMirrored)
      std::swap(c, s);
    for (int64_t quarter = eighth / 2; quarter > 0; --quarter) {
      std::swap(c, s);
      c = -c;
    }
    roots.push_back(c);
    roots.push_back(-s);
  }
  return makeReals(layer, {length, 2}, element, roots);
}

Value nnc::frontends::transformLines(LayerBuilder &layer, Value x, Value window,
                                     int64_t axis, int64_t length, int64_t step,
                                     bool isInverse, bool isOneSided) {
  if (length < 1 || length > kMaxLineLength)
    return layer.fail(ImportStatus::limit,
                      "transforms lines of " + Twine(length) +
                          " elements; 1 to " + Twine(kMaxLineLength) +
                          " are possible");
  Type element = getElement(x);
  window = window ? layer.castTo(window, element)
                  : layer.splat(1, element, ArrayRef<int64_t>(1));
  return layer.create<nn::DftOp>(x, window, makeRoots(layer, length, element),
                                 axis, length, step, isInverse, isOneSided);
}
