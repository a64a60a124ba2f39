//===- vec_avx512vnni.h - Vectors of machines with AVX-512 and VNNI -------===//
//
// They are those of AVX-512. What VNNI adds, sums of products of bytes, is in
// bytes_avx512.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_AVX512VNNI_H
#define NNC_SIMD_VEC_AVX512VNNI_H

#include "runtime/simd/vec_avx512.h"

#endif // NNC_SIMD_VEC_AVX512VNNI_H
