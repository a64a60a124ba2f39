//===- Windows.cpp - Window functions ------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Fourier.h"
#include "frontends/torch/graph/Node.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Returns a window of the argument `window_length` elements, whose element at
/// the angle a in [0, 2 pi) is the sum over i of (-1)^i * factors[i] * cos(i
/// a). A window that is not periodic ends at the angle 2 pi.
static Value makeWindow(Node &node, ArrayRef<double> factors) {
  int64_t length = node.getInt("window_length");
  Type stated = node.getStatedType();
  if (length < 0 || length > kMaxLineLength || !stated)
    return node.broken("has a length of " + Twine(length));
  bool isPeriodic = node.getBool("periodic", true);
  SmallVector<double> values;
  auto turn = static_cast<double>(isPeriodic ? length : length - 1);
  for (int64_t i = 0; i < length; ++i) {
    double angle =
        length == 1 ? M_PI : 2 * M_PI * static_cast<double>(i) / turn;
    double value = 0;
    for (auto [k, factor] : llvm::enumerate(factors))
      value += (k % 2 == 0 ? 1 : -1) * factor *
               std::cos(static_cast<double>(k) * angle);
    values.push_back(value);
  }
  return makeReals(node, {length}, getComputedType(stated), values);
}

Value convertHannWindow(Node &node) { return makeWindow(node, {0.5, 0.5}); }
Value convertHammingWindow(Node &node) {
  double alpha = node.getFloat("alpha", 0.54);
  return makeWindow(node, {alpha, node.getFloat("beta", 0.46)});
}
Value convertBlackmanWindow(Node &node) {
  return makeWindow(node, {0.42, 0.5, 0.08});
}

/// Returns a window whose element at the place x in [-1, 1] is `compute(x)`. A
/// window that is not periodic ends at 1.
static Value makeWindowOf(Node &node,
                          llvm::function_ref<double(double)> compute) {
  int64_t length = node.getInt("window_length");
  Type stated = node.getStatedType();
  if (length < 0 || length > kMaxLineLength || !stated)
    return node.broken("has a length of " + Twine(length));
  auto last =
      static_cast<double>(node.getBool("periodic", true) ? length : length - 1);
  SmallVector<double> values;
  for (int64_t i = 0; i < length; ++i)
    values.push_back(
        length == 1 ? 1 : compute(2 * static_cast<double>(i) / last - 1));
  return makeReals(node, {length}, getComputedType(stated), values);
}

/// Returns the modified Bessel function of the first kind and order 0.
static double computeBessel(double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < 1000 && term > 1e-17 * sum; ++k) {
    term *= x * x / 4 / k / k;
    sum += term;
  }
  return sum;
}

Value convertKaiserWindow(Node &node) {
  double beta = node.getFloat("beta", 12);
  if (std::abs(beta) > 100)
    return node.unsupported("has a beta of " + frontends::toString(beta) +
                            "; nnc handles at most 100");
  return makeWindowOf(node, [&](double x) {
    return computeBessel(beta * std::sqrt(std::max(0.0, 1 - x * x))) /
           computeBessel(beta);
  });
}

Value convertBartlettWindow(Node &node) {
  return makeWindowOf(node, [](double x) { return 1 - std::abs(x); });
}

} // namespace nnc::torch
