// Tests the vector routines of softmax, layer_norm and reduce, on floats and
// halves, with vectors of every width against the portable routines of floats.
// Random shapes leave remainders of vectors.
#include "runtime/routines/normalization/layer_norm/rows.h"
#include "runtime/routines/normalization/layer_norm/bytes.h"
#include "runtime/routines/normalization/layer_norm/portable.h"
#include "runtime/routines/normalization/layer_norm/shape.h"
#include "runtime/routines/normalization/softmax/portable.h"
#include "runtime/routines/normalization/softmax/rows.h"
#include "runtime/routines/normalization/softmax/shape.h"
#include "runtime/routines/reduction/reduce/portable.h"
#include "runtime/routines/reduction/reduce/rows.h"
#include "runtime/routines/reduction/reduce/shape.h"
#include "runtime/simd/requantize.h"
#include "test/runtime/blocked.h"
#include "test/runtime/check.h"

#include <limits>

using namespace nnc;
using namespace nnc_test;

namespace {

/// Runs all units in two uneven parts, like two threads.
template <class R, class S, class... A> void run(const S &s, A... args) {
  const int middle = R::units(s) / 3;
  R::run(s, args..., middle, R::units(s));
  R::run(s, args..., 0, middle);
}

/// Requires that |got - want| <= bound * scale for every element, plus the
/// error of rounding the result to T, and NaN where `want` is NaN.
template <class T>
void require_close(const std::vector<T> &got, const floats &want, float bound) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    const float size = std::fabs(want[i]);
    const bool right =
        std::isnan(want[i])
            ? std::isnan(float(got[i]))
            : got[i] == want[i] ||
                  std::fabs(got[i] - want[i]) <=
                      bound * (1.0f + size) + rounding_error<T>(size);
    if (!right) {
      INFO("element " << i << " got " << got[i] << " want " << want[i]);
      REQUIRE(right);
    }
  }
}

struct add_residual {
  template <class V> V operator()(V x, V residual) const {
    return x + residual;
  }
};
template <class T> using with_residual = fused<add_residual, full_of<T>>;

} // namespace

#define WIDTHS wide<1>, wide<NNC_TEST_WIDTHS>, wide<8, f16>, wide<16, bf16>

TEMPLATE_TEST_CASE("softmax", "[rows]", WIDTHS) {
  constexpr int W = TestType::W;
  using T = typename TestType::T;
  random_source r;
  for (int round = 0; round < 100; ++round) {
    softmax_shape s{r.between(1, 5), r.between(1, 70),
                    round % 2 ? 1 : r.between(2, 40), round / 2 % 2};
    const std::size_t n = std::size_t(s.outer) * s.size * s.inner;
    floats values = r.values(n), want(n);
    for (float &v : values)
      v *= 30.0f;
    if (round % 5 == 0)
      values[n / 2] = -HUGE_VALF;
    auto x = store_all<T>(values), residual = store_all<T>(r.values(n)),
         got = std::vector<T>(n);
    values = load_all(x);
    using E = with_residual<T>;
    E epi{residual.data()};
    run<softmax_portable<softmax_shape, E>>(s, values.data(), want.data(), epi);
    run<softmax_t<W, softmax_shape, E>>(s, x.data(), got.data(), epi);
    require_close(got, want, 2e-6f);
    // In place.
    run<softmax_portable<softmax_shape, none>>(s, values.data(), want.data(),
                                               none{});
    run<softmax_t<W, softmax_shape, none>>(s, x.data(), x.data(), none{});
    require_close(x, want, 2e-6f);
  }
}

TEST_CASE("softmax of halves keeps small probabilities", "[rows]") {
  softmax_shape s{1, 300, 1, 0};
  floats values(s.size), want(s.size);
  for (int i = 0; i < s.size; ++i)
    values[i] = -static_cast<float>(i) / 16.0f;
  auto x = store_all<f16>(values);
  run<softmax_portable<softmax_shape, none>>(s, values.data(), want.data(),
                                             none{});
  run<softmax_t<8, softmax_shape, none>>(s, x.data(), x.data(), none{});
  require_close(x, want, 1e-12f);
}

TEMPLATE_TEST_CASE("layer_norm", "[rows]", WIDTHS) {
  constexpr int W = TestType::W;
  using T = typename TestType::T;
  random_source r;
  for (int round = 0; round < 100; ++round) {
    layer_norm_shape s{r.between(1, 6), r.between(1, 140), 1e-5f};
    const std::size_t n = std::size_t(s.outer) * s.size;
    floats values = r.values(n), want(n);
    for (float &v : values)
      v += 3.0f;
    auto x = store_all<T>(values), scale = store_all<T>(r.values(s.size)),
         bias = store_all<T>(r.values(s.size)),
         residual = store_all<T>(r.values(n)), got = std::vector<T>(n);
    using E = with_residual<T>;
    E epi{residual.data()};
    run<layer_norm_portable<layer_norm_shape, E>>(
        s, load_all(x).data(), load_all(scale).data(), load_all(bias).data(),
        want.data(), epi);
    run<layer_norm_t<W, layer_norm_shape, E>>(s, x.data(), scale.data(),
                                              bias.data(), got.data(), epi);
    // A row of two near-equal values amplifies the rounding of its mean.
    require_close(got, want, s.size < 4 ? 1e-2f : 2e-5f);
  }
}

