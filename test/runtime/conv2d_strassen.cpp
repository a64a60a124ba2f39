// Tests 1 x 1 convolution by Strassen's method with vectors of every kind.
#include "runtime/routines/catalogue/expressions.h"
#include "runtime/routines/convolution/conv2d/strassen.h"
#include "test/runtime/conv2d_test.h"
#include "test/runtime/transformed_weights.h"

using namespace nnc;
using namespace nnc_test;

namespace {

struct no_shape {
  int n;
};

/// The LAYOUT of strassen.h for square matrices of 2^LEVELS x 2^LEVELS parts,
/// each of which is one vector.
template <int LEVELS, bool IN_PLACE> struct square {
  using source = const float *;
  static constexpr bool in_place(no_shape) { return IN_PLACE; }
  static constexpr int parts = 1 << LEVELS;
  static constexpr int images(no_shape) { return 1; }
  static constexpr int rows(no_shape) { return parts; }
  static constexpr int channels(no_shape) { return parts * 4; }
  static constexpr int filters(no_shape) { return parts * 4; }
  static int left(no_shape, int, int row, int block) {
    return (block * parts + row) * 4;
  }
  static f32x<4> load(no_shape s, const float *x, int image, int row,
                      int block) {
    return f32x<4>::load(x + left(s, image, row, block));
  }
  static int result(no_shape s, int image, int row, int block) {
    return left(s, image, row, block);
  }
  static void store(f32x<4> v, float *y, int at, int, no_shape, none) {
    v.store(y + at);
  }
};

/// Checks Strassen's method on all pairs of matrices A and B, divided into
/// parts x parts blocks, of which one block is 1 and the others are 0. If the
/// column of A's block is the row of B's block, one block of the product is 1,
/// and the others are 0; else all are 0.
template <int LEVELS, bool IN_PLACE> void check_single_ones() {
  constexpr int parts = 1 << LEVELS, area = parts * parts;
  using layout = square<LEVELS, IN_PLACE>;
  using method = strassen<f32x<4>, layout, no_shape, LEVELS, 1, 1>;
  const no_shape s{};
  const auto place = [&](int part) {
    return layout::left(s, 0, part / parts, part % parts);
  };
  const transformed_plan p = method::plan(s);
  for (int a = 0; a < area; ++a)
    for (int b = 0; b < area; ++b) {
      float x[area * 4] = {}, y[area * 4] = {};
      std::fill_n(x + place(a), 4, 1.0f);
      floats points(p.inputs * p.input_point);
      method::input(s, p, x, 0, 1, 0, points.data());
      floats products = not_written(p.products * p.product_point);
      for (int i = 0; i < method::points; ++i) {
        const float *const left =
            method::factors(s, p, x, points.data(), i, 0).group(0);
        const int sign = strassen_right_sign(LEVELS, i, b / parts, b % parts);
        f32_tile<4, 1, 1, 1> tile;
        tile.sum[0][0][0] = f32x<4>::load(left) * f32x<4>(float(sign));
        const none epilogue;
        method::finish(
            s, p, tile,
            sums_place<float, none>{i, products.data(), 0, 0, y, &epilogue});
      }
      for (int c = 0; c < area; ++c) {
        INFO("A" << a << " B" << b << " C" << c);
        const bool meets = a / parts == c / parts && b % parts == c % parts &&
                           a % parts == b / parts;
        CHECK(y[place(c)] == (meets ? 1.0f : 0.0f));
      }
    }
}

} // namespace

TEST_CASE("Strassen's products make up all parts", "[strassen]") {
  check_single_ones<1, false>();
  check_single_ones<1, true>();
  check_single_ones<2, false>();
  check_single_ones<2, true>();
}

