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

} // namespace nnc::torch
