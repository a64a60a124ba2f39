//===- unroll.h - Says which loops become straight code -------------------===//
//
// Register tiles are arrays indexed by loop counters: they live in registers
// only if those loops are unrolled whole, and the code stays small only if the
// loops around them are not.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_UNROLL_H
#define NNC_SIMD_UNROLL_H

/// Before a loop with constant bounds: unroll it whole.
/// Before any other: leave it a loop.
#if defined(__clang__)
#define NNC_UNROLL _Pragma("clang loop unroll(full)")
#define NNC_KEEP_LOOP _Pragma("clang loop unroll(disable) vectorize(disable)")
#elif defined(__GNUC__)
#define NNC_UNROLL _Pragma("GCC unroll 64")
#define NNC_KEEP_LOOP _Pragma("GCC unroll 1")
#else
#define NNC_UNROLL
#define NNC_KEEP_LOOP
#endif

/// In the body of a loop: what one turn has loaded the next loads again. g++
/// -O3 else keeps overlapping loads in registers from turn to turn (predictive
/// commoning), which a register tile has none left for.
#if defined(__GNUC__) && !defined(__clang__)
#define NNC_FORGET_LOADS asm volatile("" ::: "memory")
#else
#define NNC_FORGET_LOADS static_cast<void>(0)
#endif

/// Begins to bring what p points at into the cache, or only into that of the
/// second level; p may point anywhere.
#if defined(__GNUC__) || defined(__clang__)
#define NNC_PREFETCH(p) __builtin_prefetch(p)
#define NNC_PREFETCH_LEVEL2(p) __builtin_prefetch(p, 0, 2)
#else
#define NNC_PREFETCH(p) static_cast<void>(0)
#define NNC_PREFETCH_LEVEL2(p) static_cast<void>(0)
#endif

/// The same, to write there soon: a line that another core has read takes a
/// while to become this one's own, and stores wait for each other. All x86-64
/// know prefetchw, compilers not for all.
#if defined(__GNUC__) && defined(__x86_64__)
#define NNC_PREFETCH_TO_WRITE(p) asm volatile("prefetchw %0" : : "m"(*(p)))
#elif defined(__GNUC__) || defined(__clang__)
#define NNC_PREFETCH_TO_WRITE(p) __builtin_prefetch(p, 1)
#else
#define NNC_PREFETCH_TO_WRITE(p) static_cast<void>(0)
#endif

/// A function that stays one: its registers are its own.
#if defined(__GNUC__) || defined(__clang__)
#define NNC_NOINLINE __attribute__((noinline))
#else
#define NNC_NOINLINE
#endif

#endif // NNC_SIMD_UNROLL_H
