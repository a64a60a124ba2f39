// Checks a convolution by Winograd's method against sums of products.
#ifndef NNC_TEST_WINOGRAD_TEST_H
#define NNC_TEST_WINOGRAD_TEST_H

#include "runtime/routines/catalogue/expressions.h"
#include "test/runtime/conv2d_test.h"
#include "test/runtime/transformed_weights.h"

#include <cmath>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace nnc_test {

/// Returns the sums of a convolution in double. It has one group and no
/// dilation.
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

/// Returns the shape of a random convolution with one group: at most `channels`
/// input channels, a kernel of kh x kw elements, an image of at most `side`
/// pixels in height and width, and padding smaller than the kernel.
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

/// A routine for one kind of vectors with elements of type T, as functions.
/// With it, check_sums() is compiled once for T instead of once for each
/// routine.
template <class T> struct sums_routine {
  /// Returns the input and the weights in the form in which the routine reads
  /// them.
  std::function<std::pair<floats, floats>(const floats &, const floats &)>
      prepare;
  /// Returns the bytes of scratch of each thread if there are that many
  /// threads.
  std::function<std::size_t(int)> thread_scratch;
  std::function<int(int)> units;
  std::function<void(const T *, const T *, T *, unsigned char *,
                     const conv2d_epilogue_of<T> &, int, int, int)>
      run;
};

/// Runs `routine`, for vectors of W elements, on a random input and weights,
/// and checks the errors of the results.
///
/// Errors are relative to the usual size of a sum of as many random products,
/// even at the edges of the image, where sums are smaller: the rounding errors
/// of a tile depend on its largest values. The root mean square of the errors
/// has to be at most twice the catalogue's `error`, as samples are small, and
/// the largest one less than 20 times as much: a million errors stay below
/// that. For halves, with 13 bits less, bounds are 2^13 times as large.
template <class T>
NNC_NOINLINE void check_sums(random_source &random, const nnc::conv2d_shape &s,
                             int W, double error,
                             const sums_routine<T> &routine) {
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

  const auto [input, weights] = routine.prepare(x, w);
  const auto bx = store_all<T>(input), u = store_all<T>(weights);
  const floats bias_only = bias;
  bias.resize(std::size_t(blocks(s.k, W)) * W, 1.0f);
  auto by = store_all<T>(block_channels(residual, s.n, s.k, out, W));
  const conv2d_epilogue_of<T> epilogue{bias.data(), by.data()};
  const int threads = random.between(1, 20);
  floats scratch =
      not_written(routine.thread_scratch(threads) / sizeof(float) + 1);
  scratch.back() = 42.0f;
  // Shared by some threads, with the residual in the memory of the output.
  in_parts(routine.units(threads), [&](int begin, int end) {
    routine.run(bx.data(), u.data(), by.data(),
                reinterpret_cast<unsigned char *>(scratch.data()), epilogue,
                begin, end, threads);
  });
  REQUIRE(scratch.back() == 42.0f);
  const floats got = unblock_channels(load_all(by), s.n, s.k, out, W);

  // The root mean square of a sum of products: a value between -1 and 1 has a
  // mean square of 1/3.
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

/// Checks R, a routine for vectors V, in the same way, on `shape`, which has
/// the values of s. R reads prepare(x, w), and needs thread_scratch(threads)
/// bytes of scratch for each thread.
template <class V, class R, class S, class Prepare, class Scratch>
void check_sums(random_source &random, const S &shape,
                const nnc::conv2d_shape &s, double error,
                const Prepare &prepare, const Scratch &thread_scratch) {
  using T = nnc::element_of<V>;
  sums_routine<T> routine;
  routine.prepare = prepare;
  routine.thread_scratch = thread_scratch;
  routine.units = [&](int threads) { return R::units(shape, threads); };
  routine.run = [&](const T *x, const T *w, T *y, unsigned char *scratch,
                    const conv2d_epilogue_of<T> &epilogue, int begin, int end,
                    int threads) {
    R::run(shape, x, w, y, scratch, epilogue, begin, end, threads);
  };
  check_sums<T>(random, s, nnc::lanes<V>, error, routine);
}

} // namespace nnc_test

#endif // NNC_TEST_WINOGRAD_TEST_H
