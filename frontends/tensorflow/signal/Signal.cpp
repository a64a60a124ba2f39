//===- Signal.cpp - Fourier transforms and complex numbers ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Spectra are complex numbers (Complex.cpp).
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/graph/Layer.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// Returns the spectrum in input 0; null after an error.
static Value getSpectrum(Layer &layer) {
  if (layer.getPassed(0).kind == Passed::complex)
    return layer.getPassed(0).value;
  return layer.unsupported("needs complex numbers, as RFFT gives");
}

/// Returns cos(2 pi i / length) and -sin(2 pi i / length) for each i.
static Value makeRoots(Layer &layer, int64_t length) {
  SmallVector<float> roots;
  for (int64_t i = 0; i < length; ++i) {
    double angle = 2 * M_PI * double(i) / double(length);
    roots.push_back(float(std::cos(angle)));
    roots.push_back(float(-std::sin(angle)));
  }
  return layer.constant(DenseElementsAttr::get(
      RankedTensorType::get({length, 2}, layer.getBuilder().getF32Type()),
      ArrayRef(roots)));
}

/// Returns the length in input 1; nullopt after an error.
static std::optional<int64_t> readLength(Layer &layer) {
  auto given = layer.readInts(layer.getInput(1), "a length");
  if (!given)
    return std::nullopt;
  if (given->size() == 1 && (*given)[0] >= 1 && (*given)[0] <= 1 << 22)
    return (*given)[0];
  layer.broken("has a length of " + toString(*given));
  return std::nullopt;
}

/// Converts RFFT: the Fourier transform of real lines, which are cut or filled
/// up with zeros to a length. Of its elements the first half is returned.
Value convertRfft(Layer &layer) {
  Value x = layer.getInput(0);
  auto length = readLength(layer);
  if (!x || !length)
    return {};
  if (getRank(x) < 1 || !getElement(x).isF32() || getShape(x).back() == 0)
    return layer.unsupported("transforms " + getTypeName(getElement(x)) +
                             " of shape " + toString(getShape(x)) +
                             "; nnc handles lines of float32");
  Sizes shape(getShape(x));
  if (shape.back() > *length) {
    shape.back() = *length;
    x = layer.slice(x, Sizes(shape.size(), 0), shape);
  }
  shape.push_back(1);
  Value y = layer.create<nn::DftOp>(
      layer.reshape(x, shape), layer.splat(1.0, getElement(x), {1}),
      makeRoots(layer, *length), int64_t(shape.size()) - 2, *length,
      /*step=*/int64_t(0), /*inverse=*/false, /*onesided=*/true);
  if (y)
    layer.setPassed(0, {Passed::complex, y});
  return {};
}

/// Converts IRFFT, the inverse of RFFT.
Value convertIrfft(Layer &layer) {
  Value x = getSpectrum(layer);
  auto length = readLength(layer);
  if (!x || !length)
    return {};
  int64_t rank = getRank(x), half = *length / 2 + 1;
  if (getShape(x)[rank - 2] < half)
    return layer.unsupported("needs " + Twine(half) +
                             " complex numbers for a length of " +
                             Twine(*length));
  Sizes shape(getShape(x));
  shape[rank - 2] = half;
  x = layer.slice(x, Sizes(rank, 0), shape);
  Value y = layer.create<nn::DftOp>(
      x, layer.splat(1.0, getElement(x), {1}), makeRoots(layer, *length),
      rank - 2, *length, /*step=*/int64_t(0), /*inverse=*/true,
      /*onesided=*/true);
  Sizes lines(getShape(y));
  if (!lines.empty())
    lines.pop_back();
  return layer.reshape(y, lines);
}

} // namespace nnc::tensorflow
