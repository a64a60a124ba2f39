//===- blocks.cuh - A function of each element on a GPU -------------------===//
//
// The layers of elementwise.h, for tensors of all types. `BYTES` is the size of
// an element of the first input.
//
// A thread computes 16 / BYTES consecutive elements of a row of y, and moves 16
// bytes at once of each tensor whose elements have that size. Inputs may be
// constant along the row, for which the thread loads one element. Where rows or
// tensors do not begin at multiples of such a run, it computes single elements.
//
// grid     grid(s): threads along x, for each run or, where the shape has none,
//          for each element
// block    256 threads
// shared   none
// registers
//          at most 128 a thread, for four inputs
// from     sm_75 on
// reads    each element of an input once for each element of y that needs it,
//          or once for each run along which it is constant
// writes   y, which may be an input
// error    that of the function, which is the same as on a CPU
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_ELEMENTWISE_BLOCKS_CUH
#define NNC_ROUTINES_ELEMENTWISE_BLOCKS_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/blocks/moves.h"
#include "runtime/routines/shapes/rows.h"
#include "runtime/simd/unroll.h"

namespace nnc {

/// A run of N elements of an input, `stride` elements apart.
template <class X, int N> struct input_run {
  X value[N];

  template <class B> NNC_INLINE input_run(B &b, const X *x, int stride) {
    if (stride == 1) {
      load_values(b, x, value);
    } else if (stride == 0) {
      const X one = b.load_global(x);
      NNC_UNROLL
      for (X &v : value)
        v = one;
    } else {
      NNC_UNROLL
      for (int i = 0; i < N; ++i)
        value[i] = b.load_global(x + ptrdiff_t(i) * stride);
    }
  }
};

template <int BYTES, class S, class F> struct elementwise_runs {
  static constexpr int threads = move_threads, shared_bytes = 0;
  /// Elements of a run.
  static constexpr int length = 16 / BYTES;

  NNC_FN static constexpr grid_size grid(const S &s) {
    const int count = elements(s);
    return grid_of_moves(has_runs(s) ? (count - 1) / length + 1 : count);
  }

  template <class B, class... A>
  static NNC_INLINE void run(B &b, const S &s, A... arguments) {
    static_assert(sizeof...(A) > 2, "inputs, y, f");
    rotate<sizeof...(A) - 2>(b, s, arguments...);
  }

private:
  NNC_FN static constexpr int elements(const S &s) {
    return count_rows(s) * s.dims[s.rank - 1];
  }
  /// True if rows of y consist of whole runs; a single row may end with a part
  /// of one.
  NNC_FN static constexpr bool has_runs(const S &s) {
    return s.rank == 1 || s.dims[s.rank - 1] % length == 0;
  }
  /// True if each row of an input begins at a multiple of a run, or has one
  /// value.
  template <class Strides>
  NNC_FN static constexpr bool fits(const S &s, const Strides &strides) {
    int all = 0;
    for (int d = 0; d + 1 < s.rank; ++d)
      all |= strides[d];
    return strides[s.rank - 1] != 1 || all % length == 0;
  }

  /// Moves `Inputs` arguments behind the others, where a parameter pack can
  /// take them.
  template <size_t Inputs, class B, class First, class... Rest>
  static NNC_INLINE void rotate(B &b, const S &s, First first, Rest... rest) {
    if constexpr (Inputs == 0)
      run_all(b, s, first, rest...);
    else
      rotate<Inputs - 1>(b, s, rest..., first);
  }
  template <class B, class Y, class... X>
  static NNC_INLINE void run_all(B &b, const S &s, Y *y, const F &f,
                                 const X *...x) {
    run_indexed(b, s, index_sequence_for<X...>{}, y, f, x...);
  }
  template <class B, size_t... I, class Y, class... X>
  static NNC_INLINE void run_indexed(B &b, const S &s,
                                     index_sequence<I...> sequence, Y *y,
                                     const F &f, const X *...x) {
    b.wait_for_inputs();
    const bool whole =
        has_runs(s) && are_aligned(y, x...) && (fits(s, s.strides[I]) && ...);
    const int count = elements(s);
    if (whole)
      each_unit(b, grid(s), (count - 1) / length + 1, [&](int unit) {
        const int at = unit * length;
        if (count - at >= length)
          run_one<length>(b, s, sequence, y, f, at, x...);
        else
          for (int i = at; i < count; ++i)
            run_one<1>(b, s, sequence, y, f, i, x...);
      });
    else
      each_unit(b, grid(s), count,
                [&](int at) { run_one<1>(b, s, sequence, y, f, at, x...); });
  }

  /// Computes N elements of a row of y, the first of which is y[at].
  template <int N, class B, size_t... I, class Y, class... X>
  static NNC_INLINE void run_one(B &b, const S &s, index_sequence<I...>, Y *y,
                                 const F &f, int at, const X *...x) {
    const int last = s.rank - 1;
    int place[] = {(static_cast<void>(x), 0)...}, rest = at;
    for (int d = last; d >= 0; --d) {
      const int index = d > 0 ? rest % s.dims[d] : rest;
      rest = d > 0 ? rest / s.dims[d] : 0;
      ((place[I] += index * s.strides[I][d]), ...);
    }
    apply<N>(b, y + at, f,
             input_run<X, N>(b, x + place[I], s.strides[I][last])...);
  }
  template <int N, class B, class Y, class... X>
  static NNC_INLINE void apply(B &b, Y *y, const F &f,
                               const input_run<X, N> &...x) {
    decltype(f(argument_value(x.value[0])...)) r[N];
    NNC_UNROLL
    for (int i = 0; i < N; ++i)
      r[i] = f(argument_value(x.value[i])...);
    store_values(b, y, r);
  }
};

/// The routine for a first input whose elements have BYTES bytes.
template <int BYTES, class S, class F> struct elementwise_runs_sm75 {
  using kernels = kernel_list<elementwise_runs<BYTES, S, F>>;
  static constexpr int arch = 75;
};
template <class S, class F>
using elementwise_bf16_sm75 = elementwise_runs_sm75<2, S, F>;
template <class S, class F>
using elementwise_byte_sm75 = elementwise_runs_sm75<1, S, F>;
template <class S, class F>
using elementwise_f16_sm75 = elementwise_runs_sm75<2, S, F>;
template <class S, class F>
using elementwise_f32_sm75 = elementwise_runs_sm75<4, S, F>;
template <class S, class F>
using elementwise_i1_sm75 = elementwise_runs_sm75<1, S, F>;
template <class S, class F>
using elementwise_i32_sm75 = elementwise_runs_sm75<4, S, F>;
template <class S, class F>
using elementwise_i64_sm75 = elementwise_runs_sm75<8, S, F>;

} // namespace nnc

#endif // NNC_ROUTINES_ELEMENTWISE_BLOCKS_CUH
