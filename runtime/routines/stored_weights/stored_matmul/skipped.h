//===- skipped.h - What weights that are skipped add to a sum -------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_SKIPPED_H
#define NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_SKIPPED_H

#include "runtime/functions.h"
#include "runtime/simd/unroll.h"

#include <stdint.h>

namespace nnc {

/// Returns the sum of the products of a row x[count] and zeros: 0, or NaN if an
/// element is infinite or a NaN. Products that skip zero weights add it to
/// their sums, so that such elements affect the result.
NNC_FN NNC_NOINLINE inline float skipped_products(const float *x, int count) {
  uint32_t most = 0;
  for (int i = 0; i < count; ++i) {
    uint32_t bits;
    __builtin_memcpy(&bits, x + i, sizeof bits);
    bits &= 0x7fffffffu;
    most = bits > most ? bits : most;
  }
  return most < 0x7f800000u ? 0.f : __builtin_nanf("");
}
/// Returns 0, because integers are always finite.
template <class X> NNC_FN int32_t skipped_products(const X *, int) { return 0; }

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_SKIPPED_H
