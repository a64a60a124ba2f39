//===- functions.h - Where functions run, and how they are inlined --------===//
//
// A CUDA module calls portable routines in its kernels, where one thread of the
// GPU computes one unit. nvcc then compiles the headers of the runtime for the
// CPU and for the GPU, and every function that a portable routine calls has to
// say that it is for both:
//
//   NNC_FN        before a function, after `template <...>`; nothing for
//                 compilers of C++
//   NNC_INLINE    the same for a function that is always inlined
//
// In CUDA, vectors are pairs down to one lane (NNC_PORTABLE_SIMD), because nvcc
// has no vectors of registers in code for GPUs.
//
// A program for a CPU that defines NNC_EMULATE_CUDA has the same vectors and
// fused multiply-adds as a GPU, so that floats are rounded alike. Functions of
// double such as exp() come from the library of each machine, and may differ.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_FUNCTIONS_H
#define NNC_FUNCTIONS_H

#if defined(__CUDACC__)
#define NNC_FN __host__ __device__
#define NNC_INLINE __host__ __device__ __forceinline__
#elif defined(__GNUC__) || defined(__clang__)
#define NNC_FN
#define NNC_INLINE inline __attribute__((always_inline))
#else
#define NNC_FN
#define NNC_INLINE inline
#endif

#if (defined(__CUDACC__) || defined(NNC_EMULATE_CUDA)) &&                      \
    !defined(NNC_PORTABLE_SIMD)
#define NNC_PORTABLE_SIMD 1
#endif

// nvcc also warns in templates: where the constants of one shape make a loop
// unreachable (128), and where x < 0 is never true for an unsigned type (186).
// It warns of functions that a module does not call, too (177), because the
// runtime is in an unnamed namespace there.
#if defined(__NVCC__)
#pragma nv_diag_suppress 128, 177, 186
#endif

#endif // NNC_FUNCTIONS_H
