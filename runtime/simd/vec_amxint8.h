//===- vec_amxint8.h - Vectors of machines with products of tiles of bytes ===//
//
// They are those of AVX-512 and VNNI. What AMX adds is in matrix_tiles.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_AMXINT8_H
#define NNC_SIMD_VEC_AMXINT8_H

#include "runtime/simd/vec_avx512vnni.h"

#endif // NNC_SIMD_VEC_AMXINT8_H
