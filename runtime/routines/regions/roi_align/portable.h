//===- portable.h - Resampled regions of images on any machine ------------===//
//
// y[r][c][bin] is the mean or the largest value of x[image[r]][c] at places on
// a grid in each of the oh x ow bins of region r, [x1, y1, x2, y2], as the ONNX
// specification of RoiAlign says: values between elements are interpolated
// linearly, places beyond the image by more than an element are 0, and the
// largest value is that of the weighted neighbours of all places. If the number
// of places depends on the region's size, it is at most 4096 along an axis of a
// bin. Indices of images are clamped to the valid range. A unit is one bin.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_REGIONS_ROI_ALIGN_PORTABLE_H
#define NNC_ROUTINES_REGIONS_ROI_ALIGN_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/simd/arithmetic.h"

#include <stdint.h>

namespace nnc {

template <class S, class Epi> struct roi_align_portable {
  NNC_FN static constexpr int units(const S &s) {
    return s.count * s.oh * s.ow;
  }

  /// T is float or double.
  template <class T>
  NNC_FN static void run(const S &s, const T *x, const T *rois,
                         const int64_t *images, T *y, const Epi &, int begin,
                         int end) {
    const int bins = s.oh * s.ow;
    const ptrdiff_t plane = ptrdiff_t(s.h) * s.w;
    for (int unit = begin; unit < end; ++unit) {
      const int r = unit / bins, bin = unit % bins;
      const T *const roi = rois + ptrdiff_t(r) * 4;
      const steps<T> rows(s, roi[1], roi[3], bin / s.ow, s.oh),
          columns(s, roi[0], roi[2], bin % s.ow, s.ow);
      int64_t image = images[r] < s.n ? images[r] : s.n - 1;
      image = image > 0 ? image : 0;
      const T *const from = x + static_cast<ptrdiff_t>(image) * s.c * plane;
      T *const to = y + ptrdiff_t(r) * s.c * bins + bin;
      for (int c = 0; c < s.c; ++c)
        to[ptrdiff_t(c) * bins] = T(0);
      bool is_first = true;
      for (int i = 0; i < rows.count; ++i) {
        const pair<T> row(rows.at(i), s.h);
        for (int j = 0; j < columns.count; ++j) {
          const pair<T> column(columns.at(j), s.w);
          add(s, from, row, column, to, is_first);
          is_first = false;
        }
      }
      const int count = rows.count * columns.count;
      if (s.mode == 0 && count > 1)
        for (int c = 0; c < s.c; ++c)
          to[ptrdiff_t(c) * bins] /= static_cast<T>(count);
    }
  }

private:
  /// The places along an axis of one bin.
  template <class T> struct steps {
    int count;
    T first, size;

    NNC_FN steps(const S &s, T start, T end, int bin, int bins) {
      const T scale = static_cast<T>(s.scale),
              shift = s.half_pixel != 0 ? T(0.5) : T(0);
      start = start * scale - shift;
      T length = end * scale - shift - start;
      if (s.half_pixel == 0 && !(length > T(1)))
        length = T(1);
      const T own = length / static_cast<T>(bins);
      count = s.samples > 0 ? s.samples : whole(own);
      first = start + static_cast<T>(bin) * own;
      size = own / static_cast<T>(count > 0 ? count : 1);
    }
    NNC_FN T at(int i) const {
      return first + (static_cast<T>(i) + T(0.5)) * size;
    }
    NNC_FN static int whole(T size) {
      if (!(size > T(0)))
        return 0;
      return size < T(4096) ? static_cast<int>(nnc::ceil(size)) : 4096;
    }
  };

  /// The two elements along an axis that a place lies between, and their
  /// weights.
  template <class T> struct pair {
    int low = 0, high = 0;
    T low_weight = 0, high_weight = 0;

    NNC_FN pair(T at, int size) {
      if (!(at >= T(-1)) || !(at <= static_cast<T>(size)))
        return; // also if it is NaN
      at = at > T(0) ? at : T(0);
      low = static_cast<int>(at);
      high = low + 1;
      if (low >= size - 1) {
        low = high = size - 1;
        at = static_cast<T>(low);
      }
      high_weight = at - static_cast<T>(low);
      low_weight = T(1) - high_weight;
    }
  };

  template <class T>
  NNC_FN static void add(const S &s, const T *x, const pair<T> &row,
                         const pair<T> &column, T *to, bool is_first) {
    const ptrdiff_t plane = ptrdiff_t(s.h) * s.w;
    const T *const low = x + ptrdiff_t(row.low) * s.w, *const high =
                                                           x +
                                                           ptrdiff_t(row.high) *
                                                               s.w;
    for (int c = 0; c < s.c; ++c, to += s.oh * s.ow) {
      const T *const a = low + c * plane, *const b = high + c * plane;
      const T values[] = {row.low_weight * column.low_weight * a[column.low],
                          row.low_weight * column.high_weight * a[column.high],
                          row.high_weight * column.low_weight * b[column.low],
                          row.high_weight * column.high_weight *
                              b[column.high]};
      if (s.mode == 0) {
        *to += values[0] + values[1] + values[2] + values[3];
        continue;
      }
      for (int i = 0; i < 4; ++i)
        if ((is_first && i == 0) || values[i] > *to)
          *to = values[i];
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_REGIONS_ROI_ALIGN_PORTABLE_H
