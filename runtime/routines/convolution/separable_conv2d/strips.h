//===- strips.h - Depthwise, then 1 x 1 convolution through a strip -------===//
//
// The layer of shape.h with x and y in NCHW<W>c, the bias as a 1 x c x 1 x 1
// image in the same layout, w in KCRS<W>k, v in KCRS<W>c<W>k.
//
// Scratch holds a strip of the depthwise result: ROWS rows with all channels,
// which stay in a cache near the core. The 1 x 1 convolution reads the strip as
// one row of pixels, in tiles of COLS pixels by OC channel blocks. Each strip
// reads all of v again, so this pays where a map is large and channels are few.
//
// A unit is one strip of an image.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_SEPARABLE_CONV2D_STRIPS_H
#define NNC_ROUTINES_CONVOLUTION_SEPARABLE_CONV2D_STRIPS_H

#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/depthwise.h"
#include "runtime/routines/convolution/conv2d/direct.h"
#include "runtime/routines/convolution/inner_activation.h"
#include "runtime/routines/convolution/separable_conv2d/plan.h"
#include "runtime/routines/shapes/policy.h"

namespace nnc {

/// Shape of the 1 x 1 convolution of a strip, ROWS rows of one image as one
/// row. Its result is a part of y, whose planes have `plane` pixels.
template <class S, int ROWS, bool Constant = is_constant<S>> struct strip_part {
  static constexpr int n = 1, c = S::c, h = 1, w = ROWS * S::ow, k = S::k;
  static constexpr int kh = 1, kw = 1, sh = 1, sw = 1, dh = 1, dw = 1;
  static constexpr int pt = 0, pl = 0, oh = 1, ow = w, groups = 1;
  static constexpr ptrdiff_t plane = ptrdiff_t(S::oh) * S::ow;
  static constexpr strip_part of(const S &) { return {}; }
};
template <class S, int ROWS> struct strip_part<S, ROWS, false> {
  int n, c, h, w, k, kh, kw, sh, sw, dh, dw, pt, pl, oh, ow, groups;
  ptrdiff_t plane;
  static constexpr strip_part of(const S &s) {
    strip_part p{};
    p.n = p.h = p.kh = p.kw = p.sh = p.sw = p.dh = p.dw = p.oh = p.groups = 1;
    p.c = s.c;
    p.k = s.k;
    p.w = p.ow = ROWS * s.ow;
    p.plane = ptrdiff_t(s.oh) * s.ow;
    return p;
  }
};
/// Pixels from one channel block of y to the next; see conv2d/direct.h.
template <class S, int ROWS>
constexpr ptrdiff_t out_pixels(const strip_part<S, ROWS> &s) {
  return s.plane;
}

/// The epilogue `epi` for a routine whose output begins `ahead` elements into
/// the whole output.
template <class Epi> struct epilogue_from {
  Epi epi;
  ptrdiff_t ahead;
  template <class V, class P> NNC_INLINE V operator()(V v, P pos) const {
    pos.offset += ahead;
    return epi(v, pos);
  }
  NNC_INLINE void fetch(ptrdiff_t offset) const { epi.fetch(offset + ahead); }
};

template <class V, class S, int ROWS, int COLS, int OC, class Epi>
struct separable_conv2d_nchwc_t {
  static constexpr int W = lanes<V>;
  using T = element_of<V>;
  static_assert(W > 1 && (W & (W - 1)) == 0, "W is a vector width");
  static_assert(ROWS > 0 && COLS > 0 && OC > 0, "a tile has points");

  static constexpr int units(const S &s) { return plan(s).strips; }

  static void run(const S &s, const T *x, const T *w, const T *bias, const T *v,
                  T *y, unsigned char *scratch, const Epi &epi, int begin,
                  int end) {
    const separable_plan p = plan(s);
    T *const strip = reinterpret_cast<T *>(scratch);
    constexpr int left =
        left_over<ROWS, S>([](const S &shape) { return shape.oh; });
    for (int i = begin; i < end; ++i) {
      const int image = i / p.image_strips;
      const int first = i % p.image_strips * ROWS;
      in_one_tile<ROWS, left>(
          smaller(ROWS, s.oh - first), [&](auto rows, int row) {
            fill<rows>(s, x, w, bias, strip, image, first + row);
            multiply<rows>(s, strip, v, y, epi, image, first + row);
          });
    }
  }

private:
  static constexpr separable_plan plan(const S &s) {
    return plan_separable(s, W, ROWS);
  }

  /// Computes R rows of the depthwise convolution, from `row` on, into the
  /// strip.
  template <int R>
  static void fill(const S &s, const T *x, const T *w, const T *bias, T *strip,
                   int image, int row) {
    using part = depthwise_part<S>;
    using inner = inner_epilogue<S, T>;
    using depthwise =
        conv2d_nchwc_depthwise_t<V, part, depthwise_columns_of<S>(), inner>;
    const int blocks = ceil_div(s.c, W);
    for (int b = 0; b < blocks; ++b)
      depthwise::rows(part::of(s), x, w, strip, ptrdiff_t(b) * R * s.ow * W,
                      inner{&s, {bias}}, image * blocks + b, row, row + R);
  }

  /// Computes R output rows, from `row` on, from the strip.
  template <int R>
  static void multiply(const S &s, const T *strip, const T *v, T *y,
                       const Epi &epi, int image, int row) {
    using part = strip_part<S, R>;
    using shifted = epilogue_from<Epi>;
    using product = conv2d_nchwc_direct_t<V, part, 1, COLS, OC, shifted>;
    const ptrdiff_t from =
        ((ptrdiff_t(image) * ceil_div(s.k, W) * s.oh + row) * s.ow) * W;
    product::run(part::of(s), strip, v, y + from, shifted{epi, from}, 0,
                 product::units(part::of(s)));
  }
};

template <class S, int ROWS, int COLS, int OC, class Epi>
using separable_conv2d_f32_nchw16c_avx512 =
    separable_conv2d_nchwc_t<f32x<16>, S, ROWS, COLS, OC, Epi>;
template <class S, int ROWS, int COLS, int OC, class Epi>
using separable_conv2d_f32_nchw8c_avx2 =
    separable_conv2d_nchwc_t<f32x<8>, S, ROWS, COLS, OC, Epi>;
template <class S, int ROWS, int COLS, int OC, class Epi>
using separable_conv2d_f32_nchw8c_rvv =
    separable_conv2d_nchwc_t<f32x<8>, S, ROWS, COLS, OC, Epi>;
template <class S, int ROWS, int COLS, int OC, class Epi>
using separable_conv2d_f32_nchw4c_neon =
    separable_conv2d_nchwc_t<f32x<4>, S, ROWS, COLS, OC, Epi>;
template <class S, int ROWS, int COLS, int OC, class Epi>
using separable_conv2d_f32_nchw4c_sse4 =
    separable_conv2d_nchwc_t<f32x<4>, S, ROWS, COLS, OC, Epi>;
template <class S, int ROWS, int COLS, int OC, class Epi>
using separable_conv2d_f16_nchw8c_neonfp16 =
    separable_conv2d_nchwc_t<f16x<8>, S, ROWS, COLS, OC, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_SEPARABLE_CONV2D_STRIPS_H
