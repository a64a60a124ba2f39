//===- thumb_products.h - Sums of products of bytes on Armv6-M ------------===//
//
// Functions that layers share on cores such as Cortex-M0+. Their instructions
// multiply two of the eight low registers, and add a low register to any other:
// sums stay in high registers, which compilers hardly use. Loads of signed
// bytes add two registers to an address, so that all rows share an index. A
// module contains each function once.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MICROCONTROLLERS_THUMB_PRODUCTS_H
#define NNC_ROUTINES_MICROCONTROLLERS_THUMB_PRODUCTS_H

#include "runtime/functions.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/wrap.h"

// NNC_THUMB_PRODUCTS is 1 where layers call these functions. A test may set it
// on another machine, which computes the same in C++.
#if defined(__thumb__) && !defined(__thumb2__) && !defined(NNC_PORTABLE_SIMD)
#define NNC_ARMV6M 1
#define NNC_THUMB_PRODUCTS 1
#elif !defined(NNC_THUMB_PRODUCTS)
#define NNC_THUMB_PRODUCTS 0
#endif

namespace nnc {

#if defined(NNC_ARMV6M)
// NNC_LOAD_SUMS saves the registers that a function has to preserve, and loads
// four sums into r8 to r11. The sums are at an address that the caller passed
// on the stack, OFFSET bytes above it when the registers are saved.
// NNC_STORE_SUMS stores the sums and returns.
#define NNC_LOAD_SUMS(OFFSET)                                                  \
  "push {r4, r5, r6, r7, lr}\n\t"                                              \
  "mov r4, r8\n\tmov r5, r9\n\tmov r6, r10\n\tmov r7, r11\n\t"                 \
  "push {r4, r5, r6, r7}\n\t"                                                  \
  "ldr r4, [sp, #" OFFSET "]\n\t"                                              \
  "ldm r4!, {r5, r6, r7}\n\t"                                                  \
  "mov r8, r5\n\tmov r9, r6\n\tmov r10, r7\n\t"                                \
  "ldr r4, [r4]\n\tmov r11, r4\n\t"
#define NNC_STORE_SUMS(OFFSET)                                                 \
  "ldr r4, [sp, #" OFFSET "]\n\t"                                              \
  "mov r5, r8\n\tmov r6, r9\n\tmov r7, r10\n\t"                                \
  "stm r4!, {r5, r6, r7}\n\t"                                                  \
  "mov r5, r11\n\tstr r5, [r4]\n\t"                                            \
  "pop {r4, r5, r6, r7}\n\t"                                                   \
  "mov r8, r4\n\tmov r9, r5\n\tmov r10, r6\n\tmov r11, r7\n\t"                 \
  "pop {r4, r5, r6, r7, pc}"
#endif

/// Adds the products of `count` bytes of x, at least one, and each of four rows
/// of weights, `row` bytes apart, to the sum of the row.
#if defined(NNC_ARMV6M)
__attribute__((naked)) NNC_NOINLINE inline void
thumb_add_rows(const int8_t *, const int8_t *, int, int, int32_t *) {
#define NNC_ROW(W, SUM)                                                        \
  "ldrsb r7, [" W ", r3]\n\tmuls r7, r6, r7\n\tadd " SUM ", r7\n\t"
  // The index r3 rises to 0; x and the rows end at r0, r1, r4, r5, r2.
  __asm__(".syntax unified\n\t" //
          NNC_LOAD_SUMS("36")   //
          "adds r0, r0, r3\n\tadds r1, r1, r3\n\t"
          "adds r4, r1, r2\n\tadds r5, r4, r2\n\tadds r2, r5, r2\n\t"
          "rsbs r3, r3, #0\n\t"
          "1:\n\t"
          "ldrsb r6, [r0, r3]\n\t" //
          NNC_ROW("r1", "r8") NNC_ROW("r4", "r9") NNC_ROW("r5", "r10")
              NNC_ROW("r2", "r11") //
          "adds r3, r3, #1\n\t"
          "bne 1b\n\t" //
          NNC_STORE_SUMS("36"));
#undef NNC_ROW
}
#else
NNC_NOINLINE inline void thumb_add_rows(const int8_t *x, const int8_t *w,
                                        int row, int count, int32_t *sums) {
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < count; ++i)
      sums[k] = plus(sums[k], int32_t(x[i]) * int32_t(w[k * row + i]));
}
#endif

