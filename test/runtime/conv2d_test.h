// Checks a conv2d routine against the portable one.
#ifndef NNC_TEST_CONV2D_TEST_H
#define NNC_TEST_CONV2D_TEST_H

#include "runtime/epilogue.h"
#include "runtime/routines/convolution/conv2d/portable.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "test/runtime/blocked.h"
#include "test/runtime/check.h"
#include "test/runtime/random_shapes.h"

#include <functional>

namespace nnc_test {

template <class T>
using conv2d_epilogue_of =
    nnc::fused<bias_residual_relu, nnc::channel_of<float>, nnc::full_of<T>>;
using conv2d_epilogue = conv2d_epilogue_of<float>;

/// Returns the run-time shape with the constants of S.
template <class S> constexpr nnc::conv2d_shape run_time_shape() {
  return {S::n,  S::c,  S::h,  S::w,  S::k,  S::kh, S::kw, S::sh,
          S::sw, S::dh, S::dw, S::pt, S::pl, S::oh, S::ow, S::groups};
}

/// A function that runs a routine with elements of type T on a shape that it
/// knows, from unit `begin` to `end`. With it, check_conv2d_of() is compiled
/// once for T instead of once for each routine.
template <class T>
using conv2d_routine =
    std::function<void(const T *x, const T *w, T *y,
                       const conv2d_epilogue_of<T> &, int begin, int end)>;

/// Runs `routine` on blocks of W channels, in three parts, with the residual in
/// the output's memory, and checks the results. `wc` is the block of input
/// channels in the weights, or 1 if they are not blocked.
template <class T>
NNC_NOINLINE void check_conv2d_of(random_source &random,
                                  const nnc::conv2d_shape &s, int W, int wc,
                                  int units, const conv2d_routine<T> &routine) {
  INFO("W=" << W << describe(s));
  const int in = s.h * s.w, out = s.oh * s.ow;
  const floats x = rounded<T>(random.values(std::size_t(s.n) * s.c * in));
  const floats w = rounded<T>(
      random.values(std::size_t(s.k) * (s.c / s.groups) * s.kh * s.kw));
  floats bias = random.values(s.k);
  const floats residual =
      rounded<T>(random.values(std::size_t(s.n) * s.k * out));

  floats want(residual.size()), size(residual.size());
  using plain = nnc::conv2d_f32_portable<nnc::conv2d_shape, conv2d_epilogue>;
  plain::run(s, x.data(), w.data(), want.data(),
             conv2d_epilogue{bias.data(), residual.data()}, 0, plain::units(s));
  using sums = nnc::conv2d_f32_portable<nnc::conv2d_shape, nnc::none>;
  sums::run(s, magnitudes(x).data(), magnitudes(w).data(), size.data(),
            nnc::none{}, 0, sums::units(s));

  const bool blocked_input = wc > 1 || (s.groups > 1 && s.groups == s.c);
  const floats bx = blocked_input ? block_channels(x, s.n, s.c, in, W) : x;
  const bool depthwise = s.groups > 1 && s.groups == s.c && s.groups == s.k;
  const floats bw = depthwise
                        ? block_weights(w, 1, s.k, 1, s.kh * s.kw, 1, W)
                        : block_weights(w, s.groups, s.k / s.groups,
                                        s.c / s.groups, s.kh * s.kw, wc, W);
  bias.resize(std::size_t(blocks(s.k, W)) * W, 1.0f);
  // The residual's padded lanes are zero, like any tensor's; the bias's are
  // not, so that what the epilogue leaves in the padding shows.
  auto by = store_all<T>(block_channels(residual, s.n, s.k, out, W));
  const auto tx = store_all<T>(bx), tw = store_all<T>(bw);
  const conv2d_epilogue_of<T> epilogue{bias.data(), by.data()};
  in_parts(units, [&](int begin, int end) {
    routine(tx.data(), tw.data(), by.data(), epilogue, begin, end);
  });
  const floats got = unblock_channels(load_all(by), s.n, s.k, out, W);

  const float terms = float(s.c / s.groups) * s.kh * s.kw;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const float bound = error_bound<T>(terms, size[i]);
    if (!(std::fabs(got[i] - want[i]) <= bound)) {
      INFO("at " << i << ": got " << got[i] << ", want " << want[i]);
      REQUIRE(std::fabs(got[i] - want[i]) <= bound);
    }
  }
}

/// Checks `routine(shape, x, w, y, epilogue, begin, end)`, for vectors V, in
/// the same way; `shape` has the values of s.
template <class V, class S, class Run>
void check_conv2d(random_source &random, const S &shape,
                  const nnc::conv2d_shape &s, int wc, int units, Run routine) {
  using T = nnc::element_of<V>;
  check_conv2d_of<T>(
      random, s, nnc::lanes<V>, wc, units,
      [&](const T *x, const T *w, T *y, const conv2d_epilogue_of<T> &epilogue,
          int begin,
          int end) { routine(shape, x, w, y, epilogue, begin, end); });
}

} // namespace nnc_test

#endif // NNC_TEST_CONV2D_TEST_H
