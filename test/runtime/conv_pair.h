// Random shapes of a 1 x 1 convolution and a depthwise one, in either order.
#ifndef NNC_TEST_CONV_PAIR_H
#define NNC_TEST_CONV_PAIR_H

#include "test/runtime/random_shapes.h"

namespace nnc_test {

/// Returns a random shape of two convolutions. Padding may be on one side only
/// and may cover whole taps, and strides may be larger than the window.
template <class SHAPE> SHAPE random_pair(random_source &r) {
  const nnc::conv2d_shape a = random_conv2d(r, 14);
  return {a.n,   a.c,  a.h,  a.w,  a.k,  a.kh, a.kw, a.sh,
          a.sw,  a.dh, a.dw, a.pt, a.pl, a.oh, a.ow, r.between(0, 4),
          -0.5f, 1.0f};
}

template <int N, int C, int H, int WIDTH, int K, int TAPS, int STRIDE,
          int ACTIVATION>
struct constant_pair {
  static constexpr int n = N, c = C, h = H, w = WIDTH, k = K;
  static constexpr int kh = TAPS, kw = TAPS, sh = STRIDE, sw = STRIDE;
  static constexpr int dh = 1, dw = 1, pt = TAPS / 2, pl = TAPS / 2;
  static constexpr int oh = (H + 2 * pt - TAPS) / STRIDE + 1;
  static constexpr int ow = (WIDTH + 2 * pl - TAPS) / STRIDE + 1;
  static constexpr int activation = ACTIVATION;
  static constexpr float low = 0.0f, high = 6.0f;
};

template <class SHAPE, class S> SHAPE fields_of() {
  return {S::n,  S::c,  S::h,  S::w,          S::k,   S::kh,
          S::kw, S::sh, S::sw, S::dh,         S::dw,  S::pt,
          S::pl, S::oh, S::ow, S::activation, S::low, S::high};
}

} // namespace nnc_test

#endif // NNC_TEST_CONV_PAIR_H
