//===- bytes.h - Layer normalization of bytes with vectors of W floats ----===//
//
// The layer of portable.h for x of 8-bit integers, with the same results, bit
// for bit: the sums of a row are exact, and each element takes the same
// operations on floats. Vectors run along the row. The epilogue takes floats;
// what it returns, usually bytes, is stored. A unit is a row.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_NORMALIZATION_LAYER_NORM_BYTES_H
#define NNC_ROUTINES_NORMALIZATION_LAYER_NORM_BYTES_H

#include "runtime/counts.h"
#include "runtime/functions.h"
#include "runtime/routines/normalization/layer_norm/moments.h"
#include "runtime/simd/bytes.h"
#include "runtime/store_sums.h"

namespace nnc {

template <int W, class S, class Epi> struct layer_norm_bytes_t {
  static constexpr int units(const S &s) { return s.outer; }

  template <class X, class Y>
  static void run(const S &s, const X *x, const float *scale, const float *bias,
                  Y *y, const Epi &epilogue, int begin, int end) {
    static_assert(sizeof(X) == 1, "rows of bytes");
    const Epi epi = epilogue;
    const int whole = s.size / W * W, rest = s.size - whole;
    for (int unit = begin; unit < end; ++unit) {
      const ptrdiff_t at = ptrdiff_t(unit) * s.size;
      const X *row = x + at;
      const row_moments<float> m =
          sums_of(row, s.size).moments(s.size, float(s.epsilon));
      const V mean(m.mean), factor(m.factor);
      const auto normalised = [&](V v, V a, V b) {
        return (v - mean) * factor * a + b;
      };
      for (int i = 0; i < whole; i += W)
        store_sums_of_row(normalised(to_float(bytes_of<X>::load(row + i).v),
                                     load<V>(scale + i), load<V>(bias + i)),
                          y, at + i, i, s.size, epi);
      if (rest)
        store_sums_of_row(
            normalised(to_float(bytes_of<X>::load(row + whole, rest).v),
                       load<V>(scale + whole, rest),
                       load<V>(bias + whole, rest)),
            y, at + whole, whole, s.size, epi);
    }
  }

private:
  using V = f32x<W>;
  template <class X> using bytes_of = vector_memory<X, W>;

  /// Vectors of which a lane of floats sums the squares without rounding.
  static constexpr int exact_vectors = 256;
  static_assert(exact_vectors * 255 * 255 < 1 << 24, "float has 24 bits");

  template <class X>
  static NNC_INLINE integer_sums sums_of(const X *row, int size) {
    integer_sums sums;
    for (int first = 0; first < size; first += exact_vectors * W) {
      const int end = smaller(size, first + exact_vectors * W);
      V sum[2] = {V(0.0f), V(0.0f)}, squares[2] = {V(0.0f), V(0.0f)};
      int i = first;
      for (; i + 2 * W <= end; i += 2 * W)
        NNC_UNROLL for (int j = 0; j < 2; ++j) {
          const V v = to_float(bytes_of<X>::load(row + i + j * W).v);
          sum[j] += v;
          squares[j] = fma(v, v, squares[j]);
        }
      for (; i < end; i += W) {
        const int count = smaller(W, end - i);
        const V v = to_float(count == W ? bytes_of<X>::load(row + i).v
                                        : bytes_of<X>::load(row + i, count).v);
        sum[0] += v;
        squares[0] = fma(v, v, squares[0]);
      }
      sums.sum += add_lanes_of(sum[0] + sum[1]);
      sums.squares += uint64_t(add_lanes_of(squares[0])) +
                      uint64_t(add_lanes_of(squares[1]));
    }
    return sums;
  }

  /// The sum of lanes that hold integers of at most 24 bits.
  static NNC_INLINE int64_t add_lanes_of(V v) {
    float lanes[static_cast<size_t>(W)];
    spread(v, lanes);
    int32_t sum = 0;
    for (int i = 0; i < W; ++i)
      sum += static_cast<int32_t>(lanes[i]);
    return sum;
  }
};

template <class S, class Epi>
using layer_norm_i32_avx2 = layer_norm_bytes_t<8, S, Epi>;
template <class S, class Epi>
using layer_norm_i32_avx512 = layer_norm_bytes_t<16, S, Epi>;
template <class S, class Epi>
using layer_norm_i32_neon = layer_norm_bytes_t<4, S, Epi>;
template <class S, class Epi>
using layer_norm_i32_rvv = layer_norm_bytes_t<8, S, Epi>;
template <class S, class Epi>
using layer_norm_i32_sse4 = layer_norm_bytes_t<4, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_NORMALIZATION_LAYER_NORM_BYTES_H
