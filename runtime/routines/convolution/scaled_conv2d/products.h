//===- products.h - 1 x 1 convolution of a scaled input, in strips --------===//
//
// The layer of shape.h with x, y, scale and bias in NCHW<W>c, the latter two as
// images of one pixel. v is stored as KRSC<W>k; for one or two levels of
// Strassen's method as KRSC<W>k_strassen or KRSC<W>k_strassen2, where each
// half, or quarter, of c and of k is a multiple of W.
//
// A strip of pixels is scaled for all input channels, into scratch that stays
// in a cache near the core, as the transform of transformed.h. Strassen's
// method scales pixels when it makes its sums.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_SCALED_CONV2D_PRODUCTS_H
#define NNC_ROUTINES_CONVOLUTION_SCALED_CONV2D_PRODUCTS_H

#include "runtime/functions.h"
#include "runtime/routines/convolution/inner_activation.h"
#include "runtime/routines/convolution/scaled_conv2d/plan.h"
#include "runtime/routines/transforms/strassen.h"

namespace nnc {

/// LAYOUT of transforms/strassen.h for images whose pixels are scaled when
/// loaded.
template <class V, class S> struct scaled_pixels {
  static constexpr int W = lanes<V>;
  using E = element_of<V>;
  /// x, and the scale and bias of each channel.
  struct source {
    const E *x;
    const float *scale, *bias;
  };
  /// Whether the products may read the input from memory as it is. They may
  /// not, because each value is scaled when it is loaded.
  static constexpr bool in_place(const S &) { return false; }
  static constexpr int images(const S &s) { return s.n; }
  static constexpr int rows(const S &s) { return s.h * s.w; }
  static constexpr int channels(const S &s) { return s.c; }
  static constexpr int filters(const S &s) { return s.k; }
  static ptrdiff_t left(const S &s, int image, int row, int block) {
    return ((ptrdiff_t(image) * ceil_div(s.c, W) + block) * rows(s) + row) * W;
  }
  static NNC_INLINE f32x<W> load(const S &s, const source &from, int image,
                                 int row, int block) {
    using F = f32x<W>;
    return activate(s, fma(nnc::load<F>(from.x + left(s, image, row, block)),
                           F::load(from.scale + block * W),
                           F::load(from.bias + block * W)));
  }
  static ptrdiff_t result(const S &s, int image, int row, int block) {
    return ((ptrdiff_t(image) * ceil_div(s.k, W) + block) * rows(s) + row) * W;
  }
  template <class Epi>
  static NNC_INLINE void store(f32x<W> v, E *y, ptrdiff_t at, int block,
                               const S &s, const Epi &epi) {
    store_channels(v, y, at, block * W, s.k, epi);
  }
};

/// The routine with LEVELS levels of Strassen's method, or none.
template <class V, class S, int LEVELS, int P, int B, class Epi>
struct scaled_conv2d_nchwc_t {
  using E = element_of<V>;
  using pixels = scaled_pixels<V, S>;
  using product =
      transformed_product<strassen<V, pixels, S, LEVELS, P, B>, S, P, B, Epi>;

  static constexpr int units(const S &s, int threads = 1) {
    return product::units(s, threads);
  }

  static void run(const S &s, const E *x, const float *scale, const float *bias,
                  const E *v, E *y, unsigned char *scratch, const Epi &epi,
                  int begin, int end, int threads = 1) {
    product::run(s, typename pixels::source{x, scale, bias}, v, y, scratch, epi,
                 begin, end, threads);
  }
};

template <class S, int P, int B, class Epi>
using scaled_conv2d_f32_nchw16c_pointwise_avx512 =
    scaled_conv2d_nchwc_t<f32x<16>, S, 0, P, B, Epi>;
template <class S, int P, int B, class Epi>
using scaled_conv2d_f32_nchw8c_pointwise_avx2 =
    scaled_conv2d_nchwc_t<f32x<8>, S, 0, P, B, Epi>;
template <class S, int P, int B, class Epi>
using scaled_conv2d_f32_nchw8c_pointwise_rvv =
    scaled_conv2d_nchwc_t<f32x<8>, S, 0, P, B, Epi>;
template <class S, int P, int B, class Epi>
using scaled_conv2d_f32_nchw4c_pointwise_neon =
    scaled_conv2d_nchwc_t<f32x<4>, S, 0, P, B, Epi>;
template <class S, int P, int B, class Epi>
using scaled_conv2d_f32_nchw4c_pointwise_sse4 =
    scaled_conv2d_nchwc_t<f32x<4>, S, 0, P, B, Epi>;
template <class S, int P, int B, class Epi>
using scaled_conv2d_f32_nchw16c_strassen_avx512 =
    scaled_conv2d_nchwc_t<f32x<16>, S, 1, P, B, Epi>;
template <class S, int P, int B, class Epi>
using scaled_conv2d_f32_nchw8c_strassen_avx2 =
    scaled_conv2d_nchwc_t<f32x<8>, S, 1, P, B, Epi>;
template <class S, int P, int B, class Epi>
using scaled_conv2d_f32_nchw8c_strassen_rvv =
    scaled_conv2d_nchwc_t<f32x<8>, S, 1, P, B, Epi>;
template <class S, int P, int B, class Epi>
using scaled_conv2d_f32_nchw4c_strassen_neon =
    scaled_conv2d_nchwc_t<f32x<4>, S, 1, P, B, Epi>;
template <class S, int P, int B, class Epi>
using scaled_conv2d_f32_nchw4c_strassen_sse4 =
    scaled_conv2d_nchwc_t<f32x<4>, S, 1, P, B, Epi>;
template <class S, int P, int B, class Epi>
using scaled_conv2d_f32_nchw16c_strassen2_avx512 =
    scaled_conv2d_nchwc_t<f32x<16>, S, 2, P, B, Epi>;
template <class S, int P, int B, class Epi>
using scaled_conv2d_f32_nchw8c_strassen2_avx2 =
    scaled_conv2d_nchwc_t<f32x<8>, S, 2, P, B, Epi>;
template <class S, int P, int B, class Epi>
using scaled_conv2d_f32_nchw8c_strassen2_rvv =
    scaled_conv2d_nchwc_t<f32x<8>, S, 2, P, B, Epi>;
template <class S, int P, int B, class Epi>
using scaled_conv2d_f32_nchw4c_strassen2_neon =
    scaled_conv2d_nchwc_t<f32x<4>, S, 2, P, B, Epi>;
template <class S, int P, int B, class Epi>
using scaled_conv2d_f32_nchw4c_strassen2_sse4 =
    scaled_conv2d_nchwc_t<f32x<4>, S, 2, P, B, Epi>;
template <class S, int P, int B, class Epi>
using scaled_conv2d_f16_nchw8c_pointwise_neonfp16 =
    scaled_conv2d_nchwc_t<f16x<8>, S, 0, P, B, Epi>;
template <class S, int P, int B, class Epi>
using scaled_conv2d_f16_nchw8c_strassen_neonfp16 =
    scaled_conv2d_nchwc_t<f16x<8>, S, 1, P, B, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_SCALED_CONV2D_PRODUCTS_H
