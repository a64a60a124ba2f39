//===- registers.h - Product of a few rows and weights of few bits --------===//
//
// y[m][n] = epi(sum over k of x[m][k] * w[n][k]), where w are weights of 4 or 8
// bits with scales and zero points; see shape.h. A product of a few rows is
// bound by reads of weights from memory. Weights stay compressed there and are
// decoded in registers (words.h). A sum over the weights that share a scale is
// multiplied by it once.
//
// The weights are packed in panels of 32 columns, scales and zero points in
// blocks of 32 columns, too (NK32n). A unit is a panel.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_BLOCK_MATMUL_REGISTERS_H
#define NNC_ROUTINES_STORED_WEIGHTS_BLOCK_MATMUL_REGISTERS_H

#include "runtime/functions.h"
#include "runtime/routines/matrix/matmul/finish.h"
#include "runtime/routines/stored_weights/block_matmul/words.h"
#include "runtime/routines/tiles/remainder.h"

namespace nnc {

template <int BITS, int W, class S, int M, int B, class Epi>
struct block_matmul_t {
  using words = block_words<BITS>;
  using decoder = block_decoder<BITS, W>;
  static_assert(W >= 4 && (W & (W - 1)) == 0, "W is a vector width");
  static_assert(M > 0 && words::columns % (B * W) == 0, "tiles fill a panel");

  static constexpr int units(const S &s) {
    return ceil_div(s.n, words::columns);
  }

  static void run(const S &s, const float *x, const uint8_t *q,
                  const float *scales, const uint8_t *zero_points, float *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    const int rows = plan_block_matmul(s, M).rows;
    const int length = words::padded(s.k);
    float *const copy = reinterpret_cast<float *>(scratch);
    for (int row = 0; row < s.m; row += rows) {
      const int count = smaller(rows, s.m - row);
      copy_scaled<BITS, W>(copy, x + ptrdiff_t(row) * s.k, count, s.k);
      for (int unit = begin; unit < end; ++unit)
        for (int part = 0; part < words::columns; part += B * W) {
          const int column = unit * words::columns + part;
          if (column >= s.n)
            break;
          const ptrdiff_t group =
              ptrdiff_t(unit) * block_groups(s) * words::columns + part;
          const job j{copy,
                      length,
                      q + unit * words::panel(s.k) + 4 * part,
                      scales + group,
                      s.shared_zero ? zero_points : zero_points + group,
                      y,
                      &epi,
                      ptrdiff_t(row) * s.n,
                      column};
          strip(s, j, count);
        }
    }
  }

private:
  /// Values that all tiles of a strip use: B vectors of columns.
  struct job {
    const float *x;             ///< rows of the strip, scaled
    int length;                 ///< elements from one to the next
    const uint8_t *q;           ///< words of the first column
    const float *scales;        ///< of the first column
    const uint8_t *zero_points; ///< of the first column, or of all
    float *y;
    const Epi *epi;
    ptrdiff_t out; ///< index in y of the strip's first row
    int column;    ///< first column
  };

  /// Bytes from the words in use to those that are prefetched.
  static constexpr int ahead = 2048;
  /// Longest sum, in terms, that is made in one go.
  static constexpr int most_terms = 512;

  /// Computes `count` rows. Only the last strip has a remainder.
  static void strip(const S &s, const job &j, int count) {
    constexpr int left =
        left_over<M, S>([](const S &shape) { return shape.m; });
    const auto tiles = [&](auto size, int row) {
      if (s.shared_zero)
        tile<size, true>(s, j, row);
      else
        tile<size, false>(s, j, row);
    };
    const int whole = count / M * M;
    in_tiles<M, 0>(0, whole, tiles);
    if (whole < count)
      in_tiles<M, left>(whole, count, tiles);
  }