namespace {

template <class V, int L, int P, int B, class S>
void check_strassen(random_source &random, const S &shape) {
  constexpr int W = lanes<V>;
  using T = element_of<V>;
  using routine = conv2d_nchwc_strassen_t<V, S, L, P, B, conv2d_epilogue_of<T>>;
  const conv2d_shape s{shape.n,  shape.c,  shape.h,  shape.w,
                       shape.k,  shape.kh, shape.kw, shape.sh,
                       shape.sw, shape.dh, shape.dw, shape.pt,
                       shape.pl, shape.oh, shape.ow, shape.groups};
  INFO("W=" << W << " levels=" << L << describe(s));
  REQUIRE(strassen_conv2d_applies(s, L, W));
  const int inputs = s.h * s.w, pixels = s.oh * s.ow;
  const floats x = rounded<T>(random.values(std::size_t(s.n) * s.c * inputs));
  const floats w = rounded<T>(random.values(std::size_t(s.k) * s.c));
  floats bias = random.values(s.k);
  const floats residual =
      rounded<T>(random.values(std::size_t(s.n) * s.k * pixels));
  const auto bx = store_all<T>(block_channels(x, s.n, s.c, inputs, W));
  const auto u = store_all<T>(strassen_weights(s, w, L, W));
  auto by = store_all<T>(block_channels(residual, s.n, s.k, pixels, W));
  const conv2d_epilogue_of<T> epilogue{bias.data(), by.data()};
  const int threads = random.between(1, 20);
  const std::size_t bytes = plan_strassen_conv2d(s, L, W, P, B, sizeof(T))
                                .shared(threads)
                                .thread_scratch();
  floats scratch = not_written(bytes / sizeof(float) + 1);
  scratch.back() = 42.0f;
  in_parts(routine::units(shape, threads), [&](int begin, int end) {
    routine::run(shape, bx.data(), u.data(), by.data(),
                 reinterpret_cast<unsigned char *>(scratch.data()), epilogue,
                 begin, end, threads);
  });
  REQUIRE(scratch.back() == 42.0f);
  const floats got = unblock_channels(load_all(by), s.n, s.k, pixels, W);

  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::size_t image = i / pixels / s.k, k = i / pixels % s.k;
    const std::size_t row = i % pixels / s.ow * s.sh, col = i % s.ow * s.sw;
    double sum = residual[i] + bias[k], size = 0;
    for (int c = 0; c < s.c; ++c) {
      const double product =
          double(x[(image * s.c + c) * inputs + row * s.w + col]) *
          w[k * s.c + c];
      sum += product;
      size += std::fabs(product);
    }
    const double want = std::max(sum, 0.0);
    const double bound =
        error_bound<T>(float(s.c), float(size)) + strassen_bound<T>(L, s.c);
    if (!(std::fabs(got[i] - want) <= bound)) {
      INFO("at " << i << ": got " << got[i] << ", want " << want);
      REQUIRE(std::fabs(got[i] - want) <= bound);
    }
  }
}

template <int N, int C, int H, int WIDTH, int K, int STRIDE = 1>
struct constant_shape {
  static constexpr int n = N, c = C, h = H, w = WIDTH, k = K, kh = 1, kw = 1;
  static constexpr int sh = STRIDE, sw = STRIDE, dh = 1, dw = 1, pt = 0, pl = 0;
  static constexpr int oh = (H - 1) / STRIDE + 1, ow = (WIDTH - 1) / STRIDE + 1;
  static constexpr int groups = 1;
};

/// Checks the shape S as a run-time shape, with a tile for which the routine is
/// compiled for random shapes anyway.
template <class V, int L, class S> void check_at_run_time(random_source &r) {
  check_strassen<V, L, 5, 2>(r, run_time_shape<S>());
}

} // namespace

TEMPLATE_TEST_CASE("Strassen's convolution of random shapes", "[strassen]",
                   NNC_TEST_TILES) {
  using V = TestType;
  constexpr int W = lanes<V>;
  random_source r;
  for (int i = 0; i < 60; ++i) {
    const int h = r.between(1, 9), w = r.between(1, 9);
    const int c = 2 * W * r.between(1, 6), k = 2 * W * r.between(1, 4);
    // Every other one with strides, maybe of the first rows and columns alone.
    const bool every = i % 2 == 0;
    const int sh = every ? 1 : r.between(1, 3),
              sw = every ? 1 : r.between(1, 3);
    const int oh = every ? h : r.between(1, (h - 1) / sh + 1);
    const int ow = every ? w : r.between(1, (w - 1) / sw + 1);
    const conv2d_shape s{
        r.between(1, 3), c, h, w, k, 1, 1, sh, sw, 1, 1, 0, 0, oh, ow, 1};
    check_strassen<V, 1, 5, 2>(r, s);
    check_strassen<V, 1, 4, 3>(r, s);
    conv2d_shape twice = s;
    twice.c *= 2;
    twice.k *= 2;
    // With another tile of products two levels do what one does.
    if constexpr (has_levels<V, 2>)
      check_strassen<V, 2, 5, 2>(r, twice);
  }
}

TEMPLATE_TEST_CASE("Strassen's convolution of constant shapes", "[strassen]",
                   NNC_TEST_TILES) {
  using V = TestType;
  constexpr int W = lanes<V>;
  random_source r;
  check_strassen<V, 1, 6, 2>(r, constant_shape<1, 4 * W, 7, 7, 6 * W>());
  check_strassen<V, 1, 6, 2>(r, constant_shape<1, 4 * W, 14, 13, 6 * W, 2>());
  check_at_run_time<V, 1, constant_shape<2, 2 * W, 1, 1, 2 * W>>(r);
  // More than one strip, and sums of several parts.
  check_strassen<V, 1, 6, 2>(r, constant_shape<1, 512, 31, 30, 2 * W>());
  check_at_run_time<V, 1, constant_shape<1, 512, 61, 60, 2 * W, 2>>(r);
  if constexpr (has_levels<V, 2>) {
    check_strassen<V, 2, 6, 2>(r, constant_shape<1, 8 * W, 7, 7, 12 * W>());
    check_at_run_time<V, 2, constant_shape<2, 4 * W, 1, 1, 4 * W>>(r);
    check_at_run_time<V, 2, constant_shape<1, 8 * W, 13, 14, 4 * W, 2>>(r);
    check_at_run_time<V, 2, constant_shape<1, 512, 31, 30, 4 * W>>(r);
  }
}
