// Checks of the attention of CUDA on random shapes.
#ifndef NNC_TEST_CUDA_ATTENTION_TEST_H
#define NNC_TEST_CUDA_ATTENTION_TEST_H

#include "test/runtime/check.h"
#include "test/runtime/cuda/attention_case.h"
#include "test/runtime/random_shapes.h"

#include <cstdint>

namespace nnc_test {

using nnc::attention_shape;

/// Sets the strides of rows of `size` elements, with `gap` elements between
/// them: one head after the other, or side by side in a row.
inline void set_strides(int (&strides)[3], bool side_by_side, int heads,
                        int rows, int size, int gap) {
  const int step = size + gap;
  strides[0] = heads * rows * step + gap;
  strides[1] = side_by_side ? step : rows * step;
  strides[2] = side_by_side ? heads * step : step;
}

inline int random_tokens(random_source &r, int most) {
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

/// A random shape with rows of up to `most_dim` elements, which are multiples
/// of `chunk`, as all strides are.
inline attention_shape random_shape(random_source &r, int most_dim, int chunk) {
  attention_shape s{};
  s.n = r.between(1, 2);
  s.heads = r.between(1, 3);
  s.queries = random_tokens(r, 140);
  s.keys = random_tokens(r, 200);
  s.dim = chunk * r.between(1, most_dim / chunk);
  s.value_dim =
      r.between(0, 2) ? s.dim : chunk * r.between(1, most_dim / chunk);
  s.scale = r.between(1, 20) / 10.0f * (r.between(0, 7) ? 1 : -1);
  const int gap = chunk * r.between(0, 1);
  const bool side_by_side = r.between(0, 1);
  set_strides(s.q_strides, side_by_side, s.heads, s.queries, s.dim, gap);
  set_strides(s.k_strides, side_by_side, s.heads, s.keys, s.dim, gap);
  set_strides(s.v_strides, side_by_side, s.heads, s.keys, s.value_dim, gap);
  s.q_start = chunk * r.between(0, 2);
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

/// A routine for elements of type T, with its parameters, as on ARCH.
template <class T, template <class, int, int, class> class Routine, int DIM,
          int QUERIES, int ARCH>
struct attention_instance {
  using element = T;
  static constexpr int dim = DIM;
  template <class S> using routine = Routine<S, DIM, QUERIES, nnc::none>;

  template <class M>
  static attention_result run(const attention_case<T, M> &c,
                              std::uint64_t seed) {
    return run_attention<routine<attention_shape>, ARCH>(c, c.s, seed);
  }
};

/// Checks an instance for a case, in two orders of threads.
template <class Instance, class T, class M>
void check(attention_case<T, M> &c, unsigned seed) {
  INFO("dim " << Instance::dim << describe(c.s));
  REQUIRE(nnc::flash_applies(c.s, Instance::dim, 16 / int(sizeof(T))));
  c.solve();
  const attention_result first = Instance::run(c, seed);
  REQUIRE(first.error == "");
  REQUIRE(first.off <= 1);
  REQUIRE(first.bank_conflicts == 0);
  const attention_result second = Instance::run(c, seed + 1000);
  REQUIRE(second.error == "");
  REQUIRE(first.bytes == second.bytes);
}

template <class Instance> void check_random(int count) {
  using T = typename Instance::element;
  random_source r;
  r.engine.seed(Instance::dim);
  for (int i = 0; i < count; ++i) {
    const attention_shape s =
        random_shape(r, Instance::dim, 16 / int(sizeof(T)));
    const unsigned seed = unsigned(i);
    // Scores of up to some thousands, or about 1.
    const float size = r.between(0, 3) ? 1.0f : 8.0f;
    const int start = r.between(0, 1);
    if (i % 3 == 0) {
      attention_case<T, void> c(s, seed, size);
      check<Instance>(c, seed);
    } else if (i % 3 == 1) {
      attention_case<T, float> c(s, seed, size, start);
      check<Instance>(c, seed);
    } else {
      attention_case<T, nnc::f16> c(s, seed, size, start);
      check<Instance>(c, seed);
    }
  }
}

/// Checks that a routine of rows of 64 elements has the same bits in every
/// order of threads.
template <class Instance> void check_orders() {
  using T = typename Instance::element;
  random_source r;
  for (int i = 0; i < 4; ++i) {
    attention_case<T, float> c(random_shape(r, 64, 16 / int(sizeof(T))), 1);
    c.solve();
    const attention_result first = Instance::run(c, 0);
    for (unsigned seed = 1; seed < 16; ++seed) {
      const attention_result other = Instance::run(c, seed);
      REQUIRE(other.error == "");
      REQUIRE(other.bytes == first.bytes);
    }
  }
}

} // namespace nnc_test

#endif // NNC_TEST_CUDA_ATTENTION_TEST_H
