//===- vec_neoni8mm.h - Vectors of machines with FEAT_I8MM ----------------===//
//
// They are those of NEON. What FEAT_I8MM adds, products of matrices of bytes,
// is in dots.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_NEONI8MM_H
#define NNC_SIMD_VEC_NEONI8MM_H

#include "runtime/simd/vec_neon.h"

#endif // NNC_SIMD_VEC_NEONI8MM_H
