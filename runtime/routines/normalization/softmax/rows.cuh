//===- rows.cuh - Softmax on a GPU ----------------------------------------===//
//
// The layer of portable.h for tensors of floats, halves or bf16, which are
// computed as floats; results are rounded once, when stored. Where the axis is
// the last one (inner 1), a warp or a part of it has a row of up to 1024
// elements and a block a longer one, as runtime/routines/blocks/rows.h
// describes. Elsewhere a thread has a row, and its neighbours have the rows
// beside it in memory.
//
// grid     inner 1: grid_of_rows(outer, size); else ceil(outer * inner / 256)
// block    256 threads
// shared   row_shared_bytes, 64 bytes
// registers
//          at most 80 a thread
// from     sm_75 on
// reads    x, three times where inner > 1 or threads do not hold a row in
//          registers, else once. y may be x
// writes   y
// error    4 ulp of the result for the rounded differences x - max, and that of
//          the rounding to y. Sums are made in at least 8 parts
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_NORMALIZATION_SOFTMAX_ROWS_CUH
#define NNC_ROUTINES_NORMALIZATION_SOFTMAX_ROWS_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/blocks/elements.h"
#include "runtime/routines/blocks/rows.h"
#include "runtime/simd/math.h"
#include "runtime/simd/unroll.h"

namespace nnc {

template <class S, class Epi> struct softmax_rows {
  static constexpr int threads = row_threads, shared_bytes = row_shared_bytes;

  NNC_FN static constexpr grid_size grid(const S &s) {
    if (s.inner == 1)
      return grid_of_rows(s.outer, s.size);
    const int blocks = ceil_div(s.outer * s.inner, threads);
    return {blocks > 1 ? blocks : 1, 1, 1};
  }

  template <class B, class X, class Y>
  static NNC_INLINE void run(B &b, const S &s, const X *x, Y *y,
                             const Epi &epi) {
    b.wait_for_inputs();
    if (s.inner == 1)
      with_row(b, s.outer, s.size, x, are_aligned(x, y),
               [&](auto group, auto &row, int index) {
                 run_row<decltype(group)>(b, s, row, y,
                                          ptrdiff_t(index) * s.size, epi);
               });
    else
      run_column(b, s, x, y, epi);
  }

private:
  /// Computes one softmax along contiguous elements, whose results begin at
  /// y[first].
  template <class Group, class B, class Row, class Y>
  static NNC_INLINE void run_row(B &b, const S &s, Row &row, Y *y,
                                 ptrdiff_t first, const Epi &epi) {
    constexpr int N = Row::length;
    float largest = -HUGE_VALF;
    row.each(b, [&](float(&v)[N], int) {
      NNC_UNROLL
      for (int j = 0; j < N; ++j)
        largest = max_fast(v[j], largest);
    });
    largest = Group::template all<0>(b, largest, join_maxima());

    // Exponentials stay in registers until their sum is known.
    float part[N] = {};
    row.each(b, [&](float(&v)[N], int) {
      NNC_UNROLL
      for (int j = 0; j < N; ++j) {
        const float e = nnc::exp(v[j] - largest);
        part[j] += e;
        if (Row::keeps_changes && !s.log)
          v[j] = e;
      }
    });
    const float sum =
        Group::template all<1>(b, sum_of_parts(part), join_sums());
    const float scale = 1.0f / sum, shift = s.log ? nnc::log(sum) : 0.0f;
    b.let_next_launch_begin();
    row.each(b, [&](float(&v)[N], int at) {
      float r[N];
      NNC_UNROLL
      for (int j = 0; j < N; ++j)
        r[j] = s.log                ? (v[j] - largest) - shift
               : Row::keeps_changes ? v[j] * scale
                                    : nnc::exp(v[j] - largest) * scale;
      store_row_results(b, epi, r, y, first + at);
    });
  }

  /// Elements of a column that are loaded at once.
  static constexpr int at_once = 8;

  /// Calls f(j, v) for each element v of a column of which j is the remainder
  /// by at_once, in order.
  template <class B, class X, class F>
  static NNC_INLINE void each(B &b, const S &s, const X *x, const F &f) {
    NNC_KEEP_LOOP
    for (int i = 0; i < s.size; i += at_once) {
      float v[at_once][1];
      NNC_UNROLL
      for (int j = 0; j < at_once; ++j)
        if (i + j < s.size)
          load_elements(b, x + ptrdiff_t(i + j) * s.inner, v[j]);
      NNC_UNROLL
      for (int j = 0; j < at_once; ++j)
        if (i + j < s.size)
          f(i + j, j, v[j][0]);
    }
  }

  /// Computes the thread's softmax, whose elements are `inner` apart.
  template <class B, class X, class Y>
  static NNC_INLINE void run_column(B &b, const S &s, const X *x, Y *y,
                                    const Epi &epi) {
    const int unit = b.block_x() * threads + b.thread();
    if (unit >= s.outer * s.inner)
      return;
    const ptrdiff_t first =
        ptrdiff_t(unit / s.inner) * s.size * s.inner + unit % s.inner;
    float largest = -HUGE_VALF;
    each(b, s, x + first,
         [&](int, int, float v) { largest = max_fast(v, largest); });
    float part[at_once] = {};
    each(b, s, x + first,
         [&](int, int j, float v) { part[j] += nnc::exp(v - largest); });
    const float sum = sum_of_parts(part);
    const float scale = 1.0f / sum, shift = s.log ? nnc::log(sum) : 0.0f;
    b.let_next_launch_begin();
    each(b, s, x + first, [&](int i, int, float v) {
      const float r[1] = {s.log ? (v - largest) - shift
                                : nnc::exp(v - largest) * scale};
      store_row_results(b, epi, r, y, first + ptrdiff_t(i) * s.inner);
    });
  }
};

/// Softmax of tensors of one element type.
template <class S, class Epi> struct softmax_rows_sm75 {
  using kernels = kernel_list<softmax_rows<S, Epi>>;
  static constexpr int arch = 75;
};
template <class S, class Epi>
using softmax_bf16_rows_sm75 = softmax_rows_sm75<S, Epi>;
template <class S, class Epi>
using softmax_f16_rows_sm75 = softmax_rows_sm75<S, Epi>;
template <class S, class Epi>
using softmax_f32_rows_sm75 = softmax_rows_sm75<S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_NORMALIZATION_SOFTMAX_ROWS_CUH