namespace {
/// Rounds to the bytes of T, as the quantization behind a layer does.
template <class T> struct to_bytes {
  template <class V> auto operator()(V x, like<V, float> scale) const {
    return nnc::quantize_to<T, 3, numeric_limits<T>::min(),
                            numeric_limits<T>::max()>(x * scale);
  }
};

/// Compares rows of bytes with the portable routine, and the exact moments with
/// those in doubles.
template <int W, class T> void check_layer_norm_of_bytes() {
  random_source r;
  for (int round = 0; round < 60; ++round) {
    // The last rows are so long that the sums of floats are emptied in between.
    layer_norm_shape s{r.between(1, 4),
                       round < 57 ? r.between(1, 140) : 32768 - round, 1e-3f};
    const std::size_t n = std::size_t(s.outer) * s.size;
    const int low = round % 3 ? numeric_limits<T>::min() : 100;
    std::vector<T> x(n);
    for (T &v : x)
      v = T(r.between(low, numeric_limits<T>::max()));
    floats scale = r.values(s.size), bias = r.values(s.size), want(n), got(n);
    run<layer_norm_i32_portable<layer_norm_shape, none>>(
        s, x.data(), scale.data(), bias.data(), want.data(), none{});
    run<layer_norm_bytes_t<W, layer_norm_shape, none>>(
        s, x.data(), scale.data(), bias.data(), got.data(), none{});
    REQUIRE(got == want);
    for (int row = 0; row < s.outer; ++row) {
      double mean = 0, variance = 0;
      for (int i = 0; i < s.size; ++i)
        mean += double(x[std::size_t(row) * s.size + i]) / s.size;
      for (int i = 0; i < s.size; ++i) {
        const double d = x[std::size_t(row) * s.size + i] - mean;
        variance += d * d / s.size;
      }
      for (int i = 0; i < s.size; ++i) {
        const std::size_t at = std::size_t(row) * s.size + i;
        const double exact =
            (x[at] - mean) / std::sqrt(variance + 1e-3) * scale[i] + bias[i];
        REQUIRE(std::fabs(got[at] - exact) <= 1e-5 * (1 + std::fabs(exact)));
      }
    }
    using E = fused<to_bytes<T>, channel_of<float>>;
    floats factor(s.size, 30.0f);
    E epi{factor.data()};
    std::vector<T> bytes(n), stored(n);
    run<layer_norm_i32_portable<layer_norm_shape, E>>(
        s, x.data(), scale.data(), bias.data(), bytes.data(), epi);
    run<layer_norm_bytes_t<W, layer_norm_shape, E>>(
        s, x.data(), scale.data(), bias.data(), stored.data(), epi);
    REQUIRE(stored == bytes);
  }
}
} // namespace

TEMPLATE_TEST_CASE("layer_norm of bytes", "[rows]", wide<NNC_TEST_WIDTHS>) {
  check_layer_norm_of_bytes<TestType::W, std::uint8_t>();
  check_layer_norm_of_bytes<TestType::W, std::int8_t>();
}

namespace {
template <class T, class Fast, class Portable> void check_reduce(float bound) {
  random_source r;
  for (int round = 0; round < 100; ++round) {
    reduce_shape s{r.between(1, 5), r.between(1, 150),
                   round % 2 ? 1 : r.between(2, 40)};
    auto x = store_all<T>(r.values(std::size_t(s.outer) * s.size * s.inner));
    if (round % 7 == 0)
      x[x.size() / 2] = std::numeric_limits<float>::quiet_NaN();
    floats want(std::size_t(s.outer) * s.inner);
    auto residual = store_all<T>(r.values(want.size())),
         got = std::vector<T>(want.size());
    with_residual<T> epi{residual.data()};
    run<Portable>(s, load_all(x).data(), want.data(), epi);
    run<Fast>(s, x.data(), got.data(), epi);
    require_close(got, want, bound);
  }
}
} // namespace

TEMPLATE_TEST_CASE("reduce", "[rows]", WIDTHS) {
  constexpr int W = TestType::W;
  using T = typename TestType::T;
#define CHECK_KIND(KIND, BOUND)                                                \
  check_reduce<T, reduce_rows_t<vector_##KIND, W, reduce_shape, E>,            \
               reduce_##KIND##_portable<reduce_shape, E>>(BOUND)
  using E = with_residual<T>;
  CHECK_KIND(sum, 1e-5f);
  CHECK_KIND(mean, 1e-6f);
  CHECK_KIND(max, 0.0f);
  CHECK_KIND(min, 0.0f);
  CHECK_KIND(l1, 1e-5f);
  CHECK_KIND(l2, 1e-5f);
  CHECK_KIND(sum_square, 1e-5f);
}
