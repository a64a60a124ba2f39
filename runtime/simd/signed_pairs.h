//===- signed_pairs.h - Products of signed bytes by smull and sadalp ------===//
//
// A form of products as dots.h has them, for processors with AArch64's vectors
// but without sdot: a step multiplies four signed bytes of a point by four
// signed bytes of each of four columns of weights. smull makes the products of
// the first two bytes, smlal2 adds those of the other two to them in 16 bits,
// and sadalp adds pairs of these sums to 32-bit sums: three instructions for 16
// products.
//
// The products of bytes i and i + 2 of a group are added in 16 bits. They fit
// unless both weights and both numbers are -128, so that weights must not have
// -128 at both places. The 16 bytes of weights of a step hold bytes 0 and 1 of
// each column, then bytes 2 and 3 of each.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_SIGNED_PAIRS_H
#define NNC_SIMD_SIGNED_PAIRS_H

#include "runtime/functions.h"
#include "runtime/simd/bytes.h"

namespace nnc {

struct signed_pairs {
  static constexpr int lanes = 4, group = 4, together = 4;
  using point = int8_t;

#if defined(NNC_NEON_VECTORS) && defined(__aarch64__)
  using factors = int8x16_t;
  using one_point = float; ///< four bytes, in a vector register

  static NNC_INLINE factors load(const int8_t *p) { return vld1q_s8(p); }
  static NNC_INLINE one_point load_point(const int8_t *p) {
    float bytes;
    memcpy(&bytes, p, sizeof bytes);
    return bytes;
  }

