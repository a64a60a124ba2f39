//===- planes.h - Resize of whole planes with precomputed taps ------------===//
//
// The layer of portable.h in float, on NCHW[W]c (W lanes are W channels) or,
// with W = 1, on plain NCHW. Tensors are floats or floats of 16 bits. The taps
// of output columns are computed once for a strip of columns and used in every
// row. A unit is an output row of one plane: of one channel block of an image.
// Padding lanes of the output are zero.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_RESAMPLING_RESIZE_PLANES_H
#define NNC_ROUTINES_RESAMPLING_RESIZE_PLANES_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/resampling/resize/taps.h"
#include "runtime/routines/units/thread_ranges.h"

namespace nnc {

template <int W, class S, class Epi> struct resize_planes_t {
  NNC_FN static constexpr int units(const S &s) {
    return s.n * blocks(s) * s.oh;
  }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, const Epi &epi,
                         int begin, int end) {
    for_each_run(begin, end, s.oh, blocks(s), true,
                 [&](int image, int block, int first, int last) {
                   rows_of_plane(s, x, y, epi, image * blocks(s) + block,
                                 block * W, first, last);
                 });
  }

private:
  using V = f32x<W>;
  /// Output columns whose taps are stored at a time.
  static constexpr int strip = 64;

  /// The taps of one output column: offsets into a row, and weights.
  struct column {
    int at[4];
    float weight[4];
  };

  NNC_FN static constexpr int blocks(const S &s) { return (s.c + W - 1) / W; }

  /// Computes output rows [first, last) of a plane, whose first channel is
  /// `channel`.
  template <class T>
  NNC_FN static void rows_of_plane(const S &s, const T *x, T *y, const Epi &epi,
                                   int plane, int channel, int first,
                                   int last) {
    const T *from = x + ptrdiff_t(plane) * s.h * s.w * W;
    const ptrdiff_t at = ptrdiff_t(plane) * s.oh * s.ow * W;
    for (int left = 0; left < s.ow; left += strip) {
      const int width = s.ow - left < strip ? s.ow - left : strip;
      column columns[strip];
      for (int i = 0; i < width; ++i) {
        const resize_taps taps(s, left + i, s.w, s.ow, s.scale_w);
        for (int j = 0; j < 4; ++j) {
          columns[i].at[j] = taps.index[j] * W;
          columns[i].weight[j] = taps.weight[j];
        }
      }
      for (int oy = first; oy < last; ++oy) {
        const resize_taps rows(s, oy, s.h, s.oh, s.scale_h);
        const ptrdiff_t row = at + (ptrdiff_t(oy) * s.ow + left) * W;
        for (int i = 0; i < width; ++i)
          finish(s, value(s, from, rows, columns[i]), row + ptrdiff_t(i) * W,
                 channel, y, epi);
      }
    }
  }

  /// Interpolates one vector from a plane with the taps `rows` and `c`.
  template <class T>
  static NNC_INLINE V value(const S &s, const T *plane, const resize_taps &rows,
                            const column &c) {
    const ptrdiff_t row_step = ptrdiff_t(s.w) * W;
    const T *top = plane + rows.index[0] * row_step;
    if (s.mode == 0)
      return load<V>(top + c.at[0]);
    if (s.mode == 1) {
      const T *bottom = plane + rows.index[1] * row_step;
      const V left(c.weight[0]), right(c.weight[1]);
      const V above =
          left * load<V>(top + c.at[0]) + right * load<V>(top + c.at[1]);
      const V below =
          left * load<V>(bottom + c.at[0]) + right * load<V>(bottom + c.at[1]);
      return V(rows.weight[0]) * above + V(rows.weight[1]) * below;
    }
    V sum(0.0f);
    for (int i = 0; i < 4; ++i) {
      const T *row = plane + rows.index[i] * row_step;
      V row_sum(0.0f);
      for (int j = 0; j < 4; ++j)
        row_sum += V(c.weight[j]) * load<V>(row + c.at[j]);
      sum += V(rows.weight[i]) * row_sum;
    }
    return sum;
  }

  template <class T>
  static NNC_INLINE void finish(const S &s, V v, ptrdiff_t at, int channel,
                                T *y, const Epi &epi) {
    if constexpr (W == 1)
      store(y + at, epi(v, position<false>{at, channel}));
    else
      store_channels(v, y, at, channel, s.c, epi);
  }
};

template <class S, class Epi>
using resize_f32_nchw_portable = resize_planes_t<1, S, Epi>;
template <class S, class Epi>
using resize_f32_nchw4c_sse4 = resize_planes_t<4, S, Epi>;
template <class S, class Epi>
using resize_f32_nchw8c_avx2 = resize_planes_t<8, S, Epi>;
template <class S, class Epi>
using resize_f32_nchw8c_rvv = resize_planes_t<8, S, Epi>;
template <class S, class Epi>
using resize_bf16_nchw16c_amxbf16 = resize_planes_t<16, S, Epi>;
template <class S, class Epi>
using resize_f32_nchw16c_avx512 = resize_planes_t<16, S, Epi>;
template <class S, class Epi>
using resize_f32_nchw4c_neon = resize_planes_t<4, S, Epi>;
template <class S, class Epi>
using resize_f16_nchw8c_neonfp16 = resize_planes_t<8, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_RESAMPLING_RESIZE_PLANES_H
