//===- portable.h - Softmax on any machine --------------------------------===//
//
// y = e^(x - max) / sum of e^(x - max) along the middle axis of
// x[outer][size][inner]; with log, y = x - max - log(sum of e^(x - max)). A
// unit is one softmax: `size` elements, `inner` apart.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_NORMALIZATION_SOFTMAX_PORTABLE_H
#define NNC_ROUTINES_NORMALIZATION_SOFTMAX_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/simd/math.h"

namespace nnc {

template <class S, class Epi> struct softmax_portable {
  NNC_FN static constexpr int units(const S &s) { return s.outer * s.inner; }

  /// T is float or double.
  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, const Epi &epi,
                         int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const ptrdiff_t base =
          ptrdiff_t(unit / s.inner) * s.size * s.inner + unit % s.inner;
      T largest = x[base];
      for (int i = 1; i < s.size; ++i) {
        const T v = x[base + ptrdiff_t(i) * s.inner];
        largest = v > largest ? v : largest;
      }
      // Sums are made in 16 parts, so the error grows with a sixteenth of the
      // row's length.
      T partial[16] = {};
      for (int i = 0; i < s.size; ++i)
        partial[i % 16] += nnc::exp(x[base + ptrdiff_t(i) * s.inner] - largest);
      T sum = 0;
      for (T p : partial)
        sum += p;
      const T scale = T(1) / sum, shift = s.log ? nnc::log(sum) : T(0);
      for (int i = 0; i < s.size; ++i) {
        const ptrdiff_t at = base + ptrdiff_t(i) * s.inner;
        const T v = x[at] - largest;
        y[at] = epi(s.log ? v - shift : nnc::exp(v) * scale,
                    position<false>{at, 0});
      }
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_NORMALIZATION_SOFTMAX_PORTABLE_H
