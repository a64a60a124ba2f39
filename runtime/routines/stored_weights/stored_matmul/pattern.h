//===- pattern.h - Product with N:M sparse weights ------------------------===//
//
// y[m][n] = epi(sum over k of x[m][k] * w[n][k]), where N of each M consecutive
// weights of a row are stored, with their indices among the M
// (decode/pattern.h). The product takes a multiply-add for each of these. If
// the weights are stored as floats and N is a half or a quarter of M, vectors
// of x are permuted by the indices; otherwise entries are read one by one, from
// four rows in turn. A unit is stored_unit rows of w.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_PATTERN_H
#define NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_PATTERN_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/stored_weights/decode/pattern.h"
#include "runtime/routines/stored_weights/stored_matmul/pattern_lanes.h"
#include "runtime/routines/stored_weights/stored_matmul/plan.h"
#include "runtime/routines/stored_weights/stored_matmul/skipped.h"
#include "runtime/simd/wrap.h"

namespace nnc {

template <int W, class S, class Epi> struct stored_matmul_pattern_t {
  NNC_FN static constexpr int units(const S &s) {
    return ceil_div(s.n, stored_unit);
  }

  template <class X, class Y>
  NNC_FN static void run(const S &s, const X *x, const unsigned char *w, Y *y,
                         const Epi &epi, int begin, int end) {
    using Sum = conditional_t<is_same<X, float>::value, float, int32_t>;
    const int last = smaller(end * stored_unit, s.n);
    for (int first = 0; first < s.m; first += stored_strip) {
      const int strip = smaller(stored_strip, s.m - first);
      const X *const part = x + ptrdiff_t(first) * s.k;
      Sum skipped[stored_strip];
      for (int row = 0; row < strip; ++row)
        skipped[row] = skipped_products(part + ptrdiff_t(row) * s.k, s.k);
      for (int n = begin * stored_unit; n < last; n += stored_unit) {
        const int rows = smaller(stored_unit, last - n);
        for (int row = 0; row < strip; ++row) {
          const X *from = part + ptrdiff_t(row) * s.k;
          Sum sums[stored_unit];
          if (rows == stored_unit)
            add<stored_unit>(s, from, w, n, sums);
          else
            for (int i = 0; i < rows; ++i)
              add<1>(s, from, w, n + i, sums + i);
          const ptrdiff_t at = ptrdiff_t(first + row) * s.n + n;
          for (int i = 0; i < rows; ++i)
            y[at + i] =
                epi(plus(sums[i], skipped[row]), position<true>{at + i, n + i});
        }
      }
    }
  }

private:
  static constexpr bool in_lanes = pattern_lanes<W>::exists;

  NNC_FN static constexpr int row_entries(const S &s) {
    return s.k / s.block * s.gaps;
  }

  /// Computes the sums of R rows of w from row n on.
  template <int R, class X, class Sum>
  NNC_FN static NNC_NOINLINE void
  add(const S &s, const X *x, const unsigned char *w, int n, Sum *sums) {
    using T = conditional_t<is_same<X, float>::value, float, int8_t>;
    NNC_UNROLL for (int i = 0; i < R; ++i) sums[i] = 0;
    int done = 0;
    if constexpr (in_lanes && is_same<X, float>::value)
      done = add_vectors<R>(s, x, w, n, sums);
    // The rows are processed in parts in turn, so that sums do not wait for
    // each other.
    const int in_word = pattern_reader<S, T>::in_word(s);
    const int part = s.gaps < in_word ? in_word / s.gaps : 1;
    const int groups = s.k / s.block;
    pattern_reader<S, T> readers[R];
    NNC_UNROLL for (int i = 0; i < R; ++i) readers[i] = pattern_reader<S, T>(
        s, w,
        static_cast<size_t>(n + i) * static_cast<size_t>(row_entries(s)) +
            static_cast<size_t>(done * s.gaps));
    NNC_KEEP_LOOP for (int first = done; first < groups; first += part) {
      const X *from = x + ptrdiff_t(first) * s.block;
      const int count = smaller(part, groups - first);
      NNC_UNROLL for (int i = 0; i < R; ++i) read_pattern(
          s, readers[i], count, [&](int group, size_t place, T value) {
            sums[i] = plus(
                sums[i],
                times(static_cast<Sum>(value),
                      static_cast<Sum>(from[ptrdiff_t(group) * s.block +
                                            static_cast<ptrdiff_t>(place)])));
          });
    }
  }

  /// Computes the sums of the first groups of R rows of w with vectors. Returns
  /// the number of these groups.
  template <int R>
  NNC_FN static int add_vectors(const S &s, const float *x,
                                const unsigned char *w, int n, float *sums) {
    if (!stored_pattern_in_lanes(s))
      return 0;
    const decode_pattern_places at(s, 4);
    const pattern_lanes<W> lanes(s.gaps, s.block, s.gap_bits);
    const ptrdiff_t row = row_entries(s);
    const auto *values =
        static_cast<const float *>(static_cast<const void *>(w + at.values)) +
        n * row;
    const unsigned char *places = w + at.places + n * row * s.gap_bits / 8;
    f32x<W> sum[static_cast<size_t>(R)];
    NNC_UNROLL for (int i = 0; i < R; ++i) sum[i] = f32x<W>(0.f);
    const int whole = row_entries(s) / pattern_step * pattern_step;
    const int groups_of_step = pattern_step / s.gaps;
    const float *from = x;
    NNC_KEEP_LOOP for (int entry = 0; entry < whole; entry += pattern_step) {
      NNC_UNROLL for (int i = 0; i < R; ++i) sum[i] =
          lanes.add(sum[i], from, values + i * row + entry,
                    places + (i * row + entry) * s.gap_bits / 8);
      from += groups_of_step * s.block;
    }
    NNC_UNROLL for (int i = 0; i < R; ++i) {
      alignas(64) float each[static_cast<size_t>(W)];
      sum[i].store(each);
      for (int lane = 0; lane < W; ++lane)
        sums[i] += each[lane];
    }
    return whole / s.gaps;
  }
};

template <class S, class Epi>
using stored_matmul_pattern_portable = stored_matmul_pattern_t<1, S, Epi>;
template <class S, class Epi>
using stored_matmul_i32_pattern_portable = stored_matmul_pattern_t<1, S, Epi>;
template <class S, class Epi>
using stored_matmul_pattern_avx512 = stored_matmul_pattern_t<16, S, Epi>;
template <class S, class Epi>
using stored_matmul_pattern_avx2 = stored_matmul_pattern_t<8, S, Epi>;
template <class S, class Epi>
using stored_matmul_pattern_neon = stored_matmul_pattern_t<4, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_PATTERN_H
