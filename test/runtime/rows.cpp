// The vector routines of softmax, layer_norm and reduce at every width against
// the portable ones, on random shapes with tails.
#include "runtime/routines/layer_norm/rows.h"
#include "runtime/routines/layer_norm/portable.h"
#include "runtime/routines/layer_norm/shape.h"
#include "runtime/routines/reduce/portable.h"
#include "runtime/routines/reduce/rows.h"
#include "runtime/routines/reduce/shape.h"
#include "runtime/routines/softmax/portable.h"
#include "runtime/routines/softmax/rows.h"
#include "runtime/routines/softmax/shape.h"
#include "test/runtime/blocked.h"

#include <catch2/catch.hpp>

using namespace nnc;
using nnc_test::floats;

namespace {

/// Runs all units in two uneven parts, as two threads would.
template <class R, class S, class... A> void run(const S &s, A... args) {
  const int middle = R::units(s) / 3;
  R::run(s, args..., middle, R::units(s));
  R::run(s, args..., 0, middle);
}

/// |got - want| <= bound * scale in every element, NaN where want is.
void require_close(const floats &got, const floats &want, float bound) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    const bool right =
        std::isnan(want[i])
            ? std::isnan(got[i])
            : got[i] == want[i] || std::fabs(got[i] - want[i]) <=
                                       bound * (1.0f + std::fabs(want[i]));
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
using with_residual = fused<add_residual, full_of<float>>;

} // namespace

#define WIDTHS ((int W), W), 1, NNC_TEST_WIDTHS

TEMPLATE_TEST_CASE_SIG("softmax", "[rows]", WIDTHS) {
  nnc_test::random_source r;
  for (int round = 0; round < 100; ++round) {
    softmax_shape s{r.between(1, 5), r.between(1, 70),
                    round % 2 ? 1 : r.between(2, 40), round / 2 % 2};
    const std::size_t n = std::size_t(s.outer) * s.size * s.inner;
    floats x = r.values(n), residual = r.values(n), got(n), want(n);
    for (float &v : x)
      v *= 30.0f;
    if (round % 5 == 0)
      x[n / 2] = -HUGE_VALF;
    with_residual epi{residual.data()};
    run<softmax_portable<softmax_shape, with_residual>>(s, x.data(),
                                                        want.data(), epi);
    run<softmax_f32_t<W, softmax_shape, with_residual>>(s, x.data(), got.data(),
                                                        epi);
    require_close(got, want, 2e-6f);
    // In place.
    run<softmax_portable<softmax_shape, none>>(s, x.data(), want.data(),
                                               none{});
    run<softmax_f32_t<W, softmax_shape, none>>(s, x.data(), x.data(), none{});
    require_close(x, want, 2e-6f);
  }
}

TEMPLATE_TEST_CASE_SIG("layer_norm", "[rows]", WIDTHS) {
  nnc_test::random_source r;
  for (int round = 0; round < 100; ++round) {
    layer_norm_shape s{r.between(1, 6), r.between(1, 140), 1e-5f};
    const std::size_t n = std::size_t(s.outer) * s.size;
    floats x = r.values(n), scale = r.values(s.size), bias = r.values(s.size),
           residual = r.values(n), got(n), want(n);
    for (float &v : x)
      v += 3.0f;
    with_residual epi{residual.data()};
    run<layer_norm_portable<layer_norm_shape, with_residual>>(
        s, x.data(), scale.data(), bias.data(), want.data(), epi);
    run<layer_norm_f32_t<W, layer_norm_shape, with_residual>>(
        s, x.data(), scale.data(), bias.data(), got.data(), epi);
    // A row of two near-equal values amplifies the rounding of its mean.
    require_close(got, want, s.size < 4 ? 1e-2f : 2e-5f);
  }
}

namespace {
template <class Fast, class Portable> void check_reduce(float bound) {
  nnc_test::random_source r;
  for (int round = 0; round < 100; ++round) {
    reduce_shape s{r.between(1, 5), r.between(1, 150),
                   round % 2 ? 1 : r.between(2, 40)};
    floats x = r.values(std::size_t(s.outer) * s.size * s.inner);
    if (round % 7 == 0)
      x[x.size() / 2] = std::numeric_limits<float>::quiet_NaN();
    floats got(std::size_t(s.outer) * s.inner), want = got,
                                                residual = r.values(got.size());
    with_residual epi{residual.data()};
    run<Portable>(s, x.data(), want.data(), epi);
    run<Fast>(s, x.data(), got.data(), epi);
    require_close(got, want, bound);
  }
}
} // namespace

TEMPLATE_TEST_CASE_SIG("reduce", "[rows]", WIDTHS) {
#define CHECK_KIND(KIND, BOUND)                                                \
  check_reduce<reduce_f32_t<vector_##KIND, W, reduce_shape, with_residual>,    \
               reduce_##KIND##_portable<reduce_shape, with_residual>>(BOUND)
  CHECK_KIND(sum, 1e-5f);
  CHECK_KIND(mean, 1e-6f);
  CHECK_KIND(max, 0.0f);
  CHECK_KIND(min, 0.0f);
  CHECK_KIND(l1, 1e-5f);
  CHECK_KIND(l2, 1e-5f);
  CHECK_KIND(sum_square, 1e-5f);
}
