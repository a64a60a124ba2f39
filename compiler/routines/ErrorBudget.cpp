//===- ErrorBudget.cpp - Bounds the rounding errors of fast methods -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/ErrorBudget.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

using Layers = ArrayRef<SmallVector<Candidate, 0>>;

static double getCost(const Candidate &candidate, double price) {
  return candidate.seconds + price * candidate.error * candidate.error;
}

static const Candidate &getCheapest(ArrayRef<Candidate> candidates,
                                    double price) {
  return *llvm::min_element(candidates,
                            [&](const Candidate &a, const Candidate &b) {
                              return getCost(a, price) < getCost(b, price);
                            });
}

static double sumSquares(ArrayRef<double> errors) {
  double sum = 0;
  for (double error : errors)
    sum += error * error;
  return sum;
}

/// Returns the error of each layer's cheapest candidate if `price` is the price
/// of squared errors.
static SmallVector<double> getErrors(Layers layers, double price) {
  SmallVector<double> errors;
  for (ArrayRef<Candidate> candidates : layers)
    errors.push_back(candidates.empty() ? 0.0
                                        : getCheapest(candidates, price).error);
  return errors;
}

/// Returns the largest error that each layer may have, so that the sum of their
/// squares is at most `squares` (if that is possible).
static SmallVector<double> shareBudget(Layers layers, double squares) {
  SmallVector<double> shares = getErrors(layers, 0);
  if (sumSquares(shares) <= squares)
    return shares;
  // The prices are in seconds per squared relative error. At the lowest one,
  // errors are irrelevant; at the highest, a single rounding costs seconds.
  double low = 1, high = 1e20;
  for (int i = 0; i < 100; ++i) {
    double middle = std::sqrt(low * high);
    (sumSquares(getErrors(layers, middle)) <= squares ? high : low) = middle;
  }
  shares = getErrors(layers, high);
  // Equal layers change their routine at the same price. The rest of the budget
  // allows some of them the faster routine.
  double rest = squares - sumSquares(shares);
  for (auto [share, more] : llvm::zip(shares, getErrors(layers, low))) {
    double taken = more * more - share * share;
    if (taken > 0 && taken <= rest) {
      rest -= taken;
      share = more;
    }
  }
  return shares;
}

void nnc::limitError(MutableArrayRef<SmallVector<Candidate, 0>> layers,
                     double maxError) {
  SmallVector<double> shares = shareBudget(layers, maxError * maxError);
  for (auto [candidates, share] : llvm::zip(layers, shares)) {
    SmallVector<Candidate, 0> kept;
    for (Candidate &candidate : candidates) {
      if (candidate.error > share)
        continue;
      auto *same = find_if(kept, [&](const Candidate &other) {
        return other.hasSchemaOf(candidate);
      });
      if (same == kept.end())
        kept.push_back(std::move(candidate));
      else if (candidate.seconds < same->seconds)
        *same = std::move(candidate);
    }
    candidates = std::move(kept);
  }
}
