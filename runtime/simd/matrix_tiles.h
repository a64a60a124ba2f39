//===- matrix_tiles.h - Registers that hold tiles of matrices -------------===//
//
// The eight tile registers of AMX, each of 16 rows of 64 bytes, behind a few
// functions:
//
//   zero<T>()                 sets tile T to zeros
//   load<T>(p, stride)        loads row i of tile T from p + i * stride bytes
//   store<T>(p, stride)       stores row i of tile T to p + i * stride bytes
//   add_bf16<C, A, B>()       adds the products of tiles A and B to tile C
//   add_s8_s8<C, A, B>()      those of signed (s8) and unsigned (u8) bytes
//   add_s8_u8<C, A, B>()
//   add_u8_s8<C, A, B>()
//   add_u8_u8<C, A, B>()
//
// A product takes 16 rows of tile A and 16 columns of tile B. A row of A holds
// 64 bytes, or 32 floats of 16 bits, of a sum. Row r of B holds, for each
// column, the group of four bytes, or of two floats, that the r-th such group
// of a row of A is multiplied by. C holds 16 x 16 sums of 32 bits.
//
// The caller has permission to use the registers and has configured all of
// them to 16 rows of 64 bytes. Their numbers are constants, because
// instructions contain them.
//
// Without these instructions, or with NNC_PLAIN_TILES or NNC_PORTABLE_SIMD,
// tiles are arrays. Sums of integers are equal bit for bit. Products of bf16
// are added as Intel documents TDPBF16PS: the sums of the first and of the
// second float of all groups are made separately, by fused multiply-adds that
// begin with zero; then they are added to each other, and the result to C. Each
// step rounds to the nearest float, ties to even, and takes and returns zero
// for numbers below the normal range.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_MATRIX_TILES_H
#define NNC_SIMD_MATRIX_TILES_H

#include "runtime/functions.h"
#include "runtime/simd/unroll.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace nnc {

/// Rows of a tile, bytes of a row of a tile, and columns of 32 bits.
constexpr int tile_rows = 16, tile_row_bytes = 64, tile_columns = 16;

#if defined(__AMX_TILE__) && defined(__AMX_INT8__) && defined(__AMX_BF16__) && \
    !defined(NNC_PLAIN_TILES) && !defined(NNC_PORTABLE_SIMD)

/// The tile registers of the machine. Instructions are text, because the
/// intrinsics of g++ take only literal numbers of registers, no constants of
/// templates. They keep their order among each other. Compilers that know the
/// registers as such never use them for anything else.
struct matrix_tiles {
  template <int T> NNC_INLINE void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(T));
  }
  template <int T> NNC_INLINE void load(const void *p, ptrdiff_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2"
                 :
                 : "r"(p), "r"(stride), "i"(T)
                 : "memory");
  }
  template <int T> NNC_INLINE void store(void *p, ptrdiff_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)"
                 :
                 : "r"(p), "r"(stride), "i"(T)
                 : "memory");
  }
  template <int C, int A, int B> NNC_INLINE void add_bf16() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0"
                 :
                 : "i"(C), "i"(A), "i"(B));
  }
  template <int C, int A, int B> NNC_INLINE void add_s8_s8() {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0"
                 :
                 : "i"(C), "i"(A), "i"(B));
  }
  template <int C, int A, int B> NNC_INLINE void add_s8_u8() {
    asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0"
                 :
                 : "i"(C), "i"(A), "i"(B));
  }
  template <int C, int A, int B> NNC_INLINE void add_u8_s8() {
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0"
                 :
                 : "i"(C), "i"(A), "i"(B));
  }
  template <int C, int A, int B> NNC_INLINE void add_u8_u8() {
    asm volatile("tdpbuud %%tmm%c2, %%tmm%c1, %%tmm%c0"
                 :
                 : "i"(C), "i"(A), "i"(B));
  }
};

#else

