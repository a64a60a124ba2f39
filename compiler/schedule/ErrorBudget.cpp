//===- ErrorBudget.cpp - Bounds what fast methods lose to rounding --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/schedule/ErrorBudget.h"

#include <cmath>
#include <functional>

using namespace llvm;
using namespace nnc;

using Layers = ArrayRef<SmallVector<Candidate, 0>>;

static double getCost(const Candidate &candidate, double price) {
  return candidate.seconds + price * candidate.error * candidate.error;
}

static const Candidate &getCheapest(ArrayRef<Candidate> candidates,
                                    double price) {
  return *min_element(candidates, [&](const Candidate &a, const Candidate &b) {
    return getCost(a, price) < getCost(b, price);
  });
}

/// The sum of squares at this price, whatever the layouts between layers.
static double getSquares(Layers layers, double price) {
  double squares = 0;
  for (ArrayRef<Candidate> candidates : layers)
    if (!candidates.empty()) {
      double error = getCheapest(candidates, price).error;
      squares += error * error;
    }
  return squares;
}

static double findPrice(Layers layers, double most) {
  if (getSquares(layers, 0) <= most)
    return 0;
  // From a second for an error that nobody sees to one for a rounding.
  double low = 1, high = 1e20;
  for (int i = 0; i < 100; ++i) {
    double middle = std::sqrt(low * high);
    (getSquares(layers, middle) <= most ? high : low) = middle;
  }
  return high;
}

void nnc::limitError(MutableArrayRef<SmallVector<Candidate, 0>> layers,
                     double maxError) {
  // What exceeds the bound alone is in no plan, whatever its layouts are worth.
  const auto isWithin = [&](const Candidate &candidate) {
    return candidate.error <= maxError;
  };
  for (auto &candidates : layers)
    if (any_of(candidates, isWithin))
      erase_if(candidates, std::not_fn(isWithin));
  double price = findPrice(layers, maxError * maxError);
  for (auto &candidates : layers) {
    SmallVector<Candidate, 0> kept;
    for (Candidate &candidate : candidates) {
      auto *same = find_if(kept, [&](const Candidate &other) {
        return other.hasSchemaOf(candidate);
      });
      if (same == kept.end())
        kept.push_back(std::move(candidate));
      else if (getCost(candidate, price) < getCost(*same, price))
        *same = std::move(candidate);
    }
    candidates = std::move(kept);
  }
}