  /// Adds the products of the four bytes of lane LANE of `points` to the sums
  /// of B columns of weights. The instructions of up to four sums are in one
  /// statement, because compilers would begin the products of many points at
  /// once and run out of registers. Those of one sum, which wait for each
  /// other, have those of the other sums between them.
  template <int LANE, class X, int B>
  static NNC_INLINE void add(i32x<4> *sums, X points,
                             const factors (&weights)[B]) {
    constexpr int fours = B / 4 * 4;
    NNC_UNROLL for (int b = 0; b < fours; b += 4)
        add_four<LANE>(sums + b, points, weights + b);
    if constexpr (B % 4 == 3)
      add_three<LANE>(sums + fours, points, weights + fours);
    else if constexpr (B % 4 == 2)
      add_two<LANE>(sums + fours, points, weights + fours);
    else if constexpr (B % 4 == 1)
      add_one<LANE>(sums + fours, points, weights + fours);
  }

private:
  template <int LANE, class X>
  static NNC_INLINE void add_four(i32x<4> *sums, X x, const factors *w) {
    int16x8_t s, t, u, v, a, b;
    asm("dup %8.8h, %10.h[%15]\n\t"
        "dup %9.8h, %10.h[%16]\n\t"
        "smull %4.8h, %8.8b, %11.8b\n\t"
        "smull %5.8h, %8.8b, %12.8b\n\t"
        "smull %6.8h, %8.8b, %13.8b\n\t"
        "smull %7.8h, %8.8b, %14.8b\n\t"
        "smlal2 %4.8h, %9.16b, %11.16b\n\t"
        "smlal2 %5.8h, %9.16b, %12.16b\n\t"
        "smlal2 %6.8h, %9.16b, %13.16b\n\t"
        "smlal2 %7.8h, %9.16b, %14.16b\n\t"
        "sadalp %0.4s, %4.8h\n\t"
        "sadalp %1.4s, %5.8h\n\t"
        "sadalp %2.4s, %6.8h\n\t"
        "sadalp %3.4s, %7.8h"
        : "+w"(sums[0].v), "+w"(sums[1].v), "+w"(sums[2].v), "+w"(sums[3].v),
          "=&w"(s), "=&w"(t), "=&w"(u), "=&w"(v), "=&w"(a), "=&w"(b)
        : "w"(x), "w"(w[0]), "w"(w[1]), "w"(w[2]), "w"(w[3]), "i"(2 * LANE),
          "i"(2 * LANE + 1));
  }
  template <int LANE, class X>
  static NNC_INLINE void add_three(i32x<4> *sums, X x, const factors *w) {
    int16x8_t s, t, u, a, b;
    asm("dup %6.8h, %8.h[%12]\n\t"
        "dup %7.8h, %8.h[%13]\n\t"
        "smull %3.8h, %6.8b, %9.8b\n\t"
        "smull %4.8h, %6.8b, %10.8b\n\t"
        "smull %5.8h, %6.8b, %11.8b\n\t"
        "smlal2 %3.8h, %7.16b, %9.16b\n\t"
        "smlal2 %4.8h, %7.16b, %10.16b\n\t"
        "smlal2 %5.8h, %7.16b, %11.16b\n\t"
        "sadalp %0.4s, %3.8h\n\t"
        "sadalp %1.4s, %4.8h\n\t"
        "sadalp %2.4s, %5.8h"
        : "+w"(sums[0].v), "+w"(sums[1].v), "+w"(sums[2].v), "=&w"(s), "=&w"(t),
          "=&w"(u), "=&w"(a), "=&w"(b)
        : "w"(x), "w"(w[0]), "w"(w[1]), "w"(w[2]), "i"(2 * LANE),
          "i"(2 * LANE + 1));
  }
  template <int LANE, class X>
  static NNC_INLINE void add_two(i32x<4> *sums, X x, const factors *w) {
    int16x8_t s, t, a, b;
    asm("dup %4.8h, %6.h[%9]\n\t"
        "dup %5.8h, %6.h[%10]\n\t"
        "smull %2.8h, %4.8b, %7.8b\n\t"
        "smull %3.8h, %4.8b, %8.8b\n\t"
        "smlal2 %2.8h, %5.16b, %7.16b\n\t"
        "smlal2 %3.8h, %5.16b, %8.16b\n\t"
        "sadalp %0.4s, %2.8h\n\t"
        "sadalp %1.4s, %3.8h"
        : "+w"(sums[0].v), "+w"(sums[1].v), "=&w"(s), "=&w"(t), "=&w"(a),
          "=&w"(b)
        : "w"(x), "w"(w[0]), "w"(w[1]), "i"(2 * LANE), "i"(2 * LANE + 1));
  }
  template <int LANE, class X>
  static NNC_INLINE void add_one(i32x<4> *sums, X x, const factors *w) {
    int16x8_t s, a, b;
    asm("dup %2.8h, %4.h[%6]\n\t"
        "dup %3.8h, %4.h[%7]\n\t"
        "smull %1.8h, %2.8b, %5.8b\n\t"
        "smlal2 %1.8h, %3.16b, %5.16b\n\t"
        "sadalp %0.4s, %1.8h"
        : "+w"(sums[0].v), "=&w"(s), "=&w"(a), "=&w"(b)
        : "w"(x), "w"(w[0]), "i"(2 * LANE), "i"(2 * LANE + 1));
  }
#else
  struct factors {
    int8_t at[16];
  };
  struct one_point {
    int8_t at[4];
  };

  static NNC_INLINE factors load(const int8_t *p) {
    factors f;
    memcpy(f.at, p, sizeof f.at);
    return f;
  }
  static NNC_INLINE one_point load_point(const int8_t *p) {
    one_point x;
    memcpy(x.at, p, sizeof x.at);
    return x;
  }
  /// Sums of 16 bits wrap around as they do in the vector registers.
  template <int LANE, class X, int B>
  static NNC_INLINE void add(i32x<4> *sums, const X &points,
                             const factors (&weights)[B]) {
    const int8_t *x = points.at + 4 * LANE;
    for (int b = 0; b < B; ++b) {
      int32_t all[4];
      byte_lanes<4>::store_bits(all, sums[b]);
      for (int i = 0; i < 8; ++i) {
        const int sum =
            x[i % 2] * weights[b].at[i] + x[i % 2 + 2] * weights[b].at[i + 8];
        all[i / 2] += static_cast<int16_t>(sum);
      }
      sums[b] = byte_lanes<4>::load_bits(all);
    }
  }
#endif
};

} // namespace nnc

#endif // NNC_SIMD_SIGNED_PAIRS_H
