//===- vec_avxvnni.h - Vectors of machines with AVX2 and AVX-VNNI ---------===//
//
// They are those of AVX2. What AVX-VNNI adds, sums of products of bytes, is in
// bytes_avx2.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_AVXVNNI_H
#define NNC_SIMD_VEC_AVXVNNI_H

#include "runtime/simd/vec_avx2.h"

#endif // NNC_SIMD_VEC_AVXVNNI_H
