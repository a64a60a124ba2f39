//===- nhwc.cuh - Resize of images in NHWC on a GPU -----------------------===//
//
// The layers of portable.h for maps of floats, halves or bf16 in NHWC, which
// are interpolated as floats; results are rounded once, when stored. A thread
// computes a run of channels of a pixel of y: as many as 16 bytes have where c
// is a multiple of that, and else one.
//
// grid     grid(s): threads along x
// block    256 threads
// shared   none
// registers
//          at most 128 a thread
// from     sm_75 on
// reads    the elements from which the run is interpolated
// writes   y
// error    that of portable.h, whose sums are in the same order, and of the
//          rounding to y
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_RESAMPLING_RESIZE_NHWC_CUH
#define NNC_ROUTINES_RESAMPLING_RESIZE_NHWC_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/blocks/elements.h"
#include "runtime/routines/blocks/moves.h"
#include "runtime/routines/resampling/resize/taps.h"
#include "runtime/simd/bfloat.h"
#include "runtime/simd/half.h"
#include "runtime/simd/unroll.h"

namespace nnc {

/// Interpolation in maps of X: floats, halves or bf16.
template <class X, class S, class Epi> struct resize_nhwc {
  static constexpr int threads = move_threads, shared_bytes = 0,
                       most_run = elements_of_move<X>;

  NNC_FN static constexpr grid_size grid(const S &s) {
    return grid_of_moves(units(s, run_of(s)));
  }

  template <class B, class Y>
  static NNC_INLINE void run(B &b, const S &s, const X *x, Y *y,
                             const Epi &epi) {
    b.wait_for_inputs();
    if (run_of(s) == most_run && are_aligned(x, y) && operands_are_aligned(epi))
      each_unit(b, grid(s), units(s, most_run),
                [&](int unit) { run_pixel<most_run>(b, s, x, y, epi, unit); });
    else
      each_unit(b, grid(s), units(s, 1),
                [&](int unit) { run_pixel<1>(b, s, x, y, epi, unit); });
  }

private:
  NNC_FN static constexpr int run_of(const S &s) {
    return s.c % most_run == 0 ? most_run : 1;
  }
  NNC_FN static constexpr int units(const S &s, int run) {
    return s.n * s.oh * s.ow * (s.c / run);
  }

  /// Computes N channels of a pixel.
  template <int N, class B, class Y>
  static NNC_INLINE void run_pixel(B &b, const S &s, const X *x, Y *y,
                                   const Epi &epi, int unit) {
    // Compilers warn of a division by zero where c is a constant below N, which
    // the caller excludes.
    const int runs = larger(1, s.c / N);
    const int pixel = unit / runs, channel = unit % runs * N;
    const resize_taps rows(s, pixel / s.ow % s.oh, s.h, s.oh, s.scale_h);
    const resize_taps columns(s, pixel % s.ow, s.w, s.ow, s.scale_w);
    const X *image =
        x + ptrdiff_t(pixel / s.ow / s.oh) * s.h * s.w * s.c + channel;
    float v[N] = {};
    if (s.mode == 0) {
      load_elements(b, tap_of(s, image, rows.index[0], columns.index[0]), v);
    } else {
      // Two taps along each axis, or four of cubic interpolation.
      constexpr int most_taps = 4;
      NNC_UNROLL
      for (int i = 0; i < most_taps; ++i) {
        if (i >= (s.mode == 1 ? 2 : most_taps))
          continue;
        float of_row[N] = {};
        NNC_UNROLL
        for (int j = 0; j < most_taps; ++j) {
          if (j >= (s.mode == 1 ? 2 : most_taps))
            continue;
          float tap[N];
          load_elements(b, tap_of(s, image, rows.index[i], columns.index[j]),
                        tap);
          NNC_UNROLL
          for (int k = 0; k < N; ++k)
            of_row[k] += columns.weight[j] * tap[k];
        }
        NNC_UNROLL
        for (int k = 0; k < N; ++k)
          v[k] += rows.weight[i] * of_row[k];
      }
    }
    store_results(b, epi, v, y, ptrdiff_t(pixel) * s.c + channel, channel);
  }
  static NNC_INLINE const X *tap_of(const S &s, const X *image, int row,
                                    int column) {
    return image + (ptrdiff_t(row) * s.w + column) * s.c;
  }
};

/// The routines of an element type.
template <class X, class S, class Epi> struct resize_nhwc_sm75 {
  using kernels = kernel_list<resize_nhwc<X, S, Epi>>;
  static constexpr int arch = 75;
};
template <class S, class Epi>
using resize_bf16_nhwc_sm75 = resize_nhwc_sm75<bf16, S, Epi>;
template <class S, class Epi>
using resize_f16_nhwc_sm75 = resize_nhwc_sm75<f16, S, Epi>;
template <class S, class Epi>
using resize_f32_nhwc_sm75 = resize_nhwc_sm75<float, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_RESAMPLING_RESIZE_NHWC_CUH
