// Checks flash.cuh on the CPU's block policy: against sums in double
// precision, and that its results do not depend on the order of threads.
#include "test/runtime/check.h"
#include "test/runtime/cuda/attention_case.h"
#include "test/runtime/random_shapes.h"

#include <limits>

using namespace nnc_test;
using nnc::attention_shape;
using nnc::f16;

namespace {

/// Largest relative error in the L2 norm.
constexpr double bound = 2e-3;

/// Sets the strides of rows of `size` elements, with `gap` elements between
/// them: one head after the other, or side by side in a row.
void set_strides(int (&strides)[3], bool side_by_side, int heads, int rows,
                 int size, int gap) {
  const int step = size + gap;
  strides[0] = heads * rows * step + gap;
  strides[1] = side_by_side ? step : rows * step;
  strides[2] = side_by_side ? heads * step : step;
}

int random_tokens(random_source &r, int most) {
  switch (r.between(0, 7)) {
  case 0:
    return 1;
  case 1:
    return 127;
  case 2:
    return 64;
  default:
    return r.between(1, most);
  }
}

attention_shape random_shape(random_source &r, int most_dim) {
  attention_shape s{};
  s.n = r.between(1, 2);
  s.heads = r.between(1, 3);
  s.queries = random_tokens(r, 140);
  s.keys = random_tokens(r, 200);
  s.dim = 8 * r.between(1, most_dim / 8);
  s.value_dim = r.between(0, 2) ? s.dim : 8 * r.between(1, most_dim / 8);
  s.scale = r.between(1, 20) / 10.0f * (r.between(0, 7) ? 1 : -1);
  const int gap = 8 * r.between(0, 1);
  const bool side_by_side = r.between(0, 1);
  set_strides(s.q_strides, side_by_side, s.heads, s.queries, s.dim, gap);
  set_strides(s.k_strides, side_by_side, s.heads, s.keys, s.dim, gap);
  set_strides(s.v_strides, side_by_side, s.heads, s.keys, s.value_dim, gap);
  s.q_start = 8 * r.between(0, 2);
  if (r.between(0, 3) == 0) // all heads have the same keys and values
    s.k_strides[1] = s.v_strides[1] = 0;
  if (r.between(0, 3) == 0) { // q, k and v in the rows of one tensor
    s.queries = s.keys;
    const int row = s.heads * (2 * s.dim + s.value_dim);
    for (auto *strides : {&s.q_strides, &s.k_strides, &s.v_strides}) {
      (*strides)[0] = s.keys * row;
      (*strides)[1] = strides == &s.v_strides ? s.value_dim : s.dim;
      (*strides)[2] = row;
    }
    s.k_start = s.heads * s.dim;
    s.v_start = 2 * s.heads * s.dim;
  }
  // One mask for all queries, or one each; the same for heads and samples.
  const int rows = r.between(0, 2) ? s.queries : 1;
  const int keys = s.keys + r.between(0, 1);
  s.mask_strides[2] = rows > 1 ? keys : 0;
  s.mask_strides[1] = r.between(0, 1) * rows * keys;
  s.mask_strides[0] =
      r.between(0, 1) * (s.mask_strides[1] ? s.heads : 1) * rows * keys;
  return s;
}

template <template <class, int, int, class> class Routine, int DIM, int QUERIES,
          int ARCH>
struct instance {
  static constexpr int dim = DIM;
  template <class S> using routine = Routine<S, DIM, QUERIES, nnc::none>;

  template <class M>
  static attention_result run(const attention_case<f16, M> &c,
                              std::uint64_t seed) {
    return run_attention<routine<attention_shape>, ARCH>(c, c.s, seed);
  }
};

/// Checks an instance for a case, in two orders of threads.
template <class Instance, class M>
void check(attention_case<f16, M> &c, unsigned seed) {
  INFO("dim " << Instance::dim << describe(c.s));
  REQUIRE(nnc::flash_applies(c.s, Instance::dim));
  c.solve();
  const attention_result first = Instance::run(c, seed);
  REQUIRE(first.error == "");
  REQUIRE(first.relative <= bound);
  REQUIRE(first.row_relative <= bound);
  REQUIRE(first.bank_conflicts == 0);
  const attention_result second = Instance::run(c, seed + 1000);
  REQUIRE(second.error == "");
  REQUIRE(first.bytes == second.bytes);
}

template <class Instance> void check_random(int count) {
  random_source r;
  r.engine.seed(Instance::dim);
  for (int i = 0; i < count; ++i) {
    const attention_shape s = random_shape(r, Instance::dim);
    const unsigned seed = unsigned(i);
    // Scores of up to some thousands, or about 1.
    const float size = r.between(0, 3) ? 1.0f : 8.0f;
    const int start = r.between(0, 1);
    if (i % 3 == 0) {
      attention_case<f16, void> c(s, seed, size);
      check<Instance>(c, seed);
    } else if (i % 3 == 1) {
      attention_case<f16, float> c(s, seed, size, start);
      check<Instance>(c, seed);
    } else {
      attention_case<f16, f16> c(s, seed, size, start);
      check<Instance>(c, seed);
    }
  }
}

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
using ampere_32 = instance<nnc::attention_f16_sm80, 32, 64, 80>;
using ampere_64 = instance<nnc::attention_f16_sm80, 64, 128, 80>;

} // namespace

TEST_CASE("attention of halves for sm_80") {
  check_random<ampere_32>(80);
  check_random<ampere_64>(100);
#if !defined(NNC_ATTENTION_FEW_TILES) // as the test of mutants has
  check_random<instance<nnc::attention_f16_sm80, 64, 64, 80>>(100);
  check_random<instance<nnc::attention_f16_sm80, 96, 64, 90>>(60);
  check_random<instance<nnc::attention_f16_sm80, 128, 64, 80>>(60);
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
  random_source r;
  for (int i = 0; i < 4; ++i) {
    attention_case<f16, float> c(random_shape(r, 64), 1);
    c.solve();
    const attention_result first = ampere_64::run(c, 0);
    for (unsigned seed = 1; seed < 16; ++seed) {
      const attention_result other = ampere_64::run(c, seed);
      REQUIRE(other.error == "");
      REQUIRE(other.bytes == first.bytes);
    }
  }
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
    attention_shape s = random_shape(r, 64);
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
