//===- widths.h - The vector widths that tests instantiate ----------------===//
#ifndef NNC_TEST_RUNTIME_WIDTHS_H
#define NNC_TEST_RUNTIME_WIDTHS_H

/// The numbers of lanes of vectors in tests: those of the machine's vectors.
/// Portable vectors have the smallest number that makes a vector, because more
/// lanes take long to compile; a build that stands in for an instruction set
/// defines the number itself.
#if defined(NNC_TEST_WIDTHS)
#elif defined(NNC_PORTABLE_SIMD)
#define NNC_TEST_WIDTHS 4
#elif defined(__AVX512F__)
#define NNC_TEST_WIDTHS 16
#elif defined(__AVX2__) || defined(__riscv_v)
#define NNC_TEST_WIDTHS 8
#else
#define NNC_TEST_WIDTHS 4
#endif

/// The vectors of register tiles, which hold sums of products.
#if defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
#define NNC_TEST_TILES nnc::f16x<8>
#else
#define NNC_TEST_TILES nnc::f32x<NNC_TEST_WIDTHS>
#endif

/// The vectors for which tests of all operations are compiled: those that the
/// machine has, and pairs of the widest.
#if defined(NNC_PORTABLE_SIMD)
#define NNC_TEST_VECTORS f32x<1>, f32x<2>, f32x<4>, f32x<8>
#elif defined(__AVX2__) || defined(__riscv_v)
#define NNC_TEST_VECTORS f32x<4>, f32x<8>, f32x<16>
#else
#define NNC_TEST_VECTORS f32x<4>, f32x<8>
#endif

namespace nnc_test {
/// A type for test cases that process WIDTH elements of type TYPE at a time.
template <int WIDTH, class TYPE = float> struct wide {
  static constexpr int W = WIDTH;
  using T = TYPE;
};

/// The largest number in NNC_TEST_WIDTHS.
constexpr int test_widths[] = {NNC_TEST_WIDTHS};
constexpr int widest = test_widths[sizeof(test_widths) / sizeof(int) - 1];
} // namespace nnc_test

#endif // NNC_TEST_RUNTIME_WIDTHS_H
