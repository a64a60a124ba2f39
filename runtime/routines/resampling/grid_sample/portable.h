//===- portable.h - Images sampled at given places on any machine ---------===//
//
// y[n][c][place] is x[n][c] at the coordinates that grid[n][place] holds, as
// the ONNX specification of GridSample says; grid_sample/shape.h has the axes
// and the modes. The cubic kernel has the coefficient -0.75. Coordinates that
// are not finite give elements of the image or zeros. A unit is one place.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_RESAMPLING_GRID_SAMPLE_PORTABLE_H
#define NNC_ROUTINES_RESAMPLING_GRID_SAMPLE_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/simd/arithmetic.h"

namespace nnc {

template <class S, class Epi> struct grid_sample_portable {
  NNC_FN static constexpr int units(const S &s) {
    return s.n * s.od * s.oh * s.ow;
  }

  /// T is float or double.
  template <class T>
  NNC_FN static void run(const S &s, const T *x, const T *grid, T *y,
                         const Epi &, int begin, int end) {
    const int places = s.od * s.oh * s.ow;
    const ptrdiff_t plane = ptrdiff_t(s.d) * s.h * s.w;
    for (int unit = begin; unit < end; ++unit) {
      const T *at = grid + ptrdiff_t(unit) * s.rank;
      const taps<T> columns(s, at[0], s.w), rows(s, at[1], s.h),
          slices = s.rank == 3 ? taps<T>(s, at[2], s.d) : taps<T>();
      const int image = unit / places, place = unit % places;
      const T *from = x + ptrdiff_t(image) * s.c * plane;
      T *to = y + ptrdiff_t(image) * s.c * places + place;
      for (int c = 0; c < s.c; ++c, from += plane, to += places) {
        T sum = 0;
        for (int i = 0; i < slices.count; ++i)
          for (int j = 0; j < rows.count; ++j) {
            const T *row =
                from + (ptrdiff_t(slices.index[i]) * s.h + rows.index[j]) * s.w;
            const T weight = slices.weight[i] * rows.weight[j];
            for (int k = 0; k < columns.count; ++k)
              sum += weight * columns.weight[k] * row[columns.index[k]];
          }
        *to = sum;
      }
    }
  }

private:
  /// The elements along one axis from which a value is interpolated, and their
  /// weights. Only elements inside of the image are included.
  template <class T> struct taps {
    int count = 1;
    int index[4] = {};
    T weight[4] = {1};

    taps() = default;
    NNC_FN taps(const S &s, T coordinate, int size) : count(0) {
      const T low = s.align_corners ? T(0) : T(-0.5),
              high = T(size) - (s.align_corners ? T(1) : T(0.5));
      // Converts a coordinate in [-1, 1] to an element index.
      T at = (coordinate + T(1)) * (high - low) / T(2) + low;
      if (s.mode == 0)
        at = nnc::round(at);
      // For cubic interpolation, each neighbour is moved into the image
      // separately.
      if (s.mode != 2 || s.padding != 1)
        at = bound(s, at, low, high, size);
      // Coordinates far outside of the image need not be exact; NaN counts as
      // outside.
      at = at > T(-8) ? (at < T(size) + T(8) ? at : T(size) + T(8)) : T(-8);
      const T first = nnc::floor(at);
      const T past = at - first;
      const int start = static_cast<int>(first);
      if (s.mode == 0) {
        add(s, start, T(1), low, high, size);
      } else if (s.mode == 1) {
        add(s, start, T(1) - past, low, high, size);
        add(s, start + 1, past, low, high, size);
      } else {
        for (int i = -1; i < 3; ++i)
          add(s, start + i, cubic(past - T(i)), low, high, size);
      }
    }

  private:
    /// Moves a coordinate into the image where the padding asks for it.
    NNC_FN static T bound(const S &s, T at, T low, T high, int size) {
      if (s.padding == 1)
        return at > T(0) ? (at < T(size - 1) ? at : T(size - 1)) : T(0);
      if (s.padding == 2)
        return reflect(at, low, high);
      return at;
    }
    NNC_FN static T reflect(T at, T low, T high) {
      const T range = high - low;
      if (!(range > T(0)))
        return low;
      const T beyond = at < low ? low - at : at - high;
      if (!(beyond > T(0)))
        return at;
      const T turns = nnc::floor(beyond / range), rest = beyond - turns * range;
      const bool is_even = turns == T(2) * nnc::floor(turns / T(2));
      return (at < low) == is_even ? low + rest : high - rest;
    }
    NNC_FN void add(const S &s, int element, T share, T low, T high, int size) {
      int inside = element;
      if (s.padding != 0) {
        const T moved = bound(s, T(element), low, high, size);
        inside = static_cast<int>(nnc::floor(moved + T(0.5)));
        inside = inside < 0 ? 0 : (inside < size ? inside : size - 1);
      }
      if (inside < 0 || inside >= size)
        return;
      index[count] = inside;
      weight[count++] = share;
    }
    NNC_FN static T cubic(T distance) {
      constexpr T a = T(-0.75);
      const T d = distance < T(0) ? -distance : distance;
      if (d <= T(1))
        return ((a + T(2)) * d - (a + T(3))) * d * d + T(1);
      if (d < T(2))
        return ((a * d - T(5) * a) * d + T(8) * a) * d - T(4) * a;
      return T(0);
    }
  };
};

} // namespace nnc

#endif // NNC_ROUTINES_RESAMPLING_GRID_SAMPLE_PORTABLE_H
