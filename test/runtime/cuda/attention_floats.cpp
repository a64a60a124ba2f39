// Checks flash_floats.cuh on the CPU's block policy, as attention_blocks.cpp
// does flash.cuh.
#include "runtime/routines/attention/flash_floats.cuh"
#include "test/runtime/check.h"
#include "test/runtime/cuda/attention_test.h"

#include <limits>

using namespace nnc_test;
using nnc::attention_shape;

namespace {

template <int DIM, int QUERIES, int ARCH>
using instance =
    attention_instance<float, nnc::attention_f32_sm75, DIM, QUERIES, ARCH>;
using turing_64 = instance<64, 64, 75>;
using ampere_64 = instance<64, 64, 80>;

} // namespace

TEST_CASE("attention of floats for sm_80") {
  check_random<ampere_64>(120);
#if !defined(NNC_ATTENTION_FEW_TILES) // as the test of mutants has
  check_random<instance<32, 64, 80>>(60);
  check_random<instance<96, 64, 80>>(40);
  check_random<instance<128, 32, 90>>(40);
#endif
}

TEST_CASE("attention of floats for sm_75") {
  check_random<turing_64>(60);
#if !defined(NNC_ATTENTION_FEW_TILES)
  check_random<instance<32, 64, 75>>(30);
  check_random<instance<96, 64, 75>>(30);
  check_random<instance<128, 32, 75>>(30);
#endif
}

TEST_CASE("attention of floats has the same bits in every order of threads") {
  check_orders<ampere_64>();
}

TEST_CASE("attention of floats passes NaN and infinities on") {
  random_source r;
  for (int i = 0; i < 12; ++i) {
    attention_shape s = random_shape(r, 64, 4);
    s.scale = 0.5f;
    attention_case<float, float> c(s, 1);
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
