//===- helium_products.h - Sums of products of bytes in Arm's vectors -----===//
//
// Functions that the routines of the instruction set `helium` share, the vector
// extension of Arm's M profile (MVE). They are not templates and take run-time
// sizes, so that a module contains each of them once, however many layers it
// has.
//
// Their loops are predicated by the number of remaining elements (dlstp, letp).
// So they read and write no byte beyond the last one, neither factors nor
// weights are padded, and no loop has a tail. Loads and sums of products
// alternate because a core overlaps them. On other machines the same functions
// compute one number at a time.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MICROCONTROLLERS_HELIUM_PRODUCTS_H
#define NNC_ROUTINES_MICROCONTROLLERS_HELIUM_PRODUCTS_H

#include "runtime/functions.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec_portable.h"
#include "runtime/simd/wrap.h"

// Unoptimized code leaves too few registers for the loops.
#if defined(__ARM_FEATURE_MVE) && defined(__thumb2__) &&                       \
    defined(__OPTIMIZE__) && !defined(NNC_PORTABLE_SIMD)
#define NNC_ARM_MVE 1
#endif

namespace nnc {

/// Copies `count` bytes; returns the end of the copy.
NNC_NOINLINE inline int8_t *helium_copy(int8_t *to, const int8_t *from,
                                        int count) {
  int8_t *const end = to + count;
#if defined(NNC_ARM_MVE)
  __asm__ volatile("wlstp.8 lr, %[count], 2f\n"
                   "1:\n\t"
                   "vldrb.8 q0, [%[from]], #16\n\t"
                   "vstrb.8 q0, [%[to]], #16\n\t"
                   "letp lr, 1b\n"
                   "2:"
                   : [to] "+r"(to), [from] "+r"(from)
                   : [count] "r"(count)
                   : "q0", "lr", "memory");
#else
  for (; to != end; ++to, ++from)
    *to = *from;
#endif
  return end;
}

/// Copies `rows` runs of `count` bytes, each `step` bytes from the one before,
/// to one run.
NNC_NOINLINE inline void helium_copy_rows(int8_t *to, const int8_t *from,
                                          int rows, int count, int step) {
  for (; rows > 0; --rows, from += step, to += count) {
#if defined(NNC_ARM_MVE)
    int8_t *q = to;
    const int8_t *p = from;
    __asm__ volatile("dlstp.8 lr, %[count]\n"
                     "1:\n\t"
                     "vldrb.8 q0, [%[p]], #16\n\t"
                     "vstrb.8 q0, [%[q]], #16\n\t"
                     "letp lr, 1b"
                     : [p] "+r"(p), [q] "+r"(q)
                     : [count] "r"(count)
                     : "q0", "lr", "memory");
#else
    helium_copy(to, from, count);
#endif
  }
}

/// Writes the same byte `count` times; returns the end of these bytes.
NNC_NOINLINE inline int8_t *helium_fill(int8_t *to, int fill, int count) {
  int8_t *const end = to + count;
#if defined(NNC_ARM_MVE)
  __asm__ volatile("vdup.8 q0, %[fill]\n\t"
                   "wlstp.8 lr, %[count], 2f\n"
                   "1:\n\t"
                   "vstrb.8 q0, [%[to]], #16\n\t"
                   "letp lr, 1b\n"
                   "2:"
                   : [to] "+r"(to)
                   : [fill] "r"(fill), [count] "r"(count)
                   : "q0", "lr", "memory");
#else
  while (to != end)
    *to++ = static_cast<int8_t>(fill);
#endif
  return end;
}

/// The sum of the products of x[i] and w[i], i < count.
NNC_INLINE int32_t helium_dot(const int8_t *x, const int8_t *w, int count) {
  int32_t sum = 0;
  for (int i = 0; i < count; ++i)
    sum = plus(sum, int32_t(x[i]) * w[i]);
  return sum;
}

/// Computes sums[p * step + r] for two windows p of `count` bytes, which is at
/// least 1, and `rows` rows w[r][count] of weights. Writes one sum more if
/// `rows` is odd.
NNC_NOINLINE inline void helium_multiply_two(const int8_t *x0, const int8_t *x1,
                                             const int8_t *w, int rows,
                                             int count, int32_t *sums,
                                             int step) {
#if defined(NNC_ARM_MVE)
  if (count <= 16) {
    // The windows stay in registers.
    int32_t *others = sums + step;
    int32_t s0, s1;
    __asm__ volatile(
        "vctp.8 %[count]\n\t"
        "vpstt\n\t"
        "vldrbt.8 q0, [%[p]]\n\t"
        "vldrbt.8 q1, [%[q]]\n\t"
        "dls lr, %[rows]\n"
        "1:\n\t"
        "vpst\n\t"
        "vldrbt.8 q2, [%[w]]\n\t"
        "add %[w], %[count]\n\t"
        "vmladav.s8 %[s0], q0, q2\n\t"
        "vmladav.s8 %[s1], q1, q2\n\t"
        "str %[s0], [%[sums]], #4\n\t"
        "str %[s1], [%[others]], #4\n\t"
        "le lr, 1b"
        : [s0] "=&Te"(s0), [s1] "=&Te"(s1), [w] "+&r"(w), [sums] "+&r"(sums),
          [others] "+&r"(others)
        : [p] "r"(x0), [q] "r"(x1), [rows] "r"(rows), [count] "r"(count)
        : "q0", "q1", "q2", "lr", "memory");
    return;
  }
  // Pairs of rows come first, then the last row, which is paired with itself.
  // The inner loop moves pointers by `count`, rounded up to whole vectors.
  const int32_t bytes = 4 * step;
  for (bool is_last = rows < 2;; is_last = true) {
    int left = is_last ? 1 : rows / 2;
    const int8_t *other = is_last ? w : w + count;
    int32_t s00, s01, s10, s11;
    __asm__ volatile(
        "2:\n\t"
        "mov %[s00], #0\n\t"
        "mov %[s01], #0\n\t"
        "mov %[s10], #0\n\t"
        "mov %[s11], #0\n\t"
        "dlstp.8 lr, %[count]\n"
        "1:\n\t"
        "vldrb.8 q0, [%[p]], #16\n\t"
        "vldrb.8 q1, [%[u]], #16\n\t"
        "vmladava.s8 %[s00], q0, q1\n\t"
        "vldrb.8 q2, [%[q]], #16\n\t"
        "vmladava.s8 %[s10], q2, q1\n\t"
        "vldrb.8 q3, [%[v]], #16\n\t"
        "vmladava.s8 %[s01], q0, q3\n\t"
        "vmladava.s8 %[s11], q2, q3\n\t"
        "letp lr, 1b\n\t"
        "ldr lr, %[bytes]\n\t"
        "add lr, %[sums]\n\t"
        "strd %[s10], %[s11], [lr]\n\t"
        "strd %[s00], %[s01], [%[sums]], #8\n\t"
        "add lr, %[count], #15\n\t"
        "bic lr, lr, #15\n\t"
        "sub %[p], lr\n\t"
        "sub %[q], lr\n\t"
        "sub %[v], lr\n\t"
        "add %[u], %[v], %[count]\n\t"
        "add %[v], %[u], %[count]\n\t"
        "subs %[left], #1\n\t"
        "bne 2b"
        : [s00] "=&Te"(s00), [s01] "=&Te"(s01), [s10] "=&Te"(s10),
          [s11] "=&Te"(s11), [p] "+&r"(x0), [q] "+&r"(x1), [u] "+&r"(w),
          [v] "+&r"(other), [sums] "+&r"(sums), [left] "+&r"(left)
        : [count] "r"(count), [bytes] "m"(bytes)
        : "q0", "q1", "q2", "q3", "lr", "cc", "memory");
    if (is_last || rows % 2 == 0)
      return;
  }
#else
  for (int r = 0; r < rows; ++r, w += count) {
    sums[r] = helium_dot(x0, w, count);
    sums[step + r] = helium_dot(x1, w, count);
  }
#endif
}

/// Computes the sums of one row x[count] and up to four rows w[r][count] of
/// weights, of which there are `rows`. Writes four sums in any case.
NNC_NOINLINE inline void helium_multiply_row(const int8_t *x, const int8_t *w,
                                             int rows, int count,
                                             int32_t *sums) {
  const int8_t *w1 = rows > 1 ? w + count : w;
  const int8_t *w2 = rows > 2 ? w1 + count : w;
  const int8_t *w3 = rows > 3 ? w2 + count : w;
#if defined(NNC_ARM_MVE)
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  __asm__ volatile("dlstp.8 lr, %[count]\n"
                   "1:\n\t"
                   "vldrb.8 q0, [%[x]], #16\n\t"
                   "vldrb.8 q1, [%[w0]], #16\n\t"
                   "vmladava.s8 %[s0], q0, q1\n\t"
                   "vldrb.8 q2, [%[w1]], #16\n\t"
                   "vmladava.s8 %[s1], q0, q2\n\t"
                   "vldrb.8 q1, [%[w2]], #16\n\t"
                   "vmladava.s8 %[s2], q0, q1\n\t"
                   "vldrb.8 q2, [%[w3]], #16\n\t"
                   "vmladava.s8 %[s3], q0, q2\n\t"
                   "letp lr, 1b"
                   : [s0] "+&Te"(s0), [s1] "+&Te"(s1), [s2] "+&Te"(s2),
                     [s3] "+&Te"(s3), [x] "+&r"(x), [w0] "+&r"(w),
                     [w1] "+&r"(w1), [w2] "+&r"(w2), [w3] "+&r"(w3)
                   : [count] "r"(count)
                   : "q0", "q1", "q2", "lr", "memory");
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
#else
  const int8_t *weights[] = {w, w1, w2, w3};
  for (int r = 0; r < 4; ++r)
    sums[r] = helium_dot(x, weights[r], count);
#endif
}

/// Adds factor * w[i] to sums[i] for `count` bytes; `count` is at least 1.
NNC_NOINLINE inline void helium_add_multiple(int factor, const int8_t *w,
                                             int count, int32_t *sums) {
#if defined(NNC_ARM_MVE)
  __asm__ volatile("dlstp.32 lr, %[count]\n"
                   "1:\n\t"
                   "vldrw.32 q0, [%[sums]]\n\t"
                   "vldrb.s32 q1, [%[w]], #4\n\t"
                   "vmla.s32 q0, q1, %[factor]\n\t"
                   "vstrw.32 q0, [%[sums]], #16\n\t"
                   "letp lr, 1b"
                   : [sums] "+&r"(sums), [w] "+&r"(w)
                   : [count] "r"(count), [factor] "r"(factor)
                   : "q0", "q1", "lr", "memory");
#else
  for (int i = 0; i < count; ++i)
    sums[i] += factor * w[i];
#endif
}

} // namespace nnc

#endif // NNC_ROUTINES_MICROCONTROLLERS_HELIUM_PRODUCTS_H