/// Adds the products of `fill` and of `count` bytes of each of four rows of
/// weights, `row` bytes apart, to the sum of the row.
NNC_NOINLINE inline void thumb_add_fill(int fill, const int8_t *w, int row,
                                        int count, int32_t *sums) {
  NNC_KEEP_LOOP for (int k = 0; k < 4; ++k, w += row) {
    int32_t sum = 0;
    NNC_KEEP_LOOP for (int i = 0; i < count; ++i) sum += w[i];
    sums[k] = plus(sums[k], int32_t(fill) * sum);
  }
}

/// Adds the products of `count` bytes, at least one, that are `step` bytes
/// apart from x on, and of those of each of four neighbouring columns of
/// weights, whose rows are `row` bytes apart, to the sum of the column.
#if defined(NNC_ARMV6M)
__attribute__((naked)) NNC_NOINLINE inline void
thumb_add_columns(const int8_t *, int, const int8_t *, int, int, int32_t *) {
#define NNC_COLUMN(LOAD, SUM) LOAD "muls r5, r4, r5\n\tadd " SUM ", r5\n\t"
  __asm__(".syntax unified\n\t" //
          NNC_LOAD_SUMS("40")   //
          "mov r12, r1\n\t"
          "ldr r1, [sp, #36]\n\t"
          // r6 and r7 are the distances of the columns that they load.
          "movs r6, #1\n\tmovs r7, #2\n\t"
          "1:\n\t"
          "ldrb r4, [r0]\n\tsxtb r4, r4\n\tadd r0, r12\n\t" //
          NNC_COLUMN("ldrb r5, [r2]\n\tsxtb r5, r5\n\t", "r8")
              NNC_COLUMN("ldrsb r5, [r2, r6]\n\t", "r9")
                  NNC_COLUMN("ldrsb r5, [r2, r7]\n\t", "r10")
                      NNC_COLUMN("ldrb r5, [r2, #3]\n\tsxtb r5, r5\n\t",
                                 "r11") //
          "adds r2, r2, r3\n\t"
          "subs r1, r1, #1\n\t"
          "bne 1b\n\t" //
          NNC_STORE_SUMS("40"));
#undef NNC_COLUMN
}
#else
NNC_NOINLINE inline void thumb_add_columns(const int8_t *x, int step,
                                           const int8_t *w, int row, int count,
                                           int32_t *sums) {
  for (; count > 0; --count, x += step, w += row)
    for (int j = 0; j < 4; ++j)
      sums[j] = plus(sums[j], int32_t(*x) * int32_t(w[j]));
}
#endif

#undef NNC_LOAD_SUMS
#undef NNC_STORE_SUMS

/// Returns `sum` plus the products of `rows` rows, at least one, of three
/// neighbouring taps of a channel: bytes of x and w are `step` bytes apart,
/// rows of x `down` bytes.
#if defined(NNC_ARMV6M)
__attribute__((naked)) NNC_NOINLINE inline int32_t
thumb_add_threes(const int8_t *, const int8_t *, int, int, int, int32_t) {
#define NNC_TAP(OFFSET)                                                        \
  "ldrsb r6, [r0, " OFFSET "]\n\tldrsb r7, [r1, " OFFSET "]\n\t"               \
  "muls r7, r6, r7\n\tadd r12, r7\n\t"
  __asm__(".syntax unified\n\t"
          "push {r4, r5, r6, r7, lr}\n\t"
          "ldr r4, [sp, #20]\n\t"
          "ldr r5, [sp, #24]\n\tmov r12, r5\n\t"
          // Rows of x end at lr; the offsets of taps are r5, r2 and r4.
          "muls r4, r3, r4\n\tadds r4, r0, r4\n\tmov lr, r4\n\t"
          "movs r5, #0\n\tadds r4, r2, r2\n\t"
          "1:\n\t" NNC_TAP("r5") NNC_TAP("r2") NNC_TAP("r4") //
          "adds r0, r0, r3\n\t"
          "adds r1, r1, r2\n\tadds r1, r1, r4\n\t"
          "cmp r0, lr\n\t"
          "bne 1b\n\t"
          "mov r0, r12\n\t"
          "pop {r4, r5, r6, r7, pc}");
#undef NNC_TAP
}
#else
NNC_NOINLINE inline int32_t thumb_add_threes(const int8_t *x, const int8_t *w,
                                             int step, int down, int rows,
                                             int32_t sum) {
  for (; rows > 0; --rows, x += down)
    for (int i = 0; i < 3; ++i, w += step)
      sum = plus(sum, int32_t(x[i * step]) * int32_t(*w));
  return sum;
}
#endif

} // namespace nnc

#endif // NNC_ROUTINES_MICROCONTROLLERS_THUMB_PRODUCTS_H
