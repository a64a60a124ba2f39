//===- depthwise_nhwc.cuh - Depthwise convolutions in NHWC on GPUs --------===//
//
// y[pixel][k] = sum over taps of x[pixel of the tap][k] * w[kh][kw][k], x and y
// in NHWC. A thread computes the channels of 16 bytes of x in PIXELS
// consecutive pixels of a row of y; its neighbours have the next channels.
//
// grid     x: ceil(units / 128) for the units of depthwise_nhwc_plan.h
// block    128 threads
// shared   none
// regs     at most 103 for 16-bit floats and 72 for floats with 4 pixels, 80
// and 66
//          with 2; test/runtime/cuda/float_kernels.inc lists what is checked
// arch     from sm_75 on, bf16 from sm_80 on
// reads    x, w and the operands of the epilogue, each 16-byte aligned
// writes   y, 16-byte aligned
// error    that of a plain sum of floats by fused multiply-adds, in the order
//          of the taps. Taps outside of x add zero times the weight
//
// If the window is a constant of the shape S and not wide, the weights of a row
// of taps stay in registers, and the thread loads each pixel of x once for all
// outputs in a row of taps. Else it loads pixels and weights for each tap.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_DEPTHWISE_NHWC_CUH
#define NNC_ROUTINES_CONVOLUTION_CONV2D_DEPTHWISE_NHWC_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/convolution/conv2d/depthwise_nhwc_plan.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_store.cuh"
#include "runtime/routines/shapes/policy.h"
#include "runtime/simd/bfloat.h"
#include "runtime/simd/half.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec.h"

