//===- elements.h - Consecutive elements of tensors, 16 bytes at a time ---===//
//
// Functions by which a thread loads N consecutive elements of a tensor as
// floats, and stores N results: with instructions of up to 16 bytes if N > 1.
// The first element is then at a multiple of N elements from a pointer that
// are_aligned() takes.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_BLOCKS_ELEMENTS_H
#define NNC_ROUTINES_BLOCKS_ELEMENTS_H

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/simd/bfloat.h"
#include "runtime/simd/half.h"
#include "runtime/simd/unroll.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace nnc {

/// The number of elements of type T that one instruction moves.
template <class T> constexpr int elements_of_move = 16 / int(sizeof(T));

/// N elements in memory, aligned to their size.
template <class T, int N> struct alignas(N * sizeof(T)) moved_elements {
  T element[N];
};

/// True if N elements may be moved at once from and to all these pointers.
template <class... T> NNC_INLINE bool are_aligned(const T *...pointers) {
  return ((reinterpret_cast<uintptr_t>(pointers) | ...) & 15) == 0;
}

/// True if that holds for the operands of an epilogue.
NNC_INLINE bool operands_are_aligned(const none &) { return true; }
NNC_INLINE bool operands_are_aligned(const operand_list<> &) { return true; }
template <class T, class... Tail>
NNC_INLINE bool
operands_are_aligned(const operand_list<scalar_of<T>, Tail...> &list) {
  return operands_are_aligned(list.tail);
}
template <class Head, class... Tail>
NNC_INLINE bool operands_are_aligned(const operand_list<Head, Tail...> &list) {
  return are_aligned(list.head.data) && operands_are_aligned(list.tail);
}
template <class F, class... Operands>
NNC_INLINE bool operands_are_aligned(const fused<F, Operands...> &epi) {
  return operands_are_aligned(epi.operands);
}

/// Loads N elements.
template <int N, class B, class T>
NNC_INLINE void load_elements(B &b, const T *from, float (&v)[N]) {
  constexpr int part = smaller(N, elements_of_move<T>);
  using move = moved_elements<T, part>;
  NNC_UNROLL
  for (int i = 0; i < N; i += part) {
    const move m = b.load_global(reinterpret_cast<const move *>(from + i));
    NNC_UNROLL
    for (int j = 0; j < part; ++j)
      v[i + j] = float(m.element[j]);
  }
}

/// True for the floats of 16 bits.
template <class T>
constexpr bool is_half = is_same<T, f16>::value || is_same<T, bf16>::value;

/// Two floats rounded to T, which is f16 or bf16, as the word that holds them.
template <class T, class B>
NNC_INLINE uint32_t rounded_pair(B &b, float low, float high) {
  if constexpr (is_same<T, f16>::value) {
    return b.halves(low, high);
  } else if constexpr (B::arch >= 80) {
    return b.bfloats(low, high);
  } else {
    const bf16 both[2] = {low, high};
    uint32_t word;
    memcpy(&word, both, sizeof(word));
    return word;
  }
}

/// Stores N results, rounded to Y.
template <int N, class B, class Y, class R>
NNC_INLINE void store_elements(B &b, Y *to, const R (&r)[N]) {
  if constexpr (!is_half<Y>) {
    constexpr int part = smaller(N, elements_of_move<Y>);
    using move = moved_elements<Y, part>;
    NNC_UNROLL
    for (int i = 0; i < N; i += part) {
      move m;
      NNC_UNROLL
      for (int j = 0; j < part; ++j)
        m.element[j] = Y(r[i + j]);
      b.store_global(reinterpret_cast<move *>(to + i), m);
    }
  } else if constexpr (N == 1) {
    b.store_global(reinterpret_cast<uint16_t *>(to),
                   uint16_t(rounded_pair<Y>(b, r[0], 0.0f)));
  } else {
    using move = moved_elements<uint32_t, N / 2>;
    move m;
    NNC_UNROLL
    for (int i = 0; i < N; i += 2)
      m.element[i / 2] = rounded_pair<Y>(b, r[i], r[i + 1]);
    b.store_global(reinterpret_cast<move *>(to), m);
  }
}

/// An operand of an epilogue for N consecutive channels.
template <int N> struct operand_values {
  float value[N];

  template <class B, class T>
  NNC_INLINE operand_values(B &b, const full_of<T> &o, ptrdiff_t at, int) {
    load_elements(b, o.data + at, value);
  }
  template <class B, class T>
  NNC_INLINE operand_values(B &b, const channel_of<T> &o, ptrdiff_t,
                            int channel) {
    load_elements(b, o.data + channel, value);
  }
  template <class B, class T>
  NNC_INLINE operand_values(B &, const scalar_of<T> &o, ptrdiff_t, int) {
    NNC_UNROLL
    for (float &v : value)
      v = float(*o.data);
  }
};

/// Stores the results of the epilogue F for N values at y[at].
template <class F, int N, class B, class Y, class... Values>
NNC_INLINE void store_results_of(B &b, const operand_list<> &,
                                 const float (&v)[N], Y *y, ptrdiff_t at, int,
                                 const Values &...operands) {
  decltype(F{}(v[0], operands.value[0]...)) r[N];
  NNC_UNROLL
  for (int i = 0; i < N; ++i)
    r[i] = F{}(v[i], operands.value[i]...);
  store_elements(b, y + at, r);
}
template <class F, int N, class B, class Y, class Head, class... Tail,
          class... Values>
NNC_INLINE void store_results_of(B &b, const operand_list<Head, Tail...> &list,
                                 const float (&v)[N], Y *y, ptrdiff_t at,
                                 int channel, const Values &...operands) {
  const operand_values<N> next(b, list.head, at, channel);
  store_results_of<F>(b, list.tail, v, y, at, channel, operands..., next);
}

/// Stores epi(v) at y[at], for values v of N consecutive channels. If N > 1,
/// the operands of the epilogue are aligned, and `channel` is a multiple of N.
template <int N, class B, class Y>
NNC_INLINE void store_results(B &b, const none &, const float (&v)[N], Y *y,
                              ptrdiff_t at, int) {
  store_elements(b, y + at, v);
}
template <int N, class B, class Y, class F, class... Operands>
NNC_INLINE void store_results(B &b, const fused<F, Operands...> &epi,
                              const float (&v)[N], Y *y, ptrdiff_t at,
                              int channel) {
  store_results_of<F>(b, epi.operands, v, y, at, channel);
}

/// Stores epi(v) at y[at], for N consecutive values v that are all of channel
/// 0, as the results of reductions are.
template <int N, class B, class Y, class Epi>
NNC_INLINE void store_row_results(B &b, const Epi &epi, const float (&v)[N],
                                  Y *y, ptrdiff_t at) {
  decltype(epi(v[0], position<false>{at, 0})) r[N];
  NNC_UNROLL
  for (int i = 0; i < N; ++i)
    r[i] = epi(v[i], position<false>{at + i, 0});
  store_elements(b, y + at, r);
}

} // namespace nnc

#endif // NNC_ROUTINES_BLOCKS_ELEMENTS_H