  /// Computes R rows of a strip, from `row` on.
  template <int R, bool SHARED>
  NNC_NOINLINE static void tile(const S &s, const job &j, int row) {
    const int length = j.length;
    const float *const x = j.x + ptrdiff_t(row) * length;
    f32_tile<W, 1, R, B> total;
    total.clear();
    const i32x<W> exponent = decoder::hidden_exponent();
    f32x<W> zero[decoder::fields][SHARED ? 1 : B];
    if constexpr (SHARED)
      NNC_UNROLL for (int f = 0; f < decoder::fields; ++f) zero[f][0] =
          decoder::raised_zero(f32x<W>(float(*j.zero_points)), f);
    const uint8_t *q = j.q;
    const uint8_t *zeros = j.zero_points;
    const float *scales = j.scales;
    for (int first = 0; first < s.k; first += s.block) {
      if constexpr (!SHARED)
        NNC_UNROLL for (int b = 0; b < B; ++b) {
          const f32x<W> v = to_float(byte_lanes<W>::load(zeros + b * W));
          NNC_UNROLL for (int f = 0; f < decoder::fields; ++f) zero[f][b] =
              decoder::raised_zero(v, f);
        }
      const int last = s.k - first <= s.block ? length : first + s.block;
      for (int k = first; k < last; k += most_terms) {
        f32_tile<W, 1, R, B> sums;
        sums.clear();
        const int end = smaller(k + most_terms, last);
        NNC_KEEP_LOOP for (int i = k; i < end; i += words::weights) {
          add_words<R, SHARED>(sums, x + i, length, q, exponent, zero);
          q += 4 * words::columns;
        }
        NNC_UNROLL for (int b = 0; b < B; ++b) {
          const f32x<W> scale = f32x<W>::load(scales + b * W);
          NNC_UNROLL for (int r = 0; r < R; ++r) total.sum[0][r][b] =
              fma(sums.sum[0][r][b], scale, total.sum[0][r][b]);
        }
      }
      scales += words::columns;
      if constexpr (!SHARED)
        zeros += words::columns;
    }
    NNC_UNROLL for (int b = 0; b < B; ++b) {
      // The last panel may have whole vectors behind the last column.
      const int column = j.column + b * W;
      if (column >= s.n)
        break;
      f32_tile<W, 1, R, 1> part;
      NNC_UNROLL for (int r = 0; r < R; ++r) part.sum[0][r][0] =
          total.sum[0][r][b];
      store_rows(part, j.y, j.out + ptrdiff_t(row) * s.n + column, column, s.n,
                 *j.epi);
    }
  }

  /// Adds the products of the weights in a word of each column.
  template <int R, bool SHARED>
  static NNC_INLINE void
  add_words(f32_tile<W, 1, R, B> &t, const float *x, int length,
            const uint8_t *q, i32x<W> exponent,
            const f32x<W> (&zero)[decoder::fields][SHARED ? 1 : B]) {
    NNC_FORGET_LOADS;
    NNC_UNROLL for (int b = 0; b < B; b += 16 / W)
        NNC_PREFETCH(q + ahead + 4 * b * W);
    i32x<W> word[B];
    NNC_UNROLL for (int b = 0; b < B; ++b) word[b] =
        byte_lanes<W>::load_bits(q + 4 * b * W);
    i32x<W> half[B];
    NNC_UNROLL for (int b = 0; b < B; ++b) half[b] =
        decoder::template half<0>(word[b], exponent);
    add_half<R, SHARED>(t, x, length, half, zero);
    NNC_UNROLL for (int b = 0; b < B; ++b) half[b] =
        decoder::template half<1>(word[b], exponent);
    add_half<R, SHARED>(t, x + decoder::fields, length, half, zero);
  }

  template <int R, bool SHARED>
  static NNC_INLINE void
  add_half(f32_tile<W, 1, R, B> &t, const float *x, int length,
           const i32x<W> (&half)[B],
           const f32x<W> (&zero)[decoder::fields][SHARED ? 1 : B]) {
    NNC_UNROLL for (int f = 0; f < decoder::fields; ++f) {
      f32x<W> w[B];
      NNC_UNROLL for (int b = 0; b < B; ++b) w[b] =
          decoder::raised(half[b], f) - zero[f][SHARED ? 0 : b];
      NNC_UNROLL for (int r = 0; r < R; ++r) {
        const f32x<W> v(x[r * length + f]);
        NNC_UNROLL for (int b = 0; b < B; ++b) t.sum[0][r][b] =
            fma(v, w[b], t.sum[0][r][b]);
      }
    }
  }
};

template <class S, int M, int B, class Epi>
using block_matmul_int4_avx512 = block_matmul_t<4, 16, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using block_matmul_int4_avx2 = block_matmul_t<4, 8, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using block_matmul_int4_rvv = block_matmul_t<4, 8, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using block_matmul_int4_neon = block_matmul_t<4, 4, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using block_matmul_int4_sse4 = block_matmul_t<4, 4, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using block_matmul_int8_avx512 = block_matmul_t<8, 16, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using block_matmul_int8_avx2 = block_matmul_t<8, 8, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using block_matmul_int8_rvv = block_matmul_t<8, 8, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using block_matmul_int8_neon = block_matmul_t<8, 4, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using block_matmul_int8_sse4 = block_matmul_t<8, 4, S, M, B, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_BLOCK_MATMUL_REGISTERS_H
