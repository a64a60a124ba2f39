//===- horner.h - Polynomials ---------------------------------------------===//
#ifndef NNC_SIMD_HORNER_H
#define NNC_SIMD_HORNER_H

#include "runtime/functions.h"
#include "runtime/simd/vec.h"

namespace nnc {

/// c0 + c1 x + c2 x^2 + ..., by Horner's rule.
template <class V> NNC_INLINE V horner(V, float c) { return V(c); }
template <class V, class... C>
NNC_INLINE V horner(V x, float c, float next, C... rest) {
  return fma(horner(x, next, rest...), x, V(c));
}

} // namespace nnc

#endif // NNC_SIMD_HORNER_H
