//===- nhwc.cuh - 2-D pooling of images in NHWC on a GPU ------------------===//
//
// The layers of nhwc.h for maps of floats, halves or bf16, which are computed
// as floats; results are rounded once, when stored. Channels are in runs of N,
// as many as 16 bytes have where c is a multiple of that, and else one.
//
// A thread computes a run of a pixel of y, and its neighbours those beside it
// in memory. Where a window has 32 taps or more, as in global pooling, a block
// computes a few runs of one pixel instead, and fewer of them where there are
// 1024 taps or more: its threads divide the taps, and combine their parts in
// shared memory, in a fixed order.
//
// grid     grid(s): threads, or parts of a pixel, along x
// block    256 threads
// shared   shared_bytes: 8 KiB for 16-bit floats, 4 KiB for floats
// registers
//          at most 64 a thread
// from     sm_75 on
// reads    each element of x that lies in a window, once for each window
// writes   y
// error    maxima have none; means that of a float's sum, which is in the order
//          of nhwc.h in windows with fewer than 32 taps, and of the rounding to
//          y
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_POOLING_POOL2D_NHWC_CUH
#define NNC_ROUTINES_POOLING_POOL2D_NHWC_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/blocks/elements.h"
#include "runtime/routines/pooling/pool2d/taps.h"
#include "runtime/simd/bfloat.h"
#include "runtime/simd/half.h"
#include "runtime/simd/unroll.h"

