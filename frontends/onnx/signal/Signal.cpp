//===- Signal.cpp - DFT, STFT and MelWeightMatrix -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Fourier.h"
#include "frontends/onnx/moves/Positions.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Returns operand `i`, a constant integer that messages call `what`; nullopt
/// after an error.
static std::optional<int64_t> getScalar(Node &node, size_t i, StringRef what) {
  auto values = node.getConstantInts(i, what);
  if (values && values->size() == 1)
    return (*values)[0];
  if (values)
    node.broken("needs one of the " + what + ", not " + Twine(values->size()));
  return std::nullopt;
}

Value convertDFT(Node &node) {
  Value x = node.getOperand(0);
  int64_t rank = getRank(x);
  if (rank < 2)
    return node.broken("needs an axis and one of parts; its operand has the "
                       "shape " +
                       toString(getShape(x)));
  // Until opset 19 the axis is an attribute and also counts the axes of the
  // batch and of real and imaginary parts.
  bool isInverse = node.getBool("inverse"),
       isOneSided = node.getBool("onesided");
  std::optional<int64_t> given;
  if (node.getOperand(1) && !(given = getScalar(node, 1, "lengths")))
    return {};
  auto getLength = [&](int64_t axis) {
    int64_t size = getShape(x)[axis];
    return given.value_or(isInverse && isOneSided ? 2 * (size - 1) : size);
  };
  auto along = [&](int64_t axis) -> Value {
    if (axis == rank - 1)
      return node.broken("transforms the axis that holds the parts of numbers");
    return transformLines(node, x, {}, axis, getLength(axis), /*step=*/0,
                          isInverse, isOneSided);
  };
  if (node.getOperand(2)) {
    // The shape of the result may rule out some axes.
    auto declared = node.getDeclaredShape(0);
    SmallVector<int64_t> axes;
    for (int64_t axis = 0; axis < rank - 1; ++axis) {
      int64_t bins = getLength(axis);
      bins = isOneSided && !isInverse ? bins / 2 + 1 : bins;
      bool fits =
          !declared || (static_cast<int64_t>(declared->size()) == rank &&
                        (*declared)[axis] == bins);
      for (int64_t other = 0; fits && declared && other < rank - 1; ++other)
        fits = other == axis || (*declared)[other] == getShape(x)[other];
      if (fits)
        axes.push_back(axis);
    }
    return computeAlongOperand(node, 2, rank, axes, along);
  }
  auto axis = node.normalizeAxis(
      node.getVersion() < 20 ? node.getInt("axis", 1) : -2, rank);
  return axis ? along(*axis) : Value();
}

Value convertSTFT(Node &node) {
  Value x = node.getOperand(0), window = node.getOperand(2);
  if (getRank(x) == 2) // written without the axis of parts
    x = node.reshape(x, {getShape(x)[0], getShape(x)[1], 1});
  if (getRank(x) != 3)
    return node.broken("needs a signal of shape batch x length x parts, not " +
                       toString(getShape(x)));
  auto step = getScalar(node, 1, "steps");
  if (!step)
    return {};
  if (*step < 1)
    return node.broken("has a step of " + Twine(*step));
  if (window && getRank(window) != 1)
    return node.broken("has a window of shape " + toString(getShape(window)));
  std::optional<int64_t> length = window ? getShape(window)[0] : getShape(x)[1];
  if (node.getOperand(3) && !(length = getScalar(node, 3, "lengths")))
    return {};
  if (window && getShape(window)[0] != *length)
    return node.broken("has a window of " + Twine(getShape(window)[0]) +
                       " elements for frames of " + Twine(*length));
  // Only spectra of real signals are symmetric, so that one half is enough.
  bool isOneSided = node.getBool("onesided") && getShape(x)[2] == 1;
  return transformLines(node, x, window, 1, *length, *step, /*isInverse=*/false,
                        isOneSided);
}

/// Converts MelWeightMatrix: triangles on the mel scale over the bins of a
/// spectrum, as ONNX's specification rounds them.
Value convertMelWeightMatrix(Node &node) {
  auto bins = getScalar(node, 0, "numbers of bins"),
       length = getScalar(node, 1, "lengths"),
       rate = getScalar(node, 2, "rates");
  auto low = node.getConstantReals(3, "frequencies"),
       high = node.getConstantReals(4, "frequencies");
  if (!bins || !length || !rate || !low || !high)
    return {};
  if (low->size() != 1 || high->size() != 1 || *bins < 1 || *bins > 1 << 20 ||
      *length < 1 || *length > kMaxLineLength || *rate < 1)
    return node.broken("has " + Twine(*bins) + " bands of " + Twine(*length) +
                       " elements at a rate of " + Twine(*rate));
  Type element =
      getElementType(node.getBuilder().getContext(),
                     static_cast<int32_t>(node.getInt("output_datatype", 1)));
  if (!element || !element.isIntOrFloat())
    return node.unsupported("gives elements of type " +
                            Twine(node.getInt("output_datatype", 1)));
  auto toMel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double start = toMel((*low)[0]), end = toMel((*high)[0]);
  double step = (end - start) / static_cast<double>(*bins + 2);
  if (!std::isfinite(step) || step < 0)
    return node.broken("has bands from " + toString((*low)[0]) + " to " +
                       toString((*high)[0]) + " hertz");
  int64_t columns = *bins, rows = *length / 2 + 1;
  SmallVector<int64_t> edges;
  for (int64_t i = 0; i < columns + 2; ++i) {
    double hertz =
        700 *
        (std::pow(10, (static_cast<double>(i) * step + start) / 2595) - 1);
    double edge = std::floor(static_cast<double>(*length + 1) * hertz /
                             static_cast<double>(*rate));
    if (!(edge >= 0) || !(edge <= static_cast<double>(rows)))
      return node.broken("has bands up to " + toString((*high)[0]) +
                         " hertz, more than half of the rate " + Twine(*rate));
    edges.push_back(static_cast<int64_t>(edge));
  }
  if (!node.checkSize(RankedTensorType::get({rows, columns},
                                            node.getBuilder().getF64Type()),
                      /*isMade=*/true))
    return {};
  SmallVector<double> weights(rows * columns, 0.0);
  auto put = [&](int64_t row, int64_t column, double value) {
    if (row < rows)
      weights[row * columns + column] = value;
  };
  for (int64_t i = 0; i < columns; ++i) {
    int64_t from = edges[i], top = edges[i + 1], to = edges[i + 2];
    if (from == top)
      put(top, i, 1);
    for (int64_t j = from; from != top && j <= top; ++j)
      put(j, i,
          static_cast<double>(j - from) / static_cast<double>(top - from));
    for (int64_t j = top; top != to && j < to; ++j)
      put(j, i, static_cast<double>(to - j) / static_cast<double>(to - top));
  }
  Type real =
      isa<FloatType>(element) ? element : Type(node.getBuilder().getF64Type());
  return node.castTo(makeReals(node, {rows, columns}, real, weights), element);
}

} // namespace nnc::onnx
