//===- planes.cuh - Convolutions of images as callers pass them -----------===//
//
// The layer of portable.h for an image of at most four channels in NCHW, with
// results in NHWC: halves and bf16 by implicit_gemm.cuh, floats by
// float_gemm.cuh, which describe grids, tiles, errors and alignment. Weights
// are packed as pixels_plan.h says. The image has the type of the weights, or
// is floats, which are rounded to that type, so that the first layer of a
// network needs no launch before it.
//
// A thread has the pixels of a few taps, and loads each channel of a pixel by
// itself. Neighbouring threads of a warp have neighbouring pixels of a plane.
// Loaded elements stay in registers while the products of the step before are
// added, and are then rounded and stored in shared memory as pixels of four
// channels.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_PLANES_CUH
#define NNC_ROUTINES_CONVOLUTION_CONV2D_PLANES_CUH

#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/blocks/elements.h"
#include "runtime/routines/blocks/mapped.h"
#include "runtime/routines/convolution/conv2d/float_gemm.cuh"
#include "runtime/routines/convolution/conv2d/implicit_gemm.cuh"
#include "runtime/routines/convolution/conv2d/pixels_plan.h"
#include "runtime/simd/half.h"
#include "runtime/simd/unroll.h"

namespace nnc {

/// The bits of an element of BYTES bytes, as they are loaded.
template <int BYTES> struct plane_bits;
template <> struct plane_bits<2> {
  using type = uint16_t;
};
template <> struct plane_bits<4> {
  using type = uint32_t;
};

/// The chunks of an image in planes that one thread brings to shared memory.
template <class T, class Tile, class S, class X>
struct gemm_input<T, Tile, false, plane_shape<S, X>>
    : gemm_input<T, Tile, false, pixel_shape<S>> {
  using as_pixels = gemm_input<T, Tile, false, pixel_shape<S>>;
  using element = X;
  using value_bits = typename plane_bits<int(sizeof(X))>::type;
  static constexpr int pixels = as_pixels::elements / pixel_channels;
  struct chunk {
    value_bits value[pixels][pixel_channels];
  };

  const value_bits *image;

  NNC_INLINE gemm_input(const plane_shape<S, X> &s, const X *x, int first_row,
                        int thread, int step)
      : as_pixels(s, nullptr, first_row, thread, step),
        image(reinterpret_cast<const value_bits *>(x)) {
    const int further = (s.channels() - 1) * s.h * s.w;
    NNC_UNROLL
    for (int i = 0; i < as_pixels::count; ++i) {
      const int out =
          first_row + thread / Tile::chunks + i * as_pixels::row_step;
      this->pixel[i] += out / s.ow / s.oh * further;
    }
  }

  template <class B>
  NNC_INLINE void load(B &b, const plane_shape<S, X> &s,
                       chunk (&chunks)[as_pixels::count]) const {
    int r = this->tap_row, t = this->tap_column;
    NNC_UNROLL
    for (int p = 0; p < pixels; ++p) {
      NNC_UNROLL
      for (int i = 0; i < as_pixels::count; ++i) {
        const bool valid = this->inside(s, i, r, t);
        const value_bits *at =
            image + ptrdiff_t(this->pixel[i] + r * s.dh * s.w + t * s.dw);
        NNC_UNROLL
        for (int c = 0; c < pixel_channels; ++c) {
          chunks[i].value[p][c] = 0;
          if (valid && c < s.channels())
            chunks[i].value[p][c] =
                b.load_global(at + ptrdiff_t(c) * s.h * s.w);
        }
      }
      as_pixels::next_tap(s, r, t);
    }
  }
  template <class B>
  NNC_INLINE void store(B &b, shared_address stage,
                        const chunk (&chunks)[as_pixels::count]) const {
    NNC_UNROLL
    for (int i = 0; i < as_pixels::count; ++i) {
      words4 words;
      NNC_UNROLL
      for (int w = 0; w < 4; ++w)
        words.word[w] = word(b, chunks[i], w);
      b.store_shared(stage + this->place +
                         i * as_pixels::row_step * Tile::depth_bytes,
                     words);
    }
  }

private:
  /// Word `w` of a chunk in shared memory.
  template <class B>
  static NNC_INLINE uint32_t word(B &b, const chunk &loaded, int w) {
    constexpr int per_word = 4 / int(sizeof(T));
    const int first = w * per_word;
    const auto &pixel = loaded.value[first / pixel_channels];
    const value_bits low = pixel[first % pixel_channels];
    if constexpr (per_word == 1) {
      return low;
    } else {
      const value_bits high = pixel[first % pixel_channels + 1];
      if constexpr (is_same<X, T>::value)
        return low | uint32_t(high) << 16;
      else
        return rounded_pair<T>(b, from_bits(low), from_bits(high));
    }
  }
  static NNC_INLINE float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
  }
};

/// The kernel for halves and bf16 on tensor cores.
template <class S, class Tile, class Epi> struct planes_on_tensor_cores {
  static constexpr int threads = Tile::threads,
                       shared_bytes = Tile::shared_bytes;
  static constexpr grid_size grid(const S &s) {
    return {gemm_blocks<Tile>(s), 1, 1};
  }
  template <class B, class X, class T, class Y>
  static NNC_INLINE void run(B &b, const S &s, const X *x, const T *w, Y *y,
                             const Epi &epi) {
    using shape = plane_shape<S, X>;
    implicit_gemm<T, Tile, false, shape>::run(
        b, shape(s), x, reinterpret_cast<const unsigned char *>(w),
        finished_sums<Y, Epi>{y, epi}, 1);
  }
};

/// A convolution by products of halves or of bf16, of an image of their type or
/// of floats.
template <int ARCH, class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
struct conv2d_planes {
  static constexpr int arch = ARCH;
  using kernels = kernel_list<planes_on_tensor_cores<
      S, gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES>,
      Epi>>;
};

template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv2d_bf16_nchw_pixels_sm80 =
    conv2d_planes<80, S, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                  Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv2d_f16_nchw_pixels_sm75 =
    conv2d_planes<75, S, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                  Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv2d_f32_bf16_nchw_pixels_sm80 =
    conv2d_planes<80, S, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                  Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, class Epi>
using conv2d_f32_f16_nchw_pixels_sm75 =
    conv2d_planes<75, S, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                  Epi>;

/// The shape that the kernel of floats takes.
struct to_planes {
  template <class S>
  NNC_FN static constexpr plane_shape<S, float> of(const S &s) {
    return plane_shape<S, float>(s);
  }
};
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS, int STAGES,
          class Epi>
struct conv2d_f32_nchw_pixels_sm75 {
  static constexpr int arch = 75;
  using kernels = typename mapped_kernels<
      typename float_gemm<
          plane_shape<S, float>,
          float_gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, STAGES>, 1,
          Epi>::kernels,
      S, to_planes>::type;
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_PLANES_CUH
