//===- dots.h - Products of integers, several to a lane -------------------===//
//
// The step of a register tile of integer sums: it multiplies `group`
// consecutive numbers of each point by `group` numbers of each of W columns of
// weights, and adds the products to W 32-bit sums. Which form is fast depends
// on the instruction set. Copies of points hold `together` numbers of a point
// consecutively. If `by_lane` is set, the instruction takes a lane of a vector
// of points as a factor, so that one load serves four points.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_DOTS_H
#define NNC_SIMD_DOTS_H

#include "runtime/functions.h"
#include "runtime/simd/bytes.h"

namespace nnc {

/// One product in each lane, with a scalar register as one factor and weights
/// that are widened by loads: vmacc.vx of RISC-V. Points are stored as 32 bits.
/// For 16-bit products clang would emit two instructions and change the element
/// width between them.
template <int W> struct single_dots {
  static constexpr int lanes = W, group = 1, together = W;
  static constexpr bool by_lane = false;
  using point = int32_t;

  template <class T> static NNC_INLINE i32x<W> weights(const T *w) {
    return vector_memory<T, W>::load(w).v;
  }
  static NNC_INLINE i32x<W> add(i32x<W> sum, i32x<W> points, i32x<W> weights) {
    return sum + byte_lanes<W>::multiply(points, weights);
  }
};

/// Two 16-bit products in each lane: exact for any 8-bit numbers, and for 9-bit
/// weights, which result from subtracting a zero point. Points are stored as 16
/// bits; weights are widened when they are loaded.
template <int W> struct pair_dots {
  static constexpr int lanes = W, group = 2, together = W;
  static constexpr bool by_lane = false;
  using point = int16_t;

  template <class T> static NNC_INLINE i32x<W> weights(const T *w) {
    return byte_lanes<W>::load_pairs(w);
  }
  static NNC_INLINE i32x<W> add(i32x<W> sum, i32x<W> points, i32x<W> weights) {
    return byte_lanes<W>::dot2(sum, points, weights);
  }
};

/// Four products of an unsigned byte of a point and a signed byte of a weight.
template <int W> struct byte_dots {
  static constexpr int lanes = W, group = 4, together = W;
  static constexpr bool by_lane = false;
  using point = uint8_t;

  static NNC_INLINE i32x<W> weights(const int8_t *w) {
    return byte_lanes<W>::load_bits(w);
  }
  static NNC_INLINE i32x<W> add(i32x<W> sum, i32x<W> points, i32x<W> weights) {
    return byte_lanes<W>::dot4(sum, points, weights);
  }
};

/// Eight products of an unsigned byte of a point and a signed byte of a weight,
/// of which SUM are added in 16 bits: vpmaddubsw of x86. Weights have the form
/// of routines/tiles/bounded_weights.h, with which no sum of 16 bits overflows.
/// If ORDERED is set, weights have the form of ordered_weights.h, and copies of
/// points have the order of channels that belongs to them. Their register tile
/// is dot_tile<bounded_dots<W, SUM, ORDERED>, P, B>.
template <int W, int SUM, bool ORDERED = false> struct bounded_dots {
  static_assert(SUM == 2 || SUM == 4, "one instruction or two");
  static constexpr int lanes = W, group = 8;
  static constexpr int together = ORDERED ? 16 : W < 8 ? 8 : W;
  using point = uint8_t;
};
/// The number of products that a form adds in 16 bits; 0 if it does not.
template <class D> constexpr int bounded_sum = 0;
template <int W, int SUM, bool ORDERED>
constexpr int bounded_sum<bounded_dots<W, SUM, ORDERED>> = SUM;
/// Whether copies of points have an order that the weights contain.
template <class D> constexpr bool is_ordered = false;
template <int W, int SUM>
constexpr bool is_ordered<bounded_dots<W, SUM, true>> = true;

/// Four products of signed bytes in each of four lanes: sdot of aarch64.
struct signed_dots {
  static constexpr int lanes = 4, group = 4, together = 4;
  static constexpr bool by_lane = true;
  using point = int8_t;

