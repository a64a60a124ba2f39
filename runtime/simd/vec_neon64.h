//===- vec_neon64.h - Vectors of machines with AArch64 --------------------===//
//
// They are those of NEON. What only AArch64 has, products of the upper halves
// of vectors and 32 registers for them, is used in signed_pairs.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_NEON64_H
#define NNC_SIMD_VEC_NEON64_H

#include "runtime/simd/vec_neon.h"

#endif // NNC_SIMD_VEC_NEON64_H
