// Checks the kernel that resizes images in NHWC on the CPU's block policy
// against the portable routine, whose sums are in the same order, bit by bit
// for floats.
#include "runtime/routines/resampling/resize/nhwc.cuh"
#include "runtime/routines/resampling/resize/portable.h"
#include "runtime/routines/resampling/resize/shape.h"
#include "test/runtime/cuda/move_case.h"

using namespace nnc_test;

namespace {

nnc::resize_shape random_resize(random_source &r, int i) {
  nnc::resize_shape s{};
  s.n = r.between(1, 2);
  s.c = i % 2 ? 8 * r.between(1, 4) : r.between(1, 20);
  s.h = r.between(1, 9);
  s.w = r.between(1, 9);
  s.oh = r.between(1, 20);
  s.ow = r.between(1, 20);
  s.mode = r.between(0, 2);
  s.coord = r.between(0, 4);
  s.nearest = r.between(0, 3);
  s.scale_h = float(s.oh) / float(s.h);
  s.scale_w = float(s.ow) / float(s.w);
  s.cubic_a = r.between(0, 1) ? -0.75f : -0.5f;
  s.exclude_outside = r.between(0, 1);
  return s;
}

/// Copies [outer][a][b] to [outer][b][a].
template <class X, class Y>
void swap_axes(const X *x, Y *y, int outer, int a, int b) {
  for (int o = 0; o < outer; ++o)
    for (int i = 0; i < a; ++i)
      for (int j = 0; j < b; ++j)
        y[(std::size_t(o) * b + j) * a + i] =
            Y(x[(std::size_t(o) * a + i) * b + j]);
}

template <class T, int ARCH> void check_resizes(int count) {
  using S = nnc::resize_shape;
  random_source r;
  for (int i = 0; i < count; ++i) {
    const S s = random_resize(r, i);
    const std::size_t to_size = std::size_t(s.n) * s.c * s.oh * s.ow;
    const tensor<T> x(std::size_t(s.n) * s.c * s.h * s.w, r.between(0, 5) == 0),
        y(to_size, r.between(0, 5) == 0);
    set_bits(r, x);
    set_bits(r, y);
    const std::vector<char> before = y.content();
    std::vector<float> planes(x.size()), resized(to_size);
    swap_axes(x.data(), planes.data(), s.n, s.h * s.w, s.c);
    run_portable<nnc::resize_portable<S, nnc::none>>(
        s, static_cast<const float *>(planes.data()), resized.data(),
        nnc::none());
    swap_axes(resized.data(), y.data(), s.n, s.c, s.oh * s.ow);
    const std::vector<char> want = y.content();
    INFO(describe(s));
    check_launch<nnc::resize_nhwc_sm75<T, S, nnc::none>, ARCH>(
        unsigned(i), s, y, before, want,
        [&](auto &grid) { grid.may_read(x.data(), x.bytes()); },
        static_cast<const T *>(x.data()), y.data(), nnc::none());
  }
}

} // namespace

TEST_CASE("resize on blocks, of floats") { check_resizes<float, 75>(200); }
TEST_CASE("resize on blocks, of bf16") { check_resizes<nnc::bf16, 80>(80); }
TEST_CASE("resize on blocks, of halves") { check_resizes<nnc::f16, 80>(200); }

TEST_CASE("resize on blocks with an epilogue") {
  using S = nnc::resize_shape;
  random_source r;
  for (int i = 0; i < 40; ++i) {
    const S s = random_resize(r, i);
    const std::size_t size = std::size_t(s.n) * s.c * s.oh * s.ow;
    const tensor<float> x(std::size_t(s.n) * s.c * s.h * s.w, false),
        bias(s.c, r.between(0, 3) == 0), rest(size, r.between(0, 3) == 0),
        plain(size, false), y(size, false);
    for (const tensor<float> *each : {&x, &bias, &rest, &y})
      set_bits(r, *each);
    const std::vector<char> before = y.content();
    const auto registers = [&](auto &grid) {
      for (const tensor<float> *each : {&x, &bias, &rest})
        grid.may_read(each->data(), each->bytes());
    };
    // Without an epilogue, and then the epilogue in plain C++.
    const float *from = x.data();
    const std::string error = launch<75>(
        typename nnc::resize_nhwc_sm75<float, S, nnc::none>::kernels(), 1, s,
        [&](auto &grid) {
          registers(grid);
          grid.may_write(plain.data(), plain.bytes());
        },
        from, plain.data(), nnc::none());
    REQUIRE(error == "");
    for (std::size_t k = 0; k < size; ++k)
      y[k] = bias_residual_relu()(plain[k], bias[k % s.c], rest[k]);
    const std::vector<char> want = y.content();
    INFO(describe(s));
    using epilogue = bias_residual_epilogue<float>;
    check_launch<nnc::resize_nhwc_sm75<float, S, epilogue>, 75>(
        unsigned(i), s, y, before, want, registers, from, y.data(),
        epilogue(static_cast<const float *>(bias.data()),
                 static_cast<const float *>(rest.data())));
  }
}
