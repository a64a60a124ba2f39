// The results that tests of sums of products expect, computed in doubles.
#ifndef NNC_TEST_EXPECTED_H
#define NNC_TEST_EXPECTED_H

#include "runtime/routines/shapes/values.h"
#include "test/runtime/blocked.h"
#include "test/runtime/check.h"

#include <algorithm>

namespace nnc_test {

/// Applies the activation between the two parts of a layer of shape `s`.
template <class S> double activated(const S &s, double v) {
  switch (nnc::inner_activation(s.activation)) {
  case nnc::inner_activation::relu:
    return std::max(v, 0.0);
  case nnc::inner_activation::clip:
    return std::min(std::max(v, double(s.low)), double(s.high));
  case nnc::inner_activation::hard_swish:
    return v * std::min(std::max(v + 3, 0.0), 6.0) / 6;
  case nnc::inner_activation::silu:
    return v / (1 + std::exp(-v));
  default:
    return v;
  }
}

inline void require_within(const floats &got, const std::vector<double> &want,
                           const std::vector<double> &bound) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::fabs(got[i] - want[i]) <= bound[i])) {
      INFO("at " << i << ": got " << got[i] << ", want " << want[i]);
      REQUIRE(std::fabs(got[i] - want[i]) <= bound[i]);
    }
}

} // namespace nnc_test

#endif // NNC_TEST_EXPECTED_H