  static NNC_INLINE i32x<4> weights(const int8_t *w) {
    return byte_lanes<4>::load_bits(w);
  }
  static NNC_INLINE i32x<4> add(i32x<4> sum, i32x<4> points, i32x<4> weights) {
#if defined(NNC_NEON_VECTORS) && defined(__ARM_FEATURE_DOTPROD)
#if defined(__GNUC__) && !defined(__clang__)
    // g++ moves sums between registers otherwise.
    asm("sdot %0.4s, %1.16b, %2.16b"
        : "+w"(sum.v)
        : "w"(points.v), "w"(weights.v));
    return sum;
#else
    return {vdotq_s32(sum.v, vreinterpretq_s8_s32(points.v),
                      vreinterpretq_s8_s32(weights.v))};
#endif
#else
    int8_t x[16], w[16];
    int32_t sums[4];
    byte_lanes<4>::store_bits(x, points);
    byte_lanes<4>::store_bits(w, weights);
    byte_lanes<4>::store_bits(sums, sum);
    for (int i = 0; i < 16; ++i)
      sums[i / 4] += x[i] * w[i];
    return byte_lanes<4>::load_bits(sums);
#endif
  }
  /// Adds the products of the four bytes of lane LANE of `points` to all lanes.
  template <int LANE>
  static NNC_INLINE i32x<4> add_lane(i32x<4> sum, i32x<4> points,
                                     i32x<4> weights) {
#if defined(NNC_NEON_VECTORS) && defined(__ARM_FEATURE_DOTPROD)
#if defined(__GNUC__) && !defined(__clang__)
    asm("sdot %0.4s, %1.16b, %2.4b[%3]"
        : "+w"(sum.v)
        : "w"(weights.v), "w"(points.v), "i"(LANE));
    return sum;
#else
    return {vdotq_laneq_s32(sum.v, vreinterpretq_s8_s32(weights.v),
                            vreinterpretq_s8_s32(points.v), LANE)};
#endif
#else
    int32_t x[4];
    byte_lanes<4>::store_bits(x, points);
    return add(sum, i32x<4>(x[LANE]), weights);
#endif
  }
};

/// Eight products of signed bytes for each of two points and two columns: smmla
/// of aarch64. Sums and factors are matrices with two rows; their register tile
/// is dot_tile<matrix_dots, P, B>.
struct matrix_dots {
  static constexpr int lanes = 4, group = 8, together = 8;
  using point = int8_t;

#if defined(NNC_NEON_VECTORS) && defined(__ARM_FEATURE_MATMUL_INT8)
  using sums = int32x4_t;    ///< row 0 then row 1, each of two columns
  using factors = int8x16_t; ///< two rows of eight

