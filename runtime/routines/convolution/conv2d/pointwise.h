//===- pointwise.h - 1 x 1 convolution in blocked layouts -----------------===//
//
// A 1 x 1 convolution of stride 1 is a matrix product over all pixels of the
// map, regardless of where its rows end. It runs as a direct convolution of one
// long row: a 7 x 7 map is a row of 49 pixels, and no tiles are cut short at
// the ends of rows. With a stride the rows stay, and the input is read in
// place.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_POINTWISE_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_POINTWISE_H

#include "runtime/routines/convolution/conv2d/direct.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/shapes/policy.h"

namespace nnc {

/// Shape S with its whole map as one row.
template <class S, bool Constant = is_constant<S>> struct one_row {
  static constexpr int n = S::n, c = S::c, h = 1, w = S::h * S::w, k = S::k;
  static constexpr int kh = 1, kw = 1, sh = 1, sw = 1, dh = 1, dw = 1;
  static constexpr int pt = 0, pl = 0, oh = 1, ow = S::oh * S::ow;
  static constexpr int groups = S::groups;
  static constexpr one_row of(const S &) { return {}; }
};
template <class S> struct one_row<S, false> {
  int n, c, h, w, k, kh, kw, sh, sw, dh, dw, pt, pl, oh, ow, groups;
  static constexpr one_row of(const S &s) {
    return {s.n, s.c, 1, s.h * s.w, s.k, 1, 1,           1,
            1,   1,   1, 0,         0,   1, s.oh * s.ow, s.groups};
  }
};

template <class V, class S, int COLS, int OC, class Epi>
struct conv2d_nchwc_pointwise_t {
  using T = element_of<V>;
  template <int ROWS, class Shape>
  using direct = conv2d_nchwc_direct_t<V, Shape, ROWS, COLS, OC, Epi>;
  using row = one_row<S>;

  static constexpr int units(const S &s) {
    return every_pixel(s) ? direct<1, row>::units(row::of(s))
                          : direct<1, S>::units(s);
  }

  static constexpr int share(const S &s, int thread, int threads) {
    return every_pixel(s) ? direct<1, row>::share(row::of(s), thread, threads)
                          : direct<1, S>::share(s, thread, threads);
  }

  static void run(const S &s, const T *x, const T *w, T *y, const Epi &epi,
                  int begin, int end) {
    if constexpr (is_constant<S>) {
      constexpr S shape{};
      static_assert(shape.kh == 1 && shape.kw == 1, "a 1 x 1 convolution");
      static_assert(shape.pt == 0 && shape.pl == 0, "without padding");
      if constexpr (every_pixel(shape))
        direct<1, row>::run(row::of(s), x, w, y, epi, begin, end);
      else
        direct<1, S>::run(s, x, w, y, epi, begin, end);
    } else if (every_pixel(s)) {
      direct<1, row>::run(row::of(s), x, w, y, epi, begin, end);
    } else {
      direct<1, S>::run(s, x, w, y, epi, begin, end);
    }
  }
};

template <class S, int COLS, int OC, class Epi>
using conv2d_f32_nchw16c_pointwise_avx512 =
    conv2d_nchwc_pointwise_t<f32x<16>, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_f32_nchw8c_pointwise_avx2 =
    conv2d_nchwc_pointwise_t<f32x<8>, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_f32_nchw8c_pointwise_rvv =
    conv2d_nchwc_pointwise_t<f32x<8>, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_f32_nchw4c_pointwise_neon =
    conv2d_nchwc_pointwise_t<f32x<4>, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_f32_nchw4c_pointwise_sse4 =
    conv2d_nchwc_pointwise_t<f32x<4>, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_f16_nchw8c_pointwise_neonfp16 =
    conv2d_nchwc_pointwise_t<f16x<8>, S, COLS, OC, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_POINTWISE_H
