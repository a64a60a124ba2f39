//===- dot_product.h - Products of two vectors on any machine -------------===//
//
// Sums of products of floats or integers, in the order that routines without
// vectors use.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_RECURRENT_DOT_PRODUCT_H
#define NNC_ROUTINES_RECURRENT_DOT_PRODUCT_H

#include "runtime/functions.h"

namespace nnc {

/// Returns the sum of a[i] * b[i] for `count` elements, by four sums, so that
/// an addition need not wait for the one before.
template <class T>
NNC_FN inline T dot_product(const T *a, const T *b, int count) {
  T sums[4] = {};
  int i = 0;
  for (; i + 4 <= count; i += 4)
    for (int j = 0; j < 4; ++j)
      sums[j] += a[i + j] * b[i + j];
  for (; i < count; ++i)
    sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

} // namespace nnc

#endif // NNC_ROUTINES_RECURRENT_DOT_PRODUCT_H
