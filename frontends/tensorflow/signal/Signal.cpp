//===- Signal.cpp - Fourier transforms and complex numbers ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Spectra are complex numbers (Complex.cpp).
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Fourier.h"
#include "frontends/tensorflow/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// Returns the spectrum in input 0; null after an error.
static Value getSpectrum(Layer &layer) {
  if (layer.getPassed(0).kind == Passed::complex)
    return layer.getPassed(0).value;
  return layer.unsupported("needs complex numbers, as RFFT gives");
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
  Value y = transformLines(layer, layer.reshape(x, shape), {},
                           int64_t(shape.size()) - 2, *length, /*step=*/0,
                           /*isInverse=*/false, /*isOneSided=*/true);
  if (y)
    layer.setPassed(0, {Passed::complex, y});
  return {};
}

/// Converts RFFT2D: the transforms of rows, then those of columns.
Value convertRfft2d(Layer &layer) {
  Value x = layer.getInput(0);
  auto lengths = layer.readInts(layer.getInput(1), "lengths");
  if (!x || !lengths)
    return {};
  int64_t rank = getRank(x);
  if (rank < 2 || !getElement(x).isF32() || lengths->size() != 2 ||
      (*lengths)[0] != getShape(x)[rank - 2] ||
      (*lengths)[1] != getShape(x)[rank - 1] || getNumElements(x) == 0)
    return layer.unsupported("transforms a tensor of shape " +
                             toString(getShape(x)) + " to lengths of " +
                             toString(*lengths) +
                             "; nnc handles the lengths that it has");
  Sizes shape(getShape(x));
  shape.push_back(1);
  Value y = transformLines(layer, layer.reshape(x, shape), {}, rank - 1,
                           (*lengths)[1], /*step=*/0, /*isInverse=*/false,
                           /*isOneSided=*/true);
  y = y ? transformLines(layer, y, {}, rank - 2, (*lengths)[0], /*step=*/0,
                         /*isInverse=*/false, /*isOneSided=*/false)
        : y;
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
  Value y = transformLines(layer, x, {}, rank - 2, *length, /*step=*/0,
                           /*isInverse=*/true, /*isOneSided=*/true);
  Sizes lines(getShape(y));
  if (!lines.empty())
    lines.pop_back();
  return layer.reshape(y, lines);
}

/// Converts Fourier transforms of complex numbers along the last axes.
static Value transformComplex(Layer &layer, int64_t axes, bool isInverse) {
  Value x = getSpectrum(layer);
  if (!x)
    return {};
  int64_t rank = getRank(x) - 1;
  if (rank < axes || getNumElements(x) == 0)
    return layer.broken("transforms " + Twine(axes) +
                        " axes of a tensor of shape " +
                        toString(getShape(x).drop_back()));
  for (int64_t axis = rank - axes; axis < rank && x; ++axis)
    x = transformLines(layer, x, {}, axis, getShape(x)[axis], /*step=*/0,
                       isInverse, /*isOneSided=*/false);
  if (x)
    layer.setPassed(0, {Passed::complex, x});
  return {};
}

Value convertFft(Layer &layer) { return transformComplex(layer, 1, false); }
Value convertFft2d(Layer &layer) { return transformComplex(layer, 2, false); }
Value convertFft3d(Layer &layer) { return transformComplex(layer, 3, false); }
Value convertIfft(Layer &layer) { return transformComplex(layer, 1, true); }
Value convertIfft2d(Layer &layer) { return transformComplex(layer, 2, true); }
Value convertIfft3d(Layer &layer) { return transformComplex(layer, 3, true); }

} // namespace nnc::tensorflow
