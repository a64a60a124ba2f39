//===- vec_neondot.h - Vectors of machines with FEAT_DotProd --------------===//
//
// They are those of NEON. What FEAT_DotProd adds, sums of products of four
// bytes, is in dots.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_NEONDOT_H
#define NNC_SIMD_VEC_NEONDOT_H

#include "runtime/simd/vec_neon.h"

#endif // NNC_SIMD_VEC_NEONDOT_H
