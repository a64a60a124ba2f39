//===- rows.h - Rows of a tensor that warps or blocks compute -------------===//
//
// What the kernels of layers on rows share: a warp has a short row, a block a
// longer one. Threads hold the elements of a row in registers, or load them
// again if there are too many. Thread t has elements t N to t N + N - 1 of each
// N * threads, so that N elements are one move of 16 bytes where the row's
// length is a multiple of that, and tensors are aligned; elsewhere N is 1.
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

/// Elements of a row that a thread holds in registers, at most.
constexpr int row_values = 32;

/// The longest row that a warp has, and the longest one in registers.
constexpr int warp_row = warp_lanes * row_values,
              held_row = row_threads * row_values;

/// The grid of a kernel with a row of `size` elements for each of `rows`
/// results.
NNC_FN constexpr grid_size grid_of_rows(int rows, int size) {
  return {rows < 1           ? 1
          : size <= warp_row ? ceil_div(rows, row_warps)
                             : rows,
          1, 1};
}

/// The launch of such a kernel.
constexpr launch_size launch_of_rows(int rows, int size) {
  return {grid_of_rows(rows, size), row_threads, row_shared_bytes};
}

/// Combines one value of each lane by join(a, b), in a fixed order. All lanes
/// get the result.
template <class B, class Join>
NNC_INLINE float join_lanes(B &b, float v, const Join &join) {
  NNC_UNROLL
  for (int mask = warp_lanes / 2; mask > 0; mask /= 2)
    v = join(v, b.shuffle_xor(v, mask));
  return v;
}

/// The warp of a row.
struct row_warp {
  static constexpr int threads = warp_lanes;
  template <class B> static NNC_INLINE int index(const B &b) {
    return b.thread() % warp_lanes;
  }
  /// Combines one value of each thread of the row. All get the result.
  template <int PLACE, class B, class Join>
  static NNC_INLINE float all(B &b, float v, const Join &join) {
    return join_lanes(b, v, join);
  }
};

/// The block of a row.
struct row_block {
  static constexpr int threads = row_threads;
  template <class B> static NNC_INLINE int index(const B &b) {
    return b.thread();
  }
  /// The same, by way of the shared memory of the block's reduction PLACE.
  template <int PLACE, class B, class Join>
  static NNC_INLINE float all(B &b, float v, const Join &join) {
    const shared_address words =
        b.shared_base() + PLACE * row_warps * int(sizeof(float));
    v = join_lanes(b, v, join);
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

/// The part of a row that a thread holds in registers.
template <class Group, int N> class row_in_registers {
public:
  static constexpr int length = N;
  static constexpr bool keeps_changes = true;

  template <class B, class T>
  NNC_INLINE row_in_registers(B &b, const T *x, int size)
      : first(Group::index(b) * N), size(size) {
    NNC_UNROLL
    for (int i = 0; i < row_values / N; ++i)
      if (place(i) < size)
        load_elements(b, x + place(i), values[i]);
  }
  /// Calls f(v, at) for each N elements v, the first of which is element `at`
  /// of the row. Changes of v last.
  template <class B, class F> NNC_INLINE void each(B &, const F &f) {
    NNC_UNROLL
    for (int i = 0; i < row_values / N; ++i)
      if (place(i) < size)
        f(values[i], place(i));
  }

private:
  NNC_INLINE int place(int i) const { return first + i * Group::threads * N; }

  float values[row_values / N][N];
  const int first, size;
};

/// The part of a row that a thread loads in every pass.
template <class Group, int N, class T> class row_in_memory {
public:
  static constexpr int length = N;
  static constexpr bool keeps_changes = false;

  NNC_INLINE row_in_memory(const T *x, int size) : x(x), size(size) {}
  template <class B, class F> NNC_INLINE void each(B &b, const F &f) {
    for (int at = Group::index(b) * N; at < size; at += Group::threads * N) {
      float v[N];
      load_elements(b, x + at, v);
      f(v, at);
    }
  }

private:
  const T *const x;
  const int size;
};

/// Calls f(group, row, index) for the row of x[rows][size] that the thread has
/// a part of, if it has one. The grid is grid_of_rows().
template <int N, class B, class T, class F>
NNC_INLINE void with_row_of(B &b, int rows, int size, const T *x, const F &f) {
  if (size <= warp_row) {
    const int row = b.block_x() * row_warps + b.thread() / warp_lanes;
    if (row >= rows)
      return;
    row_in_registers<row_warp, N> held(b, x + ptrdiff_t(row) * size, size);
    f(row_warp(), held, row);
    return;
  }
  const int row = b.block_x();
  if (row >= rows)
    return;
  if (size <= held_row) {
    row_in_registers<row_block, N> held(b, x + ptrdiff_t(row) * size, size);
    f(row_block(), held, row);
  } else {
    row_in_memory<row_block, N, T> read(x + ptrdiff_t(row) * size, size);
    f(row_block(), read, row);
  }
}

/// The same with the N that the row's length allows, if `aligned` tells that
/// the tensors are.
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
