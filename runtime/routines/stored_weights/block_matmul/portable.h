//===- portable.h - Product with weights of few bits on any machine -------===//
//
// y[m][n] = epi(sum over k of x[m][k] * w[n][k]), where w are the floats that
// 4-bit or 8-bit integers represent; see shape.h. x and y are row-major. A sum
// over the weights that share a scale is multiplied by it once. A unit is a
// panel of 32 columns.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_BLOCK_MATMUL_PORTABLE_H
#define NNC_ROUTINES_STORED_WEIGHTS_BLOCK_MATMUL_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/stored_weights/block_matmul/plan.h"

#include <stdint.h>

namespace nnc {

/// The row-major form of the operands: q is [n][k], a byte each, and scales and
/// zero points are [n][ceil(k / block)]. This is the reference.
struct block_plain {
  NNC_FN static ptrdiff_t parameter(int column, int group, int groups) {
    return ptrdiff_t(column) * groups + group;
  }
  /// Sum of x[i] * (q[i] - zero) of a column for i in [begin, end).
  template <class S>
  NNC_FN static float sum(const S &s, const float *x, const uint8_t *q,
                          int column, int begin, int end, int zero) {
    const uint8_t *w = q + ptrdiff_t(column) * s.k;
    float sum = 0;
    for (int i = begin; i < end; ++i)
      sum += x[i] * float(w[i] - zero);
    return sum;
  }
};

/// The packed form of the operands: q are words of 4-bit weights in panels, and
/// scales and zero points are in blocks of 32 columns; see plan.h.
struct block_int4 {
  using words = block_words<4>;
  NNC_FN static ptrdiff_t parameter(int column, int group, int groups) {
    const int panel = column / words::columns, lane = column % words::columns;
    return (ptrdiff_t(panel) * groups + group) * words::columns + lane;
  }
  template <class S>
  NNC_FN static float sum(const S &s, const float *x, const uint8_t *q,
                          int column, int begin, int end, int zero) {
    const int panel = column / words::columns, lane = column % words::columns;
    const uint8_t *w = q + panel * words::panel(s.k) + 4 * lane;
    float sum = 0;
    for (int i = begin; i < end; i += 2) {
      const int word = i / words::weights, byte = i % words::weights / 2;
      const int pair = w[ptrdiff_t(word) * words::columns * 4 + byte];
      sum += x[i] * float((pair & 15) - zero);
      if (i + 1 < end)
        sum += x[i + 1] * float((pair >> 4) - zero);
    }
    return sum;
  }
};

template <class Storage, class S, class Epi> struct block_matmul_scalar {
  static constexpr int columns = block_words<4>::columns; ///< of a unit
  NNC_FN static constexpr int units(const S &s) {
    return ceil_div(s.n, columns);
  }

  NNC_FN static void run(const S &s, const float *x, const uint8_t *q,
                         const float *scales, const uint8_t *zero_points,
                         float *y, const Epi &epi, int begin, int end) {
    const int last = smaller(end * columns, s.n);
    for (int row = 0; row < s.m; ++row)
      for (int column = begin * columns; column < last; ++column) {
        const ptrdiff_t at = ptrdiff_t(row) * s.n + column;
        y[at] = epi(
            value(s, x + ptrdiff_t(row) * s.k, q, scales, zero_points, column),
            position<true>{at, column});
      }
  }

private:
  NNC_FN static float value(const S &s, const float *x, const uint8_t *q,
                            const float *scales, const uint8_t *zero_points,
                            int column) {
    const int groups = block_groups(s);
    float total = 0;
    for (int group = 0; group < groups; ++group) {
      const ptrdiff_t at = Storage::parameter(column, group, groups);
      const int zero = zero_points[s.shared_zero ? 0 : at];
      const int first = group * s.block;
      const int last = s.k - first <= s.block ? s.k : first + s.block;
      total += Storage::sum(s, x, q, column, first, last, zero) * scales[at];
    }
    return total;
  }
};

template <class S, class Epi>
using block_matmul_portable = block_matmul_scalar<block_plain, S, Epi>;
template <class S, class Epi>
using block_matmul_int4_portable = block_matmul_scalar<block_int4, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_BLOCK_MATMUL_PORTABLE_H
