//===- vec_amxbf16.h - Vectors of machines with products of tiles of bf16 -===//
//
// They are those of AVX-512 and VNNI. What AMX adds is in matrix_tiles.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_AMXBF16_H
#define NNC_SIMD_VEC_AMXBF16_H

#include "runtime/simd/vec_avx512vnni.h"

#endif // NNC_SIMD_VEC_AMXBF16_H
