//===- rows.cuh - Layer normalization on a GPU ----------------------------===//
//
// The layer of portable.h for tensors of floats, halves or bf16, which are
// computed as floats, with the variance from a second pass; results are rounded
// once, when stored. A warp or a part of it has a row of up to 1024 elements
// and a block a longer one, as runtime/routines/blocks/rows.h describes.
//
// grid     grid_of_rows(outer, size)
// block    256 threads
// shared   row_shared_bytes, 64 bytes
// registers
//          at most 80 a thread
// from     sm_75 on
// reads    x, three times where threads do not hold a row in registers, else
//          once; scale and bias. y may be x
// writes   y
// error    that of sums in at least 8 parts, and of the rounding to y
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_NORMALIZATION_LAYER_NORM_ROWS_CUH
#define NNC_ROUTINES_NORMALIZATION_LAYER_NORM_ROWS_CUH

#include "runtime/cuda/block.h"
#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/blocks/elements.h"
#include "runtime/routines/blocks/rows.h"
#include "runtime/simd/math.h"
#include "runtime/simd/unroll.h"

namespace nnc {

template <class S, class Epi> struct layer_norm_rows {
  static constexpr int threads = row_threads, shared_bytes = row_shared_bytes;

  NNC_FN static constexpr grid_size grid(const S &s) {
    return grid_of_rows(s.outer, s.size);
  }

  template <class B, class X, class P, class Y>
  static NNC_INLINE void run(B &b, const S &s, const X *x, const P *scale,
                             const P *bias, Y *y, const Epi &epi) {
    b.wait_for_inputs();
    const bool aligned =
        are_aligned(x, scale, bias, y) && operands_are_aligned(epi);
    with_row(b, s.outer, s.size, x, aligned,
             [&](auto group, auto &row, int index) {
               run_row<decltype(group)>(b, s, row, scale, bias, y,
                                        ptrdiff_t(index) * s.size, epi);
             });
  }

private:
  /// Normalizes a row, whose results begin at y[first].
  template <class Group, class B, class Row, class P, class Y>
  static NNC_INLINE void run_row(B &b, const S &s, Row &row, const P *scale,
                                 const P *bias, Y *y, ptrdiff_t first,
                                 const Epi &epi) {
    constexpr int N = Row::length;
    const float size = static_cast<float>(s.size);
    float part[N] = {};
    row.each(b, [&](float(&v)[N], int) {
      NNC_UNROLL
      for (int j = 0; j < N; ++j)
        part[j] += v[j];
    });
    const float mean =
        Group::template all<0>(b, sum_of_parts(part), join_sums()) / size;

    float squares[N] = {};
    row.each(b, [&](float(&v)[N], int) {
      NNC_UNROLL
      for (int j = 0; j < N; ++j)
        squares[j] = fma(v[j] - mean, v[j] - mean, squares[j]);
    });
    const float variance =
        Group::template all<1>(b, sum_of_parts(squares), join_sums()) / size;
    const float factor = 1.0f / vec_sqrt(variance + s.epsilon);
    b.let_next_launch_begin();
    row.each(b, [&](float(&v)[N], int at) {
      float a[N], c[N], r[N];
      load_elements(b, scale + at, a);
      load_elements(b, bias + at, c);
      NNC_UNROLL
      for (int j = 0; j < N; ++j)
        r[j] = fma((v[j] - mean) * factor, a[j], c[j]);
      store_results(b, epi, r, y, first + at, at);
    });
  }
};

/// Layer normalization of tensors of one element type.
template <class S, class Epi> struct layer_norm_rows_sm75 {
  using kernels = kernel_list<layer_norm_rows<S, Epi>>;
  static constexpr int arch = 75;
};
template <class S, class Epi>
using layer_norm_bf16_rows_sm75 = layer_norm_rows_sm75<S, Epi>;
template <class S, class Epi>
using layer_norm_f16_rows_sm75 = layer_norm_rows_sm75<S, Epi>;
template <class S, class Epi>
using layer_norm_f32_rows_sm75 = layer_norm_rows_sm75<S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_NORMALIZATION_LAYER_NORM_ROWS_CUH
