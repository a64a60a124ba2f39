//===- strassen.h - 1 x 1 convolution by Strassen's method ----------------===//
//
// A 1 x 1 convolution is a product of pixels by channels. x and y in NCHW<W>c,
// the weights as KRSC<W>k_strassen, or KRSC<W>k_strassen2 for two levels. No
// padding, one group; each half of c and of k, or each quarter for two levels,
// is a multiple of W. With a stride, the strided pixels become contiguous in
// scratch when sums are made of them; tiles cover all pixels of the result,
// wherever its rows end.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_STRASSEN_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_STRASSEN_H

#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/transforms/strassen.h"

namespace nnc {

/// LAYOUT of transforms/strassen.h for images: a row is an output pixel.
template <class V, class S> struct strassen_pixels {
  static constexpr int W = lanes<V>;
  using E = element_of<V>;
  using source = const E *;
  static constexpr bool in_place(const S &s) { return every_pixel(s); }
  static constexpr int images(const S &s) { return s.n; }
  static constexpr int rows(const S &s) { return s.oh * s.ow; }
  static constexpr int channels(const S &s) { return s.c; }
  static constexpr int filters(const S &s) { return s.k; }
  static ptrdiff_t left(const S &s, int image, int row, int block) {
    const int pixel =
        every_pixel(s) ? row : row / s.ow * s.sh * s.w + row % s.ow * s.sw;
    return ((ptrdiff_t(image) * (s.c / W) + block) * s.h * s.w + pixel) * W;
  }
  static NNC_INLINE f32x<W> load(const S &s, const E *x, int image, int row,
                                 int block) {
    return nnc::load<f32x<W>>(x + left(s, image, row, block));
  }
  static ptrdiff_t result(const S &s, int image, int row, int block) {
    return ((ptrdiff_t(image) * (s.k / W) + block) * rows(s) + row) * W;
  }
  template <class Epi>
  static NNC_INLINE void store(f32x<W> v, E *y, ptrdiff_t at, int block,
                               const S &s, const Epi &epi) {
    store_channels(v, y, at, block * W, s.k, epi);
  }
};

template <class V, class S, int L, int P, int B, class Epi>
using conv2d_nchwc_strassen_t =
    transformed_product<strassen<V, strassen_pixels<V, S>, S, L, P, B>, S, P, B,
                        Epi>;

template <class S, int P, int B, class Epi>
using conv2d_f32_nchw16c_strassen_avx512 =
    conv2d_nchwc_strassen_t<f32x<16>, S, 1, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw8c_strassen_avx2 =
    conv2d_nchwc_strassen_t<f32x<8>, S, 1, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw8c_strassen_rvv =
    conv2d_nchwc_strassen_t<f32x<8>, S, 1, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw4c_strassen_neon =
    conv2d_nchwc_strassen_t<f32x<4>, S, 1, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw4c_strassen_sse4 =
    conv2d_nchwc_strassen_t<f32x<4>, S, 1, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw16c_strassen2_avx512 =
    conv2d_nchwc_strassen_t<f32x<16>, S, 2, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw8c_strassen2_avx2 =
    conv2d_nchwc_strassen_t<f32x<8>, S, 2, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw8c_strassen2_rvv =
    conv2d_nchwc_strassen_t<f32x<8>, S, 2, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw4c_strassen2_neon =
    conv2d_nchwc_strassen_t<f32x<4>, S, 2, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw4c_strassen2_sse4 =
    conv2d_nchwc_strassen_t<f32x<4>, S, 2, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f16_nchw8c_strassen_neonfp16 =
    conv2d_nchwc_strassen_t<f16x<8>, S, 1, P, B, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_STRASSEN_H
