// Checks plain_gemm.cuh on the CPU's block policy: each result against its sum
// in double precision, and that results do not depend on the order of threads.
#include "runtime/routines/matrix/matmul/plain_gemm.cuh"
#include "test/runtime/check.h"
#include "test/runtime/cuda/product_case.h"
#include "test/runtime/random_shapes.h"

#include <cstddef>
#include <cstdint>

using namespace nnc_test;

namespace {

using shape = nnc::matmul_shape;

/// A routine, and what it is called with.
template <class T> struct product_kernel {
  const char *name;
  bool whole, tf32;
  product_result (*run)(const product_case<T> &, std::uint64_t seed);
};

/// Instances by the architecture, and whether they copy whole chunks only.
template <class T, int ARCH, bool WHOLE, int ROWS, int COLUMNS, int DEPTH,
          int WARP_ROWS, int WARP_COLUMNS, int STAGES, int SLICES,
          bool TF32 = false>
product_result run(const product_case<T> &c, std::uint64_t seed) {
  using routine = nnc::matmul_plain_gemm<ARCH, WHOLE, shape, ROWS, COLUMNS,
                                         DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                                         SLICES, float_epilogue<T>, TF32>;
  return run_product<ARCH>(typename routine::kernels{}, c, c.s, SLICES, seed);
}

#define NNC_PRODUCT(T, ARCH, WHOLE, ...)                                       \
  {#ARCH " " #WHOLE " " #__VA_ARGS__, WHOLE, false,                            \
   run<T, ARCH, WHOLE, __VA_ARGS__>}
#define NNC_TF32_PRODUCT(WHOLE, ...)                                           \
  {"tf32 " #WHOLE " " #__VA_ARGS__, WHOLE, true,                               \
   run<float, 80, WHOLE, __VA_ARGS__, true>}
using nnc::bf16;
using nnc::f16;
const product_kernel<bf16> bf16_kernels[] = {
    NNC_PRODUCT(bf16, 80, true, 64, 64, 64, 32, 32, 4, 1),
    NNC_PRODUCT(bf16, 80, false, 64, 64, 64, 32, 32, 2, 1),
    NNC_PRODUCT(bf16, 80, true, 16, 32, 64, 16, 32, 5, 3),
};
const product_kernel<f16> f16_kernels[] = {
    NNC_PRODUCT(f16, 80, true, 64, 64, 64, 32, 32, 4, 1),
    NNC_PRODUCT(f16, 75, true, 64, 64, 128, 64, 32, 2, 2),
    NNC_PRODUCT(f16, 75, false, 64, 64, 64, 32, 32, 2, 1),
    NNC_PRODUCT(f16, 80, true, 16, 32, 64, 16, 32, 5, 3),
#if !defined(NNC_GEMM_FEW_TILES) // as the test of mutants has, to save time
    NNC_PRODUCT(f16, 80, true, 128, 128, 64, 64, 64, 3, 1),
    NNC_PRODUCT(f16, 80, true, 64, 64, 128, 32, 32, 3, 1),
    NNC_PRODUCT(f16, 75, false, 32, 64, 128, 32, 32, 2, 4),
#endif
};
const product_kernel<float> f32_kernels[] = {
    NNC_PRODUCT(float, 80, true, 64, 64, 64, 32, 32, 3, 1),
    NNC_PRODUCT(float, 75, true, 64, 64, 64, 64, 32, 2, 2),
    NNC_PRODUCT(float, 75, false, 32, 32, 64, 16, 32, 2, 1),
    NNC_PRODUCT(float, 80, true, 32, 32, 64, 16, 32, 4, 3),
#if !defined(NNC_GEMM_FEW_TILES)
    NNC_PRODUCT(float, 80, true, 128, 128, 64, 64, 32, 3, 1),
    NNC_PRODUCT(float, 80, true, 64, 32, 128, 32, 32, 2, 1),
    NNC_PRODUCT(float, 75, false, 64, 64, 64, 32, 32, 2, 4),
#endif
};

const product_kernel<float> tf32_kernels[] = {
    NNC_TF32_PRODUCT(true, 64, 64, 64, 32, 32, 4, 1),
    NNC_TF32_PRODUCT(false, 64, 64, 64, 64, 32, 2, 1),
    NNC_TF32_PRODUCT(true, 16, 32, 64, 16, 32, 5, 3),
#if !defined(NNC_GEMM_FEW_TILES)
    NNC_TF32_PRODUCT(true, 128, 128, 64, 64, 64, 3, 1),
    NNC_TF32_PRODUCT(true, 64, 64, 128, 32, 32, 3, 1),
    NNC_TF32_PRODUCT(false, 32, 64, 64, 32, 32, 2, 4),
#endif
};

/// A random batch of products, with whole chunks of `elements` or any sizes.
shape random_product(random_source &r, bool whole, int elements) {
  const int step = whole ? elements : 1;
  const auto size = [&](int most) {
    return r.between(0, 7) ? step * r.between(1, most / step) : step;
  };
  shape s{};
  s.batch = r.between(0, 1) ? 1 : r.between(2, 4);
  s.transpose_a = r.between(0, 1);
  s.transpose_b = r.between(0, 1);
  s.m = size(150);
  s.n = size(150);
  s.k = size(200);
  // Sizes that no row in memory has may have any rest.
  if (whole && !s.transpose_a && r.between(0, 1))
    s.m = r.between(1, 150);
  if (whole && s.transpose_b && r.between(0, 1))
    s.n = r.between(1, 150);
  if (whole && s.transpose_a && !s.transpose_b && r.between(0, 1))
    s.k = r.between(1, 200);
  const auto stride = [&](int matrix) {
    return s.batch > 1 && r.between(0, 3) ? matrix + step * r.between(0, 3) : 0;
  };
  s.a_batch_stride = stride(s.m * s.k);
  s.b_batch_stride = stride(s.n * s.k);
  if (whole && s.a_batch_stride % elements != 0)
    s.a_batch_stride += elements - s.a_batch_stride % elements;
  if (whole && s.b_batch_stride % elements != 0)
    s.b_batch_stride += elements - s.b_batch_stride % elements;
  return s;
}

/// Checks a kernel for a shape, in two orders of threads.
template <class T>
void check(const product_kernel<T> &kernel, const shape &s, unsigned seed) {
  INFO(kernel.name << describe(s));
  const product_case<T> c(s, seed, kernel.tf32);
  const product_result first = kernel.run(c, seed);
  REQUIRE(first.error == "");
  REQUIRE(first.bank_conflicts == 0);
  const product_result second = kernel.run(c, seed + 1000);
  REQUIRE(second.error == "");
  REQUIRE(first.bytes == second.bytes);
}

template <class T, std::size_t N>
void check_random(const product_kernel<T> (&kernels)[N], int count = 420) {
  random_source r;
  constexpr int elements = 16 / int(sizeof(T));
  for (int i = 0; i < count; ++i) {
    const product_kernel<T> &kernel = kernels[r.between(0, int(N) - 1)];
    const shape s = random_product(r, kernel.whole, elements);
    REQUIRE(nnc::plain_gemm_applies(s));
    REQUIRE((!kernel.whole || nnc::has_whole_chunks(s, elements)));
    check(kernel, s, unsigned(i));
  }
}

template <class T, std::size_t N>
void check_small(const product_kernel<T> (&kernels)[N]) {
  constexpr int elements = 16 / int(sizeof(T));
  for (const product_kernel<T> &kernel : kernels)
    for (int order = 0; order < 4; ++order)
      for (const int k : {1, elements, 33})
        for (const int m : {1, 65})
          for (const int n : {1, elements, 33}) {
            const shape s{1, m, n, k, 0, 0, order / 2, order % 2};
            if (!kernel.whole || nnc::has_whole_chunks(s, elements))
              check(kernel, s, 7);
          }
}

/// A shape of constants, as emitted modules have them.
struct constant_shape {
  static constexpr int batch = 2, m = 24, n = 40, k = 72,
                       a_batch_stride = 24 * 72, b_batch_stride = 0,
                       transpose_a = 1, transpose_b = 0;
};

template <class T> void check_constant() {
  using s = constant_shape;
  const product_case<T> c({s::batch, s::m, s::n, s::k, s::a_batch_stride,
                           s::b_batch_stride, s::transpose_a, s::transpose_b},
                          3);
  using constant = nnc::matmul_plain_gemm<80, true, s, 64, 64, 64, 32, 32, 3, 2,
                                          float_epilogue<T>>;
  const product_result first =
      run_product<80>(typename constant::kernels{}, c, s{}, 2, 1);
  REQUIRE(first.error == "");
  CHECK(first.bytes == run<T, 80, true, 64, 64, 64, 32, 32, 3, 2>(c, 1).bytes);
}

} // namespace

TEST_CASE("products of two matrices of halves on random shapes") {
  check_random(f16_kernels);
}
TEST_CASE("products of two matrices of floats on random shapes") {
  check_random(f32_kernels);
}
TEST_CASE("products of two matrices of bf16 on random shapes") {
  check_random(bf16_kernels, 120);
}
TEST_CASE("products of two matrices of floats as tf32 on random shapes") {
  check_random(tf32_kernels, 300);
}
TEST_CASE("products of two matrices of one element, row or column") {
  check_small(f16_kernels);
  check_small(f32_kernels);
  check_small(bf16_kernels);
  check_small(tf32_kernels);
}
TEST_CASE("products of two matrices of a constant shape have the same bits") {
  check_constant<f16>();
  check_constant<float>();
}