  static NNC_INLINE sums zero() { return vdupq_n_s32(0); }
  static NNC_INLINE factors load(const int8_t *p) { return vld1q_s8(p); }
  static NNC_INLINE factors load(const int8_t *p, const int8_t *q) {
    return vcombine_s8(vld1_s8(p), vld1_s8(q));
  }
  static NNC_INLINE sums add(sums sum, factors points, factors weights) {
#if defined(__GNUC__) && !defined(__clang__)
    asm("smmla %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(points), "w"(weights));
    return sum;
#else
    return vmmlaq_s32(sum, points, weights);
#endif
  }
  /// Returns row ROW of the matrices of two adjacent sums as one vector.
  template <int ROW> static NNC_INLINE i32x<4> row(sums a, sums b) {
    const int64x2_t x = vreinterpretq_s64_s32(a), y = vreinterpretq_s64_s32(b);
    return {vreinterpretq_s32_s64(ROW ? vzip2q_s64(x, y) : vzip1q_s64(x, y))};
  }
#else
  struct sums {
    int32_t at[4];
  };
  struct factors {
    int8_t at[16];
  };

  static NNC_INLINE sums zero() { return {}; }
  static NNC_INLINE factors load(const int8_t *p) { return load(p, p + 8); }
  static NNC_INLINE factors load(const int8_t *p, const int8_t *q) {
    factors f;
    memcpy(f.at, p, 8);
    memcpy(f.at + 8, q, 8);
    return f;
  }
  static NNC_INLINE sums add(sums sum, factors points, factors weights) {
    for (int i = 0; i < 32; ++i)
      sum.at[i / 8] += points.at[i / 16 * 8 + i % 8] * weights.at[i % 16];
    return sum;
  }
  template <int ROW> static NNC_INLINE i32x<4> row(sums a, sums b) {
    const int32_t lanes_of_row[] = {a.at[2 * ROW], a.at[2 * ROW + 1],
                                    b.at[2 * ROW], b.at[2 * ROW + 1]};
    return byte_lanes<4>::load_bits(lanes_of_row);
  }
#endif
};

/// The four bytes at p, repeated in every lane.
template <int W> NNC_INLINE i32x<W> repeat_bits(const void *p) {
  int32_t bits;
  memcpy(&bits, p, sizeof bits);
  return i32x<W>(bits);
}

/// A group of numbers of a point, repeated in every lane.
template <class D>
NNC_INLINE i32x<D::lanes> repeat_group(const typename D::point *p) {
  static_assert(D::group * sizeof(*p) == 4, "a group fills a lane");
  return repeat_bits<D::lanes>(p);
}

/// Copies `count` numbers from x to y, which may be wider.
template <int W, class X, class Y>
NNC_INLINE void copy_points(Y *y, const X *x, ptrdiff_t count) {
  if constexpr (is_same<X, Y>::value) {
    memcpy(y, x, static_cast<size_t>(count) * sizeof(X));
  } else {
    ptrdiff_t i = 0;
    if constexpr (sizeof(Y) == 2 && sizeof(X) == 1)
      for (; i + 2 * W <= count; i += 2 * W)
        byte_lanes<W>::store_bits(y + i, byte_lanes<W>::load_pairs(x + i));
    for (; i < count; ++i)
      y[i] = static_cast<Y>(x[i]);
  }
}

/// Copies `count` points of W bytes each from block x and from block y,
/// alternating between both.
template <int W, class X>
NNC_INLINE void interleave_points(X *to, const X *x, const X *y,
                                  ptrdiff_t count) {
  ptrdiff_t i = 0;
#if defined(NNC_NEON_VECTORS)
  if constexpr (W == 4 && sizeof(X) == 1)
    for (; i + 4 <= count; i += 4) {
      const int32x4x2_t both = vzipq_s32(byte_lanes<4>::load_bits(x + i * W).v,
                                         byte_lanes<4>::load_bits(y + i * W).v);
      byte_lanes<4>::store_bits(to + 2 * i * W, {both.val[0]});
      byte_lanes<4>::store_bits(to + 2 * i * W + 16, {both.val[1]});
    }
#endif
  for (; i < count; ++i) {
    memcpy(to + 2 * i * W, x + i * W, W * sizeof(X));
    memcpy(to + 2 * i * W + W, y + i * W, W * sizeof(X));
  }
}

/// Copies every `step`-th of points of 8 bytes in blocks x and y to `count`
/// points of 16 bytes. Byte i of a point is byte order[i] of the 8 bytes of x
/// that are followed by the 8 of y.
template <class X>
NNC_INLINE void order_points(X *to, const X *x, const X *y, const int8_t *order,
                             ptrdiff_t count, int step) {
  static_assert(sizeof(X) == 1, "bytes");
  ptrdiff_t i = 0;
#if defined(__AVX2__) && !defined(NNC_PORTABLE_SIMD)
  const __m128i one = _mm_loadu_si128(reinterpret_cast<const __m128i *>(order));
  const __m256i two = _mm256_broadcastsi128_si256(one);
  for (; step == 1 && i + 4 <= count; i += 4) {
    const __m256i a =
        _mm256_loadu_si256(reinterpret_cast<const __m256i *>(x + i * 8));
    const __m256i b =
        _mm256_loadu_si256(reinterpret_cast<const __m256i *>(y + i * 8));
    // Points 0 and 2, and points 1 and 3.
    const __m256i even = _mm256_shuffle_epi8(_mm256_unpacklo_epi64(a, b), two);
    const __m256i odd = _mm256_shuffle_epi8(_mm256_unpackhi_epi64(a, b), two);
    auto *place = reinterpret_cast<__m256i *>(to + i * 16);
    _mm256_storeu_si256(place, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256(place + 1, _mm256_permute2x128_si256(even, odd, 0x31));
  }
  const auto load = [](const X *point) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i *>(point));
  };
  for (; i < count; ++i)
    _mm_storeu_si128(
        reinterpret_cast<__m128i *>(to + i * 16),
        _mm_shuffle_epi8(
            _mm_unpacklo_epi64(load(x + i * step * 8), load(y + i * step * 8)),
            one));
#endif
  for (; i < count; ++i)
    for (int j = 0; j < 16; ++j)
      to[i * 16 + j] = order[j] < 8 ? x[i * step * 8 + order[j]]
                                    : y[i * step * 8 + order[j] - 8];
}

/// Interleaves the bytes of three rows, or of four if d is not null; a missing
/// fourth row counts as zeros. Processes only whole vectors of the `count`
/// bytes of a row, and returns the number of bytes per row that it has
/// processed.
template <class X>
NNC_INLINE ptrdiff_t interleave_bytes([[maybe_unused]] X *to,
                                      [[maybe_unused]] const X *a,
                                      [[maybe_unused]] const X *b,
                                      [[maybe_unused]] const X *c,
                                      [[maybe_unused]] const X *d,
                                      [[maybe_unused]] ptrdiff_t count) {
  static_assert(sizeof(X) == 1, "bytes");
  ptrdiff_t i = 0;
#if defined(NNC_NEON_VECTORS)
  const auto load = [&](const X *row) {
    return vld1q_u8(reinterpret_cast<const uint8_t *>(row + i));
  };
  for (; i + 16 <= count; i += 16) {
    const uint8x16x2_t first = vzipq_u8(load(a), load(b));
    const uint8x16x2_t second = vzipq_u8(load(c), d ? load(d) : vdupq_n_u8(0));
    for (int half = 0; half < 2; ++half) {
      const uint16x8x2_t all =
          vzipq_u16(vreinterpretq_u16_u8(first.val[half]),
                    vreinterpretq_u16_u8(second.val[half]));
      for (int quarter = 0; quarter < 2; ++quarter)
        vst1q_u8(
            reinterpret_cast<uint8_t *>(to + 4 * i + 32 * half + 16 * quarter),
            vreinterpretq_u8_u16(all.val[quarter]));
    }
  }
#elif defined(__SSE4_1__) && !defined(NNC_PORTABLE_SIMD)
  const auto load = [&](const X *row) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i *>(row + i));
  };
  for (; i + 16 <= count; i += 16) {
    const __m128i x = load(a), y = load(b), z = load(c);
    const __m128i w = d ? load(d) : _mm_setzero_si128();
    const __m128i first[] = {_mm_unpacklo_epi8(x, y), _mm_unpackhi_epi8(x, y)};
    const __m128i second[] = {_mm_unpacklo_epi8(z, w), _mm_unpackhi_epi8(z, w)};
    for (int half = 0; half < 2; ++half) {
      auto *place = reinterpret_cast<__m128i *>(to + 4 * i + 32 * half);
      _mm_storeu_si128(place, _mm_unpacklo_epi16(first[half], second[half]));
      _mm_storeu_si128(place + 1,
                       _mm_unpackhi_epi16(first[half], second[half]));
    }
  }
#endif
  return i;
}

} // namespace nnc

#endif // NNC_SIMD_DOTS_H
