//===- rows.cuh - Reductions of rows on a GPU -----------------------------===//
//
// The reductions of portable.h over the last axes (inner 1), for tensors of
// floats, halves or bf16, which are computed as floats; results are rounded
// once, when stored. A warp or a part of it has a row of up to 1024 elements
// and a block a longer one, as runtime/routines/blocks/rows.h describes.
//
// grid     grid_of_rows(outer, size)
// block    256 threads
// shared   row_shared_bytes, 64 bytes
// registers
//          at most 64 a thread
// from     sm_75 on
// reads    x, once; reduce_log_sum_exp twice where threads do not hold a row in
//          registers
// writes   y
// error    maxima and minima have none; others that of sums or products in at
//          least 8 parts, of the kind's function, and of the rounding to y
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_REDUCTION_REDUCE_ROWS_CUH
#define NNC_ROUTINES_REDUCTION_REDUCE_ROWS_CUH

#include "runtime/cuda/block.h"
#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/blocks/elements.h"
#include "runtime/routines/blocks/rows.h"
#include "runtime/routines/reduction/reduce/portable.h"
#include "runtime/simd/math.h"
#include "runtime/simd/unroll.h"

namespace nnc {

/// The largest (SIGN = 1) or smallest (-1) element; NaN if there is one.
template <int SIGN> struct reduce_kind_extreme : reduce_kind_sum {
  template <class T> NNC_FN static T start() { return before_all<SIGN, T>(); }
  template <class T> NNC_FN static T join(T a, T b) {
    const bool better = SIGN > 0 ? b > a : b < a;
    return better || b != b ? b : a;
  }
};
/// The logarithm of the sum of exponentials, which has a function of its own.
struct reduce_kind_log_sum_exp {};

template <class Kind, class S, class Epi> struct reduce_rows {
  static constexpr int threads = row_threads, shared_bytes = row_shared_bytes;
  /// The blocks for which a multiprocessor has to have registers. Without it,
  /// ptxas limits the logarithm of a sum of exponentials to the registers of
  /// five blocks, and spills.
  static constexpr int resident_blocks =
      is_same<Kind, reduce_kind_log_sum_exp>::value ? 4 : 0;

  NNC_FN static constexpr grid_size grid(const S &s) {
    return grid_of_rows(s.outer, s.size);
  }

  template <class B, class X, class Y>
  static NNC_INLINE void run(B &b, const S &s, const X *x, Y *y,
                             const Epi &epi) {
    b.wait_for_inputs();
    with_row(b, s.outer, s.size, x, are_aligned(x),
             [&](auto group, auto &row, int index) {
               using group_type = decltype(group);
               const float v = reduce<group_type>(b, s, row, Kind());
               b.let_next_launch_begin();
               const float r[1] = {v};
               if (group_type::index(b) == 0 && index < s.outer)
                 store_row_results(b, epi, r, y, index);
             });
  }

private:
  /// The join of a kind, as a function object.
  template <class K> struct joiner {
    NNC_INLINE float operator()(float a, float b) const {
      return K::template join<float>(a, b);
    }
  };

  /// Reduces a row in one pass.
  template <class Group, class B, class Row, class K>
  static NNC_INLINE float reduce(B &b, const S &s, Row &row, K) {
    constexpr int N = Row::length;
    float part[N];
    NNC_UNROLL
    for (float &p : part)
      p = K::template start<float>();
    row.each(b, [&](float(&v)[N], int) {
      NNC_UNROLL
      for (int j = 0; j < N; ++j)
        part[j] =
            K::template join<float>(part[j], K::template map<float>(v[j]));
    });
    return K::template finish<float>(
        Group::template all<0>(b, join_parts<K>(part), joiner<K>()), s.size);
  }

  /// Reduces a row to log(sum of e^x) in two passes. An infinite maximum is not
  /// taken out of the sum, as in portable.h.
  template <class Group, class B, class Row>
  static NNC_INLINE float reduce(B &b, const S &, Row &row,
                                 reduce_kind_log_sum_exp) {
    constexpr int N = Row::length;
    float largest = -HUGE_VALF;
    row.each(b, [&](float(&v)[N], int) {
      NNC_UNROLL
      for (int j = 0; j < N; ++j)
        largest = max_fast(v[j], largest);
    });
    largest = Group::template all<0>(b, largest, join_maxima());
    const float taken = largest - largest == 0.0f ? largest : 0.0f;
    float part[N] = {};
    row.each(b, [&](float(&v)[N], int) {
      NNC_UNROLL
      for (int j = 0; j < N; ++j)
        part[j] += nnc::exp(v[j] - taken);
    });
    return taken +
           nnc::log(Group::template all<1>(b, sum_of_parts(part), join_sums()));
  }

  template <class K, int N>
  static NNC_INLINE float join_parts(const float (&part)[N]) {
    float total = part[0];
    NNC_UNROLL
    for (int i = 1; i < N; ++i)
      total = K::template join<float>(total, part[i]);
    return total;
  }
};

/// Reductions of tensors of one element type.
template <class Kind, class S, class Epi> struct reduce_rows_sm75 {
  using kernels = kernel_list<reduce_rows<Kind, S, Epi>>;
  static constexpr int arch = 75;
};

/// Defines reduce_<name>_<type>_rows_sm75 for bf16, f16 and f32.
#define NNC_REDUCE_ROWS(NAME, KIND)                                            \
  template <class S, class Epi>                                                \
  using reduce_##NAME##_bf16_rows_sm75 = reduce_rows_sm75<KIND, S, Epi>;       \
  template <class S, class Epi>                                                \
  using reduce_##NAME##_f16_rows_sm75 = reduce_rows_sm75<KIND, S, Epi>;        \
  template <class S, class Epi>                                                \
  using reduce_##NAME##_f32_rows_sm75 = reduce_rows_sm75<KIND, S, Epi>;
NNC_REDUCE_ROWS(l1, reduce_kind_l1)
NNC_REDUCE_ROWS(l2, reduce_kind_l2)
NNC_REDUCE_ROWS(log_sum, reduce_kind_log_sum)
NNC_REDUCE_ROWS(log_sum_exp, reduce_kind_log_sum_exp)
NNC_REDUCE_ROWS(max, reduce_kind_extreme<1>)
NNC_REDUCE_ROWS(mean, reduce_kind_mean)
NNC_REDUCE_ROWS(min, reduce_kind_extreme<-1>)
NNC_REDUCE_ROWS(prod, reduce_kind_prod)
NNC_REDUCE_ROWS(sum, reduce_kind_sum)
NNC_REDUCE_ROWS(sum_square, reduce_kind_sum_square)
#undef NNC_REDUCE_ROWS

} // namespace nnc

#endif // NNC_ROUTINES_REDUCTION_REDUCE_ROWS_CUH