namespace nnc {

/// Kinds of pooling: join() takes one more tap into a value, or combines parts
/// of a window. Windows without taps in the image give zero.
struct pool2d_maximum {
  static constexpr float start = -HUGE_VALF;
  /// NaN replaces any value, and stays.
  static NNC_INLINE float join(float best, float v) {
    return v > best || v != v ? v : best;
  }
  template <class S>
  static NNC_INLINE float finish(const S &, const pool_taps &taps, float best) {
    return taps.rows.count() * taps.columns.count() == 0 ? 0.0f : best;
  }
};
struct pool2d_mean {
  static constexpr float start = 0.0f;
  static NNC_INLINE float join(float sum, float v) { return sum + v; }
  template <class S>
  static NNC_INLINE float finish(const S &s, const pool_taps &taps, float sum) {
    return mean_of_taps<float>(sum, taps.count(s));
  }
};

/// Pooling of maps of X: floats, halves or bf16.
template <class X, class Kind, class S, class Epi> struct pool2d_nhwc {
  static constexpr int threads = 256, most_run = elements_of_move<X>;
  /// Without this, nvcc aims at more blocks on sm_86 and spills registers.
  static constexpr int resident_blocks = 4;
  /// Channels of a pixel, in runs, that a block computes where it divides
  /// windows. With few of them, more blocks share the taps of a large window.
  static constexpr int runs_of_block = 8, singles_of_block = 32;
  static constexpr int fewer = 4; ///< the divisor for large windows
  static constexpr int shared_bytes = threads * most_run * int(sizeof(float));

  NNC_FN static constexpr grid_size grid(const S &s) {
    const int run = run_of(s), pixels = s.n * s.oh * s.ow;
    const int across = (run > 1 ? runs_of_block : singles_of_block) /
                       (has_many_taps(s) ? fewer : 1);
    const int blocks = divides(s) ? pixels * ceil_div(s.c / run, across)
                                  : ceil_div(pixels * (s.c / run), threads);
    return {blocks > 1 ? blocks : 1, 1, 1};
  }

  template <class B, class Y>
  static NNC_INLINE void run(B &b, const S &s, const X *x, Y *y,
                             const Epi &epi) {
    b.wait_for_inputs();
    if (run_of(s) == 1)
      run_part<1>(b, s, x, y, epi);
    else
      run_part<most_run>(b, s, x, y, epi);
  }

private:
  NNC_FN static constexpr int run_of(const S &s) {
    return s.c % most_run == 0 ? most_run : 1;
  }
  NNC_FN static constexpr bool divides(const S &s) { return s.kh * s.kw >= 32; }
  NNC_FN static constexpr bool has_many_taps(const S &s) {
    return s.kh * s.kw >= 1024;
  }

  template <int N, class B, class Y>
  static NNC_INLINE void run_part(B &b, const S &s, const X *x, Y *y,
                                  const Epi &epi) {
    const bool aligned =
        N == 1 || (are_aligned(x, y) && operands_are_aligned(epi));
    constexpr int across = N > 1 ? runs_of_block : singles_of_block;
    if (has_many_taps(s))
      run_window<N, across / fewer>(b, s, x, y, epi, aligned);
    else if (divides(s))
      run_window<N, across>(b, s, x, y, epi, aligned);
    else
      run_pixel<N>(b, s, x, y, epi, aligned);
  }

  /// Loads a run, by elements if tensors are not aligned.
  template <int N, class B>
  static NNC_INLINE void load(B &b, const X *from, bool aligned,
                              float (&v)[N]) {
    if (aligned) {
      load_elements(b, from, v);
      return;
    }
    NNC_UNROLL
    for (int j = 0; j < N; ++j) {
      float one[1];
      load_elements(b, from + j, one);
      v[j] = one[0];
    }
  }

  /// Stores the result of a run at y[at].
  template <int N, class B, class Y>
  static NNC_INLINE void store(B &b, const Epi &epi, const float (&v)[N],
                               bool aligned, Y *y, ptrdiff_t at, int channel) {
    if (aligned) {
      store_results(b, epi, v, y, at, channel);
      return;
    }
    NNC_UNROLL
    for (int j = 0; j < N; ++j) {
      const float one[1] = {v[j]};
      store_results(b, epi, one, y, at + j, channel + j);
    }
  }

  /// The taps of the window of pixel `pixel` of y.
  static NNC_INLINE pool_taps taps_of(const S &s, int pixel) {
    return pool_taps(s, pixel / s.ow % s.oh * s.sh - s.pt,
                     pixel % s.ow * s.sw - s.pl);
  }
  /// The first element of channel `channel` of the image of that pixel.
  static NNC_INLINE const X *image_of(const S &s, const X *x, int pixel,
                                      int channel) {
    return x + ptrdiff_t(pixel / s.ow / s.oh) * s.h * s.w * s.c + channel;
  }

  /// Computes the thread's run of a pixel.
  template <int N, class B, class Y>
  static NNC_INLINE void run_pixel(B &b, const S &s, const X *x, Y *y,
                                   const Epi &epi, bool aligned) {
    const int unit = b.block_x() * threads + b.thread(), runs = s.c / N;
    if (unit >= s.n * s.oh * s.ow * runs)
      return;
    // Compilers warn of a division by zero where c is a constant below N, which
    // the caller excludes.
    const int divisor = larger(1, runs);
    const int pixel = unit / divisor, channel = unit % divisor * N;
    const pool_taps taps = taps_of(s, pixel);
    const X *image = image_of(s, x, pixel, channel);
    float v[N];
    NNC_UNROLL
    for (int j = 0; j < N; ++j)
      v[j] = Kind::start;
    for (int r = taps.rows.from; r < taps.rows.to; ++r) {
      const X *row =
          image + (ptrdiff_t(taps.top + r * s.dh) * s.w + taps.left) * s.c;
      float of_row[N];
      NNC_UNROLL
      for (int j = 0; j < N; ++j)
        of_row[j] = Kind::start;
      for (int t = taps.columns.from; t < taps.columns.to; ++t) {
        float tap[N];
        load(b, row + ptrdiff_t(t) * s.dw * s.c, aligned, tap);
        NNC_UNROLL
        for (int j = 0; j < N; ++j)
          of_row[j] = Kind::join(of_row[j], tap[j]);
      }
      NNC_UNROLL
      for (int j = 0; j < N; ++j)
        v[j] = Kind::join(v[j], of_row[j]);
    }
    b.let_next_launch_begin();
    NNC_UNROLL
    for (int j = 0; j < N; ++j)
      v[j] = Kind::finish(s, taps, v[j]);
    store(b, epi, v, aligned, y, ptrdiff_t(pixel) * s.c + channel, channel);
  }

  /// Computes the block's ACROSS runs of a pixel. The threads of a slice have
  /// one run each, and each slice has some of the taps.
  template <int N, int ACROSS, class B, class Y>
  static NNC_INLINE void run_window(B &b, const S &s, const X *x, Y *y,
                                    const Epi &epi, bool aligned) {
    constexpr int slices = threads / ACROSS, channels = ACROSS * N;
    const int blocks = ceil_div(s.c, channels);
    const int pixel = b.block_x() / blocks;
    const int first = b.block_x() % blocks * channels;
    if (pixel >= s.n * s.oh * s.ow)
      return;
    const pool_taps taps = taps_of(s, pixel);
    const int place = b.thread() % ACROSS * N, slice = b.thread() / ACROSS;
    float v[N];
    NNC_UNROLL
    for (int j = 0; j < N; ++j)
      v[j] = Kind::start;
    if (first + place < s.c) {
      const X *image = image_of(s, x, pixel, first + place);
      const int columns = taps.columns.count();
      const int count = taps.rows.count() * columns;
      for (int tap = slice; tap < count; tap += slices) {
        const int row = taps.top + (taps.rows.from + tap / columns) * s.dh;
        const int column =
            taps.left + (taps.columns.from + tap % columns) * s.dw;
        float of_tap[N];
        load(b, image + (ptrdiff_t(row) * s.w + column) * s.c, aligned, of_tap);
        NNC_UNROLL
        for (int j = 0; j < N; ++j)
          v[j] = Kind::join(v[j], of_tap[j]);
      }
    }
    const auto word = [&](int part, int channel) {
      return b.shared_base() + (part * channels + channel) * int(sizeof(float));
    };
    NNC_UNROLL
    for (int j = 0; j < N; ++j)
      b.store_shared(word(slice, place + j), v[j]);
    b.barrier();
    b.let_next_launch_begin();
    const int channel = b.thread();
    if (channel >= channels || first + channel >= s.c)
      return;
    float total = b.template load_shared<float>(word(0, channel));
    NNC_UNROLL
    for (int part = 1; part < slices; ++part)
      total =
          Kind::join(total, b.template load_shared<float>(word(part, channel)));
    const float one[1] = {Kind::finish(s, taps, total)};
    store_results(b, epi, one, y, ptrdiff_t(pixel) * s.c + first + channel,
                  first + channel);
  }
};

/// The routines of a family and an element type.
template <class X, class Kind, class S, class Epi> struct pool2d_nhwc_sm75 {
  using kernels = kernel_list<pool2d_nhwc<X, Kind, S, Epi>>;
  static constexpr int arch = 75;
};
template <class S, class Epi>
using avg_pool2d_bf16_nhwc_sm75 = pool2d_nhwc_sm75<bf16, pool2d_mean, S, Epi>;
template <class S, class Epi>
using avg_pool2d_f16_nhwc_sm75 = pool2d_nhwc_sm75<f16, pool2d_mean, S, Epi>;
template <class S, class Epi>
using avg_pool2d_f32_nhwc_sm75 = pool2d_nhwc_sm75<float, pool2d_mean, S, Epi>;
template <class S, class Epi>
using max_pool2d_bf16_nhwc_sm75 =
    pool2d_nhwc_sm75<bf16, pool2d_maximum, S, Epi>;
template <class S, class Epi>
using max_pool2d_f16_nhwc_sm75 = pool2d_nhwc_sm75<f16, pool2d_maximum, S, Epi>;
template <class S, class Epi>
using max_pool2d_f32_nhwc_sm75 =
    pool2d_nhwc_sm75<float, pool2d_maximum, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_POOLING_POOL2D_NHWC_CUH
