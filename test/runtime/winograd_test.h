// Checks a convolution by Winograd's method against sums of products.
#ifndef NNC_TEST_WINOGRAD_TEST_H
#define NNC_TEST_WINOGRAD_TEST_H

#include "runtime/routines/catalogue.h"
#include "test/runtime/conv2d_test.h"
#include "test/runtime/transformed_weights.h"

#include <cmath>
#include <vector>

namespace nnc_test {

/// Sums of products in double precision, of no dilation and one group.
inline std::vector<double> convolve(const nnc::conv2d_shape &s, const floats &x,
                                    const floats &w) {
  std::vector<double> y(std::size_t(s.n) * s.k * s.oh * s.ow, 0.0);
  const int taps = s.kh * s.kw;
  std::size_t at = 0;
  for (int n = 0; n < s.n; ++n)
    for (int k = 0; k < s.k; ++k)
      for (int i = 0; i < s.oh; ++i)
        for (int j = 0; j < s.ow; ++j, ++at)
          for (int tap = 0; tap < taps; ++tap) {
            const int row = i * s.sh + tap / s.kw - s.pt;
            const int col = j * s.sw + tap % s.kw - s.pl;
            if (row >= 0 && row < s.h && col >= 0 && col < s.w)
              for (int c = 0; c < s.c; ++c)
                y[at] +=
                    double(w[(std::size_t(k) * s.c + c) * taps + tap]) *
                    x[((std::size_t(n) * s.c + c) * s.h + row) * s.w + col];
          }
  return y;
}

/// A convolution of up to so many channels and pixels along a side, of one
/// group and any padding that is less than the taps.
inline nnc::conv2d_shape random_shape(random_source &r, int channels, int kh,
                                      int kw, int stride, int side) {
  nnc::conv2d_shape s{};
  s.n = r.between(1, 2);
  s.c = r.between(1, channels);
  s.k = r.between(1, 70);
  s.kh = kh;
  s.kw = kw;
  s.h = r.between(1, side);
  s.w = r.between(1, side);
  s.sh = s.sw = stride;
  s.dh = s.dw = s.groups = 1;
  s.pt = r.between(s.h < kh, kh - 1);
  s.pl = r.between(s.w < kw, kw - 1);
  s.oh = nnc::larger(1, (s.h + s.pt + r.between(0, kh - 1) - kh) / stride + 1);
  s.ow = nnc::larger(1, (s.w + s.pl + r.between(0, kw - 1) - kw) / stride + 1);
  return s;
}

/// Runs `R`, for vectors V, on what prepare(x, w) makes of the input and the
/// weights, a pair, with so many bytes of scratch a thread.
///
/// Errors are relative to what a sum of so many random products is, whatever
/// the sums at the image's edges are: a tile's rounding errors are those of its
/// largest values. Their root mean square is what the catalogue says, `error`,
/// a small sample's up to twice as much; the largest of a million is less than
/// 20 times as much. A half has 13 bits less.
template <class V, class R, class S, class Prepare, class Scratch>
void check_sums(random_source &random, const S &shape,
                const nnc::conv2d_shape &s, double error, Prepare prepare,
                Scratch thread_scratch) {
  constexpr int W = nnc::lanes<V>;
  using T = nnc::element_of<V>;
  INFO("W=" << W << describe(s));
  const int out = s.oh * s.ow;
  const floats x =
      rounded<T>(random.values(std::size_t(s.n) * s.c * s.h * s.w));
  const floats w =
      rounded<T>(random.values(std::size_t(s.k) * s.c * s.kh * s.kw));
  floats bias = random.values(s.k);
  const floats residual =
      rounded<T>(random.values(std::size_t(s.n) * s.k * out));
  const std::vector<double> sums = convolve(s, x, w);

  const auto [input, weights] = prepare(x, w);
  const auto bx = store_all<T>(input), u = store_all<T>(weights);
  const floats bias_only = bias;
  bias.resize(std::size_t(blocks(s.k, W)) * W, 1.0f);
  auto by = store_all<T>(block_channels(residual, s.n, s.k, out, W));
  const conv2d_epilogue_of<T> epilogue{bias.data(), by.data()};
  const int threads = random.between(1, 20);
  floats scratch = not_written(thread_scratch(threads) / sizeof(float) + 1);
  scratch.back() = 42.0f;
  // As some threads share it, with the residual in the output's place.
  in_parts(R::units(shape, threads), [&](int begin, int end) {
    R::run(shape, bx.data(), u.data(), by.data(),
           reinterpret_cast<unsigned char *>(scratch.data()), epilogue, begin,
           end, threads);
  });
  REQUIRE(scratch.back() == 42.0f);
  const floats got = unblock_channels(load_all(by), s.n, s.k, out, W);

  // Of products of two values between -1 and 1, 1/3 in mean square each.
  const double scale = std::sqrt(s.c * s.kh * s.kw / 9.0);
  double squares = 0, most = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double want =
        std::max(sums[i] + bias_only[i / out % s.k] + residual[i], 0.0);
    const double off = std::fabs(got[i] - want) / scale;
    squares += off * off;
    most = off <= most ? most : off;
  }
  const double unit = std::is_same<T, float>::value ? 1 : 0x1p13;
  const double bound = unit * (2 * error + 2e-7);
  CHECK(std::sqrt(squares / got.size()) <= bound);
  REQUIRE(most <= 20 * bound);
}

} // namespace nnc_test

#endif // NNC_TEST_WINOGRAD_TEST_H
