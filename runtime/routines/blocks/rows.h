//===- rows.h - Rows of a tensor that warps or blocks compute -------------===//
//
// The parts that kernels of layers on rows have in common: a warp or a part of
// it has a short row, a block a longer one. Threads hold the elements of a row
// in registers, or load them again if there are too many. Thread t has elements
// t N to t N + N - 1 of each N * threads, so that N elements are one move of 16
// bytes where the row's length is a multiple of that, and tensors are aligned;
// elsewhere N is 1.
//
// A thread loads the elements that it stores, and no others, so that results
// may overwrite the row.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_BLOCKS_ROWS_H
#define NNC_ROUTINES_BLOCKS_ROWS_H

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/blocks/elements.h"
#include "runtime/simd/unroll.h"

#include <stddef.h>

namespace nnc {

/// Threads of a block of such a kernel, and the warps and bytes of shared
/// memory that it has. A block has at most two reductions.
constexpr int row_threads = 256, row_warps = row_threads / warp_lanes,
              row_shared_bytes = 2 * row_warps * int(sizeof(float));

/// Elements of a row that a thread holds in registers, at most: few of a short
/// row, which 8 or 16 lanes of a warp have, and of one that is loaded element
/// by element. Registers for more of those would leave a multiprocessor with
/// half the warps. So a warp holds up to 1024 elements, or 256 one by one, and
/// a block up to 8192, or 2048 one by one.
constexpr int few_values = 8, row_values = 32;

/// The number of threads that compute a row of `size` elements together.
NNC_FN constexpr int threads_of_row(int size) {
  return size <= 8 * few_values            ? 8
         : size <= 16 * few_values         ? 16
         : size <= warp_lanes * row_values ? warp_lanes
                                           : row_threads;
}

/// The grid of a kernel with a row of `size` elements for each of `rows`
/// results.
NNC_FN constexpr grid_size grid_of_rows(int rows, int size) {
  return {larger(1, ceil_div(rows, row_threads / threads_of_row(size))), 1, 1};
}

/// The launch of such a kernel.
constexpr launch_size launch_of_rows(int rows, int size) {
  return {grid_of_rows(rows, size), row_threads, row_shared_bytes};
}

/// Combines one value of each of the LANES lanes of a warp that belong
/// together by join(a, b), in a fixed order. All of them get the result.
template <int LANES, class B, class Join>
NNC_INLINE float join_lanes(B &b, float v, const Join &join) {
  NNC_UNROLL
  for (int mask = LANES / 2; mask > 0; mask /= 2)
    v = join(v, b.shuffle_xor(v, mask));
  return v;
}

/// The lanes of a row, a warp or a part of one.
template <int LANES> struct row_lanes {
  static constexpr int threads = LANES,
                       values = LANES < warp_lanes ? few_values : row_values;
  template <class B> static NNC_INLINE int index(const B &b) {
    return b.thread() % LANES;
  }
  /// Combines one value of each thread of the row. All get the result.
  template <int PLACE, class B, class Join>
  static NNC_INLINE float all(B &b, float v, const Join &join) {
    return join_lanes<LANES>(b, v, join);
  }
};

/// The block of a row.
struct row_block {
  static constexpr int threads = row_threads, values = row_values;
  template <class B> static NNC_INLINE int index(const B &b) {
    return b.thread();
  }
  /// Combines one value of each thread of the block, by way of the shared
  /// memory of its reduction PLACE, 0 or 1. All threads get the result.
  template <int PLACE, class B, class Join>
  static NNC_INLINE float all(B &b, float v, const Join &join) {
    const shared_address words =
        b.shared_base() + PLACE * row_warps * int(sizeof(float));
    v = join_lanes<warp_lanes>(b, v, join);
    if (b.thread() % warp_lanes == 0)
      b.store_shared(words + b.thread() / warp_lanes * int(sizeof(float)), v);
    b.barrier();
    float total = b.template load_shared<float>(words);
    NNC_UNROLL
    for (int warp = 1; warp < row_warps; ++warp)
      total = join(total, b.template load_shared<float>(
                              words + warp * int(sizeof(float))));
    return total;
  }
};

/// The part of a row that a thread holds in registers. Element `first` is its
/// first one; if that is `size` it has none.
template <class Group, int N, int VALUES> class row_in_registers {
public:
  static constexpr int length = N;
  static constexpr bool keeps_changes = true;

  template <class B, class T>
  NNC_INLINE row_in_registers(B &b, const T *x, int first, int size)
      : first(first), size(size) {
    x += first;
    NNC_UNROLL
    for (int i = 0; i < count; ++i)
      if (place(i) < size)
        load_elements(b, x + i * Group::threads * N, values[i]);
  }
  /// Calls f(v, at) for each N elements v, the first of which is element `at`
  /// of the row. Changes of v last.
  template <class B, class F> NNC_INLINE void each(B &, const F &f) {
    NNC_UNROLL
    for (int i = 0; i < count; ++i)
      if (place(i) < size)
        f(values[i], place(i));
  }

private:
  static constexpr int count = VALUES / N;
  NNC_INLINE int place(int i) const { return first + i * Group::threads * N; }

  float values[count][N];
  const int first, size;
};

/// The part of a row that a thread loads in every pass.
template <class Group, int N, class T> class row_in_memory {
public:
  static constexpr int length = N;
  static constexpr bool keeps_changes = false;

  NNC_INLINE row_in_memory(const T *x, int first, int size)
      : x(x), first(first), size(size) {}
  template <class B, class F> NNC_INLINE void each(B &b, const F &f) {
    NNC_KEEP_LOOP
    for (int at = first; at < size; at += Group::threads * N) {
      float v[N];
      load_elements(b, x + at, v);
      f(v, at);
    }
  }

private:
  const T *const x;
  const int first, size;
};

/// Calls f(group, row, index) for the row that a group of threads has. A group
/// beyond the last row, whose lanes take part in shuffles, has no elements.
template <class Group, int N, class B, class T, class F>
NNC_INLINE void with_group(B &b, int rows, int size, const T *x, const F &f) {
  constexpr int values = N > 1 ? Group::values : few_values;
  const int row = b.block_x() * (row_threads / Group::threads) +
                  b.thread() / Group::threads;
  const int first = row < rows ? Group::index(b) * N : size;
  x += ptrdiff_t(row) * size;
  if (Group::threads < warp_lanes || size <= Group::threads * values) {
    row_in_registers<Group, N, values> held(b, x, first, size);
    f(Group(), held, row);
  } else {
    row_in_memory<Group, N, T> read(x, first, size);
    f(Group(), read, row);
  }
}

/// Calls f(group, row, index) for the row of x[rows][size] that the thread has
/// a part of. If there is none, index >= rows. The grid is grid_of_rows().
template <int N, class B, class T, class F>
NNC_INLINE void with_row_of(B &b, int rows, int size, const T *x, const F &f) {
  const int threads = threads_of_row(size);
  if (threads == 8)
    with_group<row_lanes<8>, N>(b, rows, size, x, f);
  else if (threads == 16)
    with_group<row_lanes<16>, N>(b, rows, size, x, f);
  else if (threads == warp_lanes)
    with_group<row_lanes<warp_lanes>, N>(b, rows, size, x, f);
  else
    with_group<row_block, N>(b, rows, size, x, f);
}

/// Calls f() as the function above does, with rows in moves of as many elements
/// as the row's length allows: 16 bytes, or one element. `aligned` tells that
/// all tensors of the layer are aligned to 16 bytes.
template <class B, class T, class F>
NNC_INLINE void with_row(B &b, int rows, int size, const T *x, bool aligned,
                         const F &f) {
  if (size % elements_of_move<T> == 0 && aligned)
    with_row_of<elements_of_move<T>>(b, rows, size, x, f);
  else
    with_row_of<1>(b, rows, size, x, f);
}

/// The joins of sums and maxima. A maximum ignores NaN.
struct join_sums {
  NNC_INLINE float operator()(float a, float b) const { return a + b; }
};
struct join_maxima {
  NNC_INLINE float operator()(float a, float b) const { return max_fast(a, b); }
};

/// The sum of N partial sums.
template <int N> NNC_INLINE float sum_of_parts(const float (&part)[N]) {
  float sum = part[0];
  NNC_UNROLL
  for (int i = 1; i < N; ++i)
    sum += part[i];
  return sum;
}

} // namespace nnc

#endif // NNC_ROUTINES_BLOCKS_ROWS_H
