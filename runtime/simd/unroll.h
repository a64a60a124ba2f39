//===- unroll.h - Compiler hints: unrolling, prefetching, inlining --------===//
//
// Register tiles are arrays indexed by loop counters. They stay in registers
// only if the loops over them are completely unrolled, and code stays small
// only if the loops around them are not unrolled.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_UNROLL_H
#define NNC_SIMD_UNROLL_H

/// NNC_UNROLL, before a loop with constant bounds, unrolls it completely.
/// NNC_KEEP_LOOP, before any other loop, keeps it from being unrolled or
/// vectorized. nvcc takes such hints only in code for a GPU.
#if defined(__CUDA_ARCH__)
#define NNC_UNROLL _Pragma("unroll")
#define NNC_KEEP_LOOP _Pragma("unroll 1")
#elif defined(__CUDACC__)
#define NNC_UNROLL
#define NNC_KEEP_LOOP
#elif defined(__clang__)
#define NNC_UNROLL _Pragma("clang loop unroll(full)")
#define NNC_KEEP_LOOP _Pragma("clang loop unroll(disable) vectorize(disable)")
#elif defined(__GNUC__)
#define NNC_UNROLL _Pragma("GCC unroll 64")
#define NNC_KEEP_LOOP _Pragma("GCC unroll 1")
#else
#define NNC_UNROLL
#define NNC_KEEP_LOOP
#endif

/// NNC_FORGET_LOADS, in the body of a loop, makes each iteration load its
/// values again. Otherwise g++ -O3 keeps overlapping loads in registers from
/// one iteration to the next (predictive commoning), and a register tile leaves
/// none for that.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define NNC_FORGET_LOADS asm volatile("" ::: "memory")
#else
#define NNC_FORGET_LOADS static_cast<void>(0)
#endif

/// NNC_PREFETCH brings the cache line at p into all caches, NNC_PREFETCH_LEVEL2
/// only into the second-level cache. p may be any address. GPUs hide the time
/// that loads take with other threads.
#if defined(__CUDACC__)
#define NNC_PREFETCH(p) static_cast<void>(0)
#define NNC_PREFETCH_LEVEL2(p) static_cast<void>(0)
#elif defined(__GNUC__) || defined(__clang__)
#define NNC_PREFETCH(p) __builtin_prefetch(p)
#define NNC_PREFETCH_LEVEL2(p) __builtin_prefetch(p, 0, 2)
#else
#define NNC_PREFETCH(p) static_cast<void>(0)
#define NNC_PREFETCH_LEVEL2(p) static_cast<void>(0)
#endif

/// NNC_PREFETCH_TO_WRITE brings the cache line at p near for a store. A line
/// that another core has read takes a while to become this core's own, and
/// stores wait for each other. All x86-64 machines accept prefetchw, but
/// compilers do not emit it for all of them.
#if defined(__CUDACC__)
#define NNC_PREFETCH_TO_WRITE(p) static_cast<void>(0)
#elif defined(__GNUC__) && defined(__x86_64__)
#define NNC_PREFETCH_TO_WRITE(p) asm volatile("prefetchw %0" : : "m"(*(p)))
#elif defined(__GNUC__) || defined(__clang__)
#define NNC_PREFETCH_TO_WRITE(p) __builtin_prefetch(p, 1)
#else
#define NNC_PREFETCH_TO_WRITE(p) static_cast<void>(0)
#endif

/// NNC_NOINLINE keeps a function from being inlined, so that its code has all
/// registers for itself.
#if defined(__GNUC__) || defined(__clang__)
#define NNC_NOINLINE __attribute__((noinline))
#else
#define NNC_NOINLINE
#endif

#endif // NNC_SIMD_UNROLL_H
