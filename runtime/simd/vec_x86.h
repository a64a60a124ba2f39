//===- vec_x86.h - Vectors in SSE4.1, AVX2 and AVX-512 registers ----------===//
//
// Each of these is empty where the compiler may not use its instructions.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_X86_H
#define NNC_SIMD_VEC_X86_H

#include "runtime/simd/vec_avx2.h"
#include "runtime/simd/vec_avx512.h"
#include "runtime/simd/vec_sse4.h"

#endif // NNC_SIMD_VEC_X86_H
