//===- portable.h - Bilinear resize of integers on any machine ------------===//
//
// The layer of shape.h, as TFLite computes it: weights are whole numbers of
// 1/1024, so that the sum of four products is exact in 2^-20 and is rounded
// once. Places outside of the image are moved to its edge. A unit is a row of
// the output.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_RESAMPLING_FIXED_RESIZE_PORTABLE_H
#define NNC_ROUTINES_RESAMPLING_FIXED_RESIZE_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/meta.h"

namespace nnc {

template <class S, class Epi> struct fixed_resize_portable {
  NNC_FN static constexpr int units(const S &s) { return s.n * s.oh; }

  /// T is an integer of 8 or 16 bits.
  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, const Epi &, int begin,
                         int end) {
    for (int unit = begin; unit < end; ++unit) {
      const T *image = x + ptrdiff_t(unit / s.oh) * s.h * s.w * s.c;
      const taps rows(s, unit % s.oh, s.step_h, s.h);
      const T *top = image + ptrdiff_t(rows.low) * s.w * s.c,
              *bottom = image + ptrdiff_t(rows.high) * s.w * s.c;
      T *to = y + ptrdiff_t(unit) * s.ow * s.c;
      for (int j = 0; j < s.ow; ++j) {
        const taps columns(s, j, s.step_w, s.w);
        const ptrdiff_t left = ptrdiff_t(columns.low) * s.c,
                        right = ptrdiff_t(columns.high) * s.c;
        for (int c = 0; c < s.c; ++c)
          *to++ = static_cast<T>(
              mix(s, mix_of(top[left + c], top[right + c], columns.share),
                  mix_of(bottom[left + c], bottom[right + c], columns.share),
                  rows.share));
      }
    }
  }

private:
  /// The two elements between which an output element lies, and the weight of
  /// the second in units of 1/1024. In front of the first element, both are the
  /// first.
  struct taps {
    int low, high, share;
    NNC_FN taps(const S &s, int out, int step, int size) {
      const int at = out * step + (s.half_pixel != 0 ? step / 2 - 512 : 0);
      low = at < 0 ? 0 : at / 1024;
      low = low < size ? low : size - 1;
      high = at <= 0 ? 0 : (at + 1023) / 1024;
      high = high < size ? high : size - 1;
      share = low == high ? 0 : at - low * 1024;
    }
  };

  NNC_FN static int32_t mix_of(int32_t a, int32_t b, int32_t share) {
    return a * (1024 - share) + b * share;
  }
  NNC_FN static int32_t mix(const S &s, int32_t a, int32_t b, int share) {
    const int64_t sum = int64_t(a) * (1024 - share) + int64_t(b) * share;
    const int64_t half = int64_t(1) << 19;
    if (s.single != 0)
      return static_cast<int32_t>((sum + half) >> 20);
    return static_cast<int32_t>((sum > 0 ? sum + half : sum - half) /
                                (int64_t(1) << 20));
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_RESAMPLING_FIXED_RESIZE_PORTABLE_H
