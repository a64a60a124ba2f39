//===- portable.h - Positions of largest elements -------------------------===//
//
// For each window, the position in x of its first largest element: the Indices
// of ONNX's MaxPool. max_pool_index/shape.h has the window. Elements in the
// padding do not count; a window that has no others gives -1. A unit is a row
// of the result.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_POOLING_MAX_POOL_INDEX_PORTABLE_H
#define NNC_ROUTINES_POOLING_MAX_POOL_INDEX_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

#include <stdint.h>

namespace nnc {

template <class S, class Epi> struct max_pool_index_portable {
  NNC_FN static constexpr int units(const S &s) {
    return s.planes * s.od * s.oh;
  }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, int64_t *y, const Epi &,
                         int begin, int end) {
    const int64_t size = int64_t(s.d) * s.h * s.w;
    for (int unit = begin; unit < end; ++unit) {
      const int plane = unit / (s.od * s.oh);
      const int z = unit / s.oh % s.od * s.sd - s.pf,
                r = unit % s.oh * s.sh - s.pt;
      int64_t *const row = y + ptrdiff_t(unit) * s.ow;
      for (int ox = 0; ox < s.ow; ++ox) {
        const int64_t place =
            find(s, x + ptrdiff_t(plane) * size, z, r, ox * s.sw - s.pl);
        row[ox] = place < 0 ? place : plane * size + place;
      }
    }
  }

private:
  /// The place in the volume x of the largest element of the window that begins
  /// at (z, r, q).
  template <class T>
  NNC_FN static int64_t find(const S &s, const T *x, int z, int r, int q) {
    int64_t place = -1;
    T best = T();
    for (int k = 0; k < s.kd; ++k) {
      const int zi = z + k * s.dd;
      if (zi < 0 || zi >= s.d)
        continue;
      for (int i = 0; i < s.kh; ++i) {
        const int ri = r + i * s.dh;
        if (ri < 0 || ri >= s.h)
          continue;
        const T *const row = x + (ptrdiff_t(zi) * s.h + ri) * s.w;
        for (int j = 0; j < s.kw; ++j) {
          const int qi = q + j * s.dw;
          if (qi < 0 || qi >= s.w || (place >= 0 && !(row[qi] > best)))
            continue;
          best = row[qi];
          place = s.column_major != 0 ? (int64_t(qi) * s.h + ri) * s.d + zi
                                      : (int64_t(zi) * s.h + ri) * s.w + qi;
        }
      }
    }
    return place;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_POOLING_MAX_POOL_INDEX_PORTABLE_H
