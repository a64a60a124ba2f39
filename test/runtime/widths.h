//===- widths.h - The vector widths that tests instantiate ----------------===//
#ifndef NNC_TEST_RUNTIME_WIDTHS_H
#define NNC_TEST_RUNTIME_WIDTHS_H

/// The machine's own or, on portable vectors, several. 16 lanes as pairs of 8
/// show nothing that 8 as pairs of 4 do not, and take long to compile: a build
/// that stands in for AVX-512 asks for them.
#if defined(NNC_TEST_WIDTHS)
#elif defined(NNC_PORTABLE_SIMD)
#define NNC_TEST_WIDTHS 4, 8
#elif defined(__AVX512F__)
#define NNC_TEST_WIDTHS 16
#elif defined(__AVX2__)
#define NNC_TEST_WIDTHS 8
#else
#define NNC_TEST_WIDTHS 4
#endif

/// The vectors that tests of all operations instantiate: those that the machine
/// has, and pairs of the widest.
#if defined(NNC_PORTABLE_SIMD)
#define NNC_TEST_VECTORS f32x<1>, f32x<2>, f32x<4>, f32x<8>
#elif defined(__AVX2__)
#define NNC_TEST_VECTORS f32x<4>, f32x<8>, f32x<16>
#else
#define NNC_TEST_VECTORS f32x<4>, f32x<8>
#endif

namespace nnc_test {
/// The widest vectors of tests over several widths.
#if defined(NNC_PORTABLE_SIMD)
constexpr int widest = 8;
#else
constexpr int widest = 16;
#endif
} // namespace nnc_test

#endif // NNC_TEST_RUNTIME_WIDTHS_H
