//===- operands.h - Types of operands of an epilogue ----------------------===//
#ifndef NNC_SIMD_OPERANDS_H
#define NNC_SIMD_OPERANDS_H

#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec.h"

namespace nnc {

/// The type in which F gets an operand of type T if the value has type V. If V
/// is float or a vector of floats, operands have the type V; if V is an
/// integer, each operand keeps its own type. runtime/simd/bytes.h adds the
/// types for vectors of integers.
template <class V, class T, class = void> struct operand_beside {
  using type = V;
  static NNC_INLINE V load(const T *p) { return load_floats<V>(p); }
  static NNC_INLINE V load(const T *p, int count) {
    return load_floats<V>(p, count);
  }
  static NNC_INLINE V repeat(const T *p) { return V(float(*p)); }
};
template <class V, class T>
struct operand_beside<V, T, enable_if_t<is_integral<V>::value>> {
  using type = T;
  static NNC_INLINE T load(const T *p) { return *p; }
  static NNC_INLINE T load(const T *p, int) { return *p; }
  static NNC_INLINE T repeat(const T *p) { return *p; }
};
template <class V, class T>
using operand_type = typename operand_beside<V, T>::type;

} // namespace nnc

#endif // NNC_SIMD_OPERANDS_H