namespace nnc {

/// True if the columns of the window are constants of the shape.
template <class S>
constexpr bool has_constant_columns = !is_member_pointer<decltype(&S::kw)> &&
                                      !is_member_pointer<decltype(&S::sw)> &&
                                      !is_member_pointer<decltype(&S::dw)>;

/// Taps in a row of such a window, or else 0.
template <class S, bool = has_constant_columns<S>>
constexpr int constant_taps = 0;
template <class S> constexpr int constant_taps<S, true> = S::kw;

template <class T, class S, int PIXELS, class Epi> struct depthwise_nhwc {
  static constexpr int threads = depthwise_nhwc_threads, shared_bytes = 0;

  NNC_FN static constexpr grid_size grid(const S &s) {
    return {ceil_div(int(depthwise_nhwc_units(s, sizeof(T), PIXELS)), threads),
            1, 1};
  }

  template <class B, class Y>
  static NNC_INLINE void run(B &b, const S &s, const T *x, const T *w, Y *y,
                             const Epi &epi) {
    const int unit = b.block_x() * threads + b.thread();
    const int strips = ceil_div(s.ow, PIXELS), parts = s.c / channels;
    const int channel = unit % parts * channels;
    const int first = unit / parts % strips * PIXELS;
    const int line = unit / parts / strips;
    const bool exists = line < s.n * s.oh;
    const T *weights = w + channel;
    row_of_taps taps;
    if (exists)
      taps.load(b, s, weights);
    b.wait_for_inputs();
    b.let_next_launch_begin();
    if (!exists)
      return;

    const int top = line % s.oh * s.sh - s.pt, left = first * s.sw - s.pl;
    const T *corner =
        x + channel + (ptrdiff_t(line / s.oh * s.h + top) * s.w + left) * s.c;
    float sums[PIXELS][channels] = {};
    for (int r = 0; r < s.kh; ++r) {
      if (unsigned(top + r * s.dh) < unsigned(s.h))
        taps.add(b, s, weights, corner, left, sums);
      corner += ptrdiff_t(s.dh) * s.w * s.c;
      weights += ptrdiff_t(s.kw) * s.c;
      if (r + 1 < s.kh)
        taps.load(b, s, weights);
    }
    NNC_UNROLL
    for (int p = 0; p < PIXELS; ++p) {
      if (first + p < s.ow) {
        const ptrdiff_t at =
            (ptrdiff_t(line) * s.ow + first + p) * s.c + channel;
        decltype(epi(0.0f, position<true>{at, channel})) results[channels];
        gemm_epilogue<Epi>::apply(b, epi, sums[p], results, at, channel);
        gemm_elements<Y>::store_all(b, y + at, results);
      }
    }
  }

private:
  static constexpr int channels = 16 / int(sizeof(T)); ///< of a thread
  using chunk = gemm_part<T, channels>;
  static constexpr bool keeps_weights =
      constant_taps<S> > 0 && constant_taps<S> *channels <= 64;

  /// Loads a chunk of the channels of a pixel, or of the weights of a tap.
  template <class B> static NNC_INLINE chunk load_chunk(B &b, const T *from) {
    return b.load_global(reinterpret_cast<const chunk *>(from));
  }
  /// Loads the chunk of column j from the left of the first window.
  template <class B>
  static NNC_INLINE chunk load_pixel(B &b, const S &s, const T *row, int left,
                                     int j) {
    return unsigned(left + j) < unsigned(s.w)
               ? load_chunk(b, row + ptrdiff_t(j) * s.c)
               : chunk{};
  }
  static NNC_INLINE void multiply(float (&sums)[channels], const chunk &pixel,
                                  const chunk &tap) {
    NNC_UNROLL
    for (int i = 0; i < channels; ++i)
      sums[i] = fma(float(pixel.element[i]), float(tap.element[i]), sums[i]);
  }

  /// The taps of a row of the window, whose weights are loaded when they are
  /// needed.
  struct loaded_taps {
    template <class B> NNC_INLINE void load(B &, const S &, const T *) {}
    template <class B>
    NNC_INLINE void add(B &b, const S &s, const T *weights, const T *row,
                        int left, float (&sums)[PIXELS][channels]) const {
      NNC_KEEP_LOOP
      for (int t = 0; t < s.kw; ++t) {
        const chunk tap = load_chunk(b, weights + ptrdiff_t(t) * s.c);
        NNC_UNROLL
        for (int p = 0; p < PIXELS; ++p)
          multiply(sums[p], load_pixel(b, s, row, left, p * s.sw + t * s.dw),
                   tap);
      }
    }
  };
  /// The taps of a row of the window, with their weights.
  struct kept_taps {
    static constexpr int count = constant_taps<S>;
    chunk taps[larger(count, 1)];

    template <class B>
    NNC_INLINE void load(B &b, const S &s, const T *weights) {
      NNC_UNROLL
      for (int t = 0; t < count; ++t)
        taps[t] = load_chunk(b, weights + ptrdiff_t(t) * s.c);
    }
    template <class B>
    NNC_INLINE void add(B &b, const S &s, const T *, const T *row, int left,
                        float (&sums)[PIXELS][channels]) const {
      constexpr int columns = (PIXELS - 1) * S::sw + (count - 1) * S::dw + 1;
      chunk pixels[columns];
      NNC_UNROLL
      for (int j = 0; j < columns; ++j)
        if (is_read(j))
          pixels[j] = load_pixel(b, s, row, left, j);
      NNC_UNROLL
      for (int t = 0; t < count; ++t) {
        NNC_UNROLL
        for (int p = 0; p < PIXELS; ++p)
          multiply(sums[p], pixels[p * S::sw + t * S::dw], taps[t]);
      }
    }

  private:
    /// True if a window contains column j.
    static NNC_INLINE constexpr bool is_read(int j) {
      for (int p = 0; p < PIXELS; ++p)
        for (int t = 0; t < count; ++t)
          if (p * S::sw + t * S::dw == j)
            return true;
      return false;
    }
  };
  using row_of_taps = conditional_t<keeps_weights, kept_taps, loaded_taps>;
};

/// The routines.
template <class S, int PIXELS, class Epi>
struct conv2d_f32_nhwc_depthwise_sm75 {
  using kernels = kernel_list<depthwise_nhwc<float, S, PIXELS, Epi>>;
  static constexpr int arch = 75;
};
template <class S, int PIXELS, class Epi>
struct conv2d_bf16_nhwc_depthwise_sm80 {
  using kernels = kernel_list<depthwise_nhwc<bf16, S, PIXELS, Epi>>;
  static constexpr int arch = 80;
};
template <class S, int PIXELS, class Epi>
struct conv2d_f16_nhwc_depthwise_sm75 {
  using kernels = kernel_list<depthwise_nhwc<f16, S, PIXELS, Epi>>;
  static constexpr int arch = 75;
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_DEPTHWISE_NHWC_CUH
