//===- portable.h - Largest elements of regions on any machine ------------===//
//
// y[r][c][bin] is the largest element of x[image][c] in each of the oh x ow
// bins of region r, [image, x1, y1, x2, y2], whose corners are rounded to
// elements and belong to it: what ONNX calls MaxRoiPool. A bin without elements
// is 0. Indices of images are clamped to the valid range. A unit is one bin.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_REGIONS_MAX_ROI_POOL_PORTABLE_H
#define NNC_ROUTINES_REGIONS_MAX_ROI_POOL_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/simd/arithmetic.h"

namespace nnc {

template <class S, class Epi> struct max_roi_pool_portable {
  NNC_FN static constexpr int units(const S &s) {
    return s.count * s.oh * s.ow;
  }

  /// Computes the units from `begin` to `end`. T, the type of the elements, is
  /// float or double.
  template <class T>
  NNC_FN static void run(const S &s, const T *x, const T *rois, T *y,
                         const Epi &, int begin, int end) {
    const int bins = s.oh * s.ow;
    const ptrdiff_t plane = ptrdiff_t(s.h) * s.w;
    for (int unit = begin; unit < end; ++unit) {
      const int r = unit / bins, bin = unit % bins;
      const T *const roi = rois + ptrdiff_t(r) * 5;
      const range<T> rows(s, roi[2], roi[4], bin / s.ow, s.oh, s.h),
          columns(s, roi[1], roi[3], bin % s.ow, s.ow, s.w);
      const T *from = x + ptrdiff_t(bound(roi[0], s.n - 1)) * s.c * plane;
      T *to = y + ptrdiff_t(r) * s.c * bins + bin;
      for (int c = 0; c < s.c; ++c, from += plane, to += bins) {
        const bool is_empty =
            rows.begin >= rows.end || columns.begin >= columns.end;
        T best =
            is_empty ? T(0) : from[ptrdiff_t(rows.begin) * s.w + columns.begin];
        for (int i = rows.begin; i < rows.end; ++i)
          for (int j = columns.begin; j < columns.end; ++j) {
            const T value = from[ptrdiff_t(i) * s.w + j];
            best = value > best ? value : best;
          }
        *to = best;
      }
    }
  }

private:
  /// Returns a number as an integer from 0 to `most`; 0 for NaN.
  template <class T> NNC_FN static int bound(T value, int most) {
    if (!(value > T(0)))
      return 0;
    return value < static_cast<T>(most) ? static_cast<int>(value) : most;
  }

  /// The elements along an axis of one bin.
  template <class T> struct range {
    int begin, end;

    NNC_FN range(const S &s, T from, T to, int bin, int bins, int size) {
      const T scale = static_cast<T>(s.scale), first = away(from * scale);
      const T span = away(to * scale) - first + T(1);
      const T own = (span > T(1) ? span : T(1)) / static_cast<T>(bins);
      begin = bound(nnc::floor(static_cast<T>(bin) * own) + first, size);
      end = bound(nnc::ceil(static_cast<T>(bin + 1) * own) + first, size);
    }
    /// Rounds to the nearest integer, halves away from zero.
    NNC_FN static T away(T value) {
      return value < T(0) ? nnc::ceil(value - T(0.5))
                          : nnc::floor(value + T(0.5));
    }
  };
};

} // namespace nnc

#endif // NNC_ROUTINES_REGIONS_MAX_ROI_POOL_PORTABLE_H
