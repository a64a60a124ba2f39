// Checks flash.cuh on the CPU's block policy: against sums in double
// precision, and that its results do not depend on the order of threads.
#include "runtime/routines/attention/flash.cuh"
#include "test/runtime/check.h"
#include "test/runtime/cuda/attention_test.h"

#include <limits>

using namespace nnc_test;
using nnc::attention_shape;
using nnc::f16;

namespace {

template <template <class, int, int, class> class Routine, int DIM, int QUERIES,
          int ARCH>
using instance = attention_instance<f16, Routine, DIM, QUERIES, ARCH>;

/// A shape of constants, as emitted modules have them.
struct constant_shape {
  static constexpr int n = 2, heads = 3, queries = 70, keys = 99, dim = 40,
                       value_dim = 40, q_start = 0, k_start = 120,
                       v_start = 240;
  static constexpr float scale = 0.25f;
  int q_strides[3] = {36000, 40, 360}, k_strides[3] = {36000, 40, 360},
      v_strides[3] = {36000, 40, 360}, mask_strides[3] = {6930, 0, 99};
};

using turing_64 = instance<nnc::attention_f16_sm75, 64, 64, 75>;
using ampere_32 = instance<nnc::attention_f16_sm75, 32, 64, 80>;
using ampere_64 = instance<nnc::attention_f16_sm75, 64, 128, 80>;

} // namespace

TEST_CASE("attention of halves for sm_80") {
  check_random<ampere_32>(80);
  check_random<ampere_64>(100);
#if !defined(NNC_ATTENTION_FEW_TILES) // as the test of mutants has
  check_random<instance<nnc::attention_f16_sm75, 64, 64, 80>>(100);
  check_random<instance<nnc::attention_f16_sm75, 96, 64, 90>>(60);
  check_random<instance<nnc::attention_f16_sm75, 128, 64, 80>>(60);
#endif
}

TEST_CASE("attention of bf16") {
  check_random<
      attention_instance<nnc::bf16, nnc::attention_bf16_sm80, 32, 64, 80>>(60);
#if !defined(NNC_ATTENTION_FEW_TILES)
  check_random<
      attention_instance<nnc::bf16, nnc::attention_bf16_sm80, 64, 128, 80>>(40);
  check_random<
      attention_instance<nnc::bf16, nnc::attention_bf16_sm80, 128, 64, 80>>(30);
#endif
}

TEST_CASE("attention of halves for sm_75") {
  check_random<turing_64>(60);
#if !defined(NNC_ATTENTION_FEW_TILES)
  check_random<instance<nnc::attention_f16_sm75, 32, 64, 75>>(40);
  check_random<instance<nnc::attention_f16_sm75, 64, 128, 75>>(40);
  check_random<instance<nnc::attention_f16_sm75, 96, 64, 75>>(30);
  check_random<instance<nnc::attention_f16_sm75, 128, 64, 75>>(30);
#endif
}

TEST_CASE("attention has the same bits in every order of threads") {
  check_orders<ampere_64>();
}

TEST_CASE("a constant shape of attention gives the same bits") {
  const constant_shape s;
  const auto run_time = [&] {
    attention_shape all{s.n,         s.heads, s.queries, s.keys,    s.dim,
                        s.value_dim, s.scale, s.q_start, s.k_start, s.v_start,
                        {},          {},      {},        {}};
    for (int i = 0; i < 3; ++i) {
      all.q_strides[i] = s.q_strides[i];
      all.k_strides[i] = s.k_strides[i];
      all.v_strides[i] = s.v_strides[i];
      all.mask_strides[i] = s.mask_strides[i];
    }
    return all;
  }();
  attention_case<f16, f16> c(run_time, 1);
  check<ampere_64>(c, 1);
  const attention_result constants =
      run_attention<ampere_64::routine<constant_shape>, 80>(c, s, 1);
  REQUIRE(constants.error == "");
  CHECK(constants.bytes == ampere_64::run(c, 1).bytes);
}

TEST_CASE("attention passes NaN and infinities on as softmax does") {
  random_source r;
  for (int i = 0; i < 12; ++i) {
    attention_shape s = random_shape(r, 64, 8);
    s.scale = 0.5f;
    attention_case<f16, float> c(s, 1);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float special = i % 2 ? nan : HUGE_VALF;
    const int query = r.between(0, s.queries - 1);
    const int key = r.between(0, s.keys - 1);
    if (i % 3 == 0)
      c.q[s.q_start + c.row(s.q_strides, 0, 0, query) + s.dim / 2] = nan;
    else if (i % 3 == 1)
      c.v[s.v_start + c.row(s.v_strides, 0, 0, key)] = special;
    else
      c.mask[c.row(s.mask_strides, 0, 0, query) + key] = special;
    check<turing_64>(c, 1);
    check<ampere_64>(c, 1);
  }
}
