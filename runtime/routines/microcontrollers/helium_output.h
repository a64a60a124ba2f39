//===- helium_output.h - Stores sums of helium routines -------------------===//
//
// A function that all layers of a module share stores requantized sums; for
// other epilogues, the vectors of simd/bytes.h do.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MICROCONTROLLERS_HELIUM_OUTPUT_H
#define NNC_ROUTINES_MICROCONTROLLERS_HELIUM_OUTPUT_H

#include "runtime/functions.h"
#include "runtime/routines/microcontrollers/helium_products.h"
#include "runtime/routines/microcontrollers/requantization.h"
#include "runtime/simd/bytes.h"
#include "runtime/simd/fixed_point.h"

#include <stddef.h>

namespace nnc {

/// Stores requantized sums of `count` channels from `first` on.
NNC_NOINLINE inline void helium_requantize(const int32_t *sums, int first,
                                           int count, const requantization &r,
                                           int8_t *y) {
  const int32_t *bias = r.bias + first, *multiplier = r.multiplier + first,
                *shift = r.shift + first;
#if defined(NNC_ARM_MVE)
  // Computes rescale_double for four numbers at a time. vqrdmulh is the rounded
  // upper half of the product. vrshl shifts right if its count is negative, and
  // rounds halves up; subtracting 1 from a negative number first makes it round
  // halves away from zero. The sign bit of (count & number) tells whether that
  // is needed.
  __asm__ volatile(
      "ldr lr, [%[r], %[low]]\n\t"
      "vdup.32 q5, lr\n\t"
      "ldr lr, [%[r], %[high]]\n\t"
      "vdup.32 q6, lr\n\t"
      "ldr lr, [%[r], %[zero]]\n\t"
      "vdup.32 q7, lr\n\t"
      "vmov.i32 q4, #0\n\t"
      "dlstp.32 lr, %[count]\n"
      "1:\n\t"
      "vldrw.32 q0, [%[sums]], #16\n\t"
      "vldrw.32 q1, [%[bias]], #16\n\t"
      "vadd.i32 q0, q0, q1\n\t"
      "vldrw.32 q2, [%[shift]], #16\n\t"
      "vmax.s32 q3, q2, q4\n\t"
      "vldrw.32 q1, [%[multiplier]], #16\n\t"
      "vshl.s32 q0, q0, q3\n\t"
      "vmin.s32 q2, q2, q4\n\t"
      "vqrdmulh.s32 q0, q0, q1\n\t"
      "vand q3, q0, q2\n\t"
      "vshr.s32 q3, q3, #31\n\t"
      "vadd.i32 q0, q0, q3\n\t"
      "vrshl.s32 q0, q0, q2\n\t"
      "vadd.i32 q0, q0, q7\n\t"
      "vmax.s32 q0, q0, q5\n\t"
      "vmin.s32 q0, q0, q6\n\t"
      "vstrb.32 q0, [%[y]], #4\n\t"
      "letp lr, 1b"
      : [sums] "+&r"(sums), [bias] "+&r"(bias), [multiplier] "+&r"(multiplier),
        [shift] "+&r"(shift), [y] "+&r"(y)
      :
      [count] "r"(count), [r] "r"(&r), [low] "i"(offsetof(requantization, low)),
      [high] "i"(offsetof(requantization, high)),
      [zero] "i"(offsetof(requantization, zero))
      : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "lr", "memory");
#else
  for (int i = 0; i < count; ++i) {
    const int32_t v =
        plus(rescale_double(plus(sums[i], bias[i]), multiplier[i], shift[i]),
             int32_t(r.zero));
    y[i] = static_cast<int8_t>(v < r.low ? r.low : v > r.high ? r.high : v);
  }
#endif
}

/// Stores requantized sums of `count` channels from `first` on. All layers
/// share the functions that have this as an argument.
struct helium_bytes {
  requantization r;
  int8_t *y;
  NNC_INLINE void store(const int32_t *sums, int first, int count,
                        ptrdiff_t at) const {
    helium_requantize(sums, first, count, r, y + at);
  }
};
/// Stores the results of any other epilogue on such sums. All vectors are whole
/// if the number of channels is known to be a multiple of four.
template <class Epi, class Y, bool IsWhole> struct helium_values {
  const Epi &epi;
  Y *y;
  NNC_INLINE void store(const int32_t *sums, int first, int count,
                        ptrdiff_t at) const {
    using in = vector_memory<int32_t, 4>;
    using out = vector_memory<Y, 4>;
    if constexpr (takes_vectors<Epi, i32x<4>> && out::exists) {
      NNC_KEEP_LOOP for (int i = 0; i < count; i += 4) {
        const position<true> pos{at + i, first + i};
        if constexpr (IsWhole)
          out::store(y + pos.offset, epi(in::load(sums + i), pos));
        else
          out::store(y + pos.offset,
                     epi(in::load(sums + i, count - i), pos, count - i),
                     count - i);
      }
    } else {
      for (int i = 0; i < count; ++i)
        y[at + i] = epi(sums[i], position<true>{at + i, first + i});
    }
  }
};
template <bool IsWhole, class Epi, class Y>
NNC_INLINE auto make_helium_output(const Epi &epi, Y *y) {
  if constexpr (requantizes<Epi>::value)
    return helium_bytes{make_requantization(epi), y};
  else
    return helium_values<Epi, Y, IsWhole>{epi, y};
}

/// Returns true if a field of a shape is known to be a multiple of four. If
/// sizes are known only at run time, &S::field is not a pointer to a constant.
template <class T, class S> constexpr bool has_whole_vectors(T S::*) {
  return false;
}
template <class T> constexpr bool has_whole_vectors(const T *field) {
  return *field % 4 == 0;
}

} // namespace nnc

#endif // NNC_ROUTINES_MICROCONTROLLERS_HELIUM_OUTPUT_H