/// Tiles in memory, with the arithmetic of the machine's.
struct matrix_tiles {
  template <int T> void zero() { memset(bytes[T], 0, sizeof bytes[T]); }
  template <int T> void load(const void *p, ptrdiff_t stride) {
    for (int i = 0; i < tile_rows; ++i)
      memcpy(bytes[T] + i * tile_row_bytes,
             static_cast<const unsigned char *>(p) + i * stride,
             tile_row_bytes);
  }
  template <int T> void store(void *p, ptrdiff_t stride) {
    for (int i = 0; i < tile_rows; ++i)
      memcpy(static_cast<unsigned char *>(p) + i * stride,
             bytes[T] + i * tile_row_bytes, tile_row_bytes);
  }
  template <int C, int A, int B> void add_bf16() {
    add_floats(bytes[C], bytes[A], bytes[B]);
  }
  template <int C, int A, int B> void add_s8_s8() {
    add_bytes<int8_t, int8_t>(bytes[C], bytes[A], bytes[B]);
  }
  template <int C, int A, int B> void add_s8_u8() {
    add_bytes<int8_t, uint8_t>(bytes[C], bytes[A], bytes[B]);
  }
  template <int C, int A, int B> void add_u8_s8() {
    add_bytes<uint8_t, int8_t>(bytes[C], bytes[A], bytes[B]);
  }
  template <int C, int A, int B> void add_u8_u8() {
    add_bytes<uint8_t, uint8_t>(bytes[C], bytes[A], bytes[B]);
  }

private:
  static constexpr int tile_bytes = tile_rows * tile_row_bytes;

  template <class X, class T>
  NNC_NOINLINE static void add_bytes(unsigned char *sums,
                                     const unsigned char *rows,
                                     const unsigned char *columns) {
    T b[tile_bytes];
    memcpy(b, columns, sizeof b);
    for (int i = 0; i < tile_rows; ++i) {
      X a[tile_row_bytes];
      int32_t sum[tile_columns];
      memcpy(a, rows + i * tile_row_bytes, sizeof a);
      memcpy(sum, sums + i * tile_row_bytes, sizeof sum);
      for (int r = 0; r < tile_rows; ++r)
        for (int n = 0; n < tile_columns; ++n)
          for (int j = 0; j < 4; ++j)
            sum[n] += a[4 * r + j] * b[(tile_columns * r + n) * 4 + j];
      memcpy(sums + i * tile_row_bytes, sum, sizeof sum);
    }
  }

  /// Returns zero for numbers below the normal range, with their sign.
  static float flushed(uint32_t bits) {
    if ((bits & 0x7f800000) == 0)
      bits &= 0x80000000;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
  }
  static float flushed(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return flushed(bits);
  }

  NNC_NOINLINE static void add_floats(unsigned char *sums,
                                      const unsigned char *rows,
                                      const unsigned char *columns) {
    for (int i = 0; i < tile_rows; ++i)
      for (int n = 0; n < tile_columns; ++n) {
        float of[2] = {}, sum;
        unsigned char *place = sums + i * tile_row_bytes + n * 4;
        memcpy(&sum, place, sizeof sum);
        for (int r = 0; r < tile_rows; ++r) {
          uint16_t a[2], b[2];
          memcpy(a, rows + i * tile_row_bytes + r * 4, sizeof a);
          memcpy(b, columns + r * tile_row_bytes + n * 4, sizeof b);
          for (int j = 0; j < 2; ++j)
            of[j] =
                flushed(__builtin_fmaf(flushed(uint32_t(a[j]) << 16),
                                       flushed(uint32_t(b[j]) << 16), of[j]));
        }
        sum = flushed(flushed(sum) + flushed(of[0] + of[1]));
        memcpy(place, &sum, sizeof sum);
      }
  }

  alignas(64) unsigned char bytes[8][tile_bytes];
};

#endif

} // namespace nnc

#endif // NNC_SIMD_MATRIX_TILES_H
