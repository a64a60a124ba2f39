//===- moves.h - Runs of elements that a thread moves at once -------------===//
//
// Functions for kernels that move elements. A thread has a run of consecutive
// elements of the result: 16 bytes of them, or fewer where the rows of the
// tensors do not begin at multiples of 16 bytes. All indices count elements,
// and fit an int.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_BLOCKS_MOVES_H
#define NNC_ROUTINES_BLOCKS_MOVES_H

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/blocks/elements.h"
#include "runtime/simd/half.h"
#include "runtime/simd/unroll.h"

#include <stddef.h>
#include <stdint.h>

namespace nnc {

/// Threads of a block of a kernel that moves elements.
constexpr int move_threads = 256;

/// The grid of a kernel that has one thread for each of `units` units of work,
/// at least one block.
NNC_FN constexpr grid_size grid_of_moves(int units) {
  return {larger(1, (units - 1) / move_threads + 1), 1, 1};
}

/// Calls f(unit) for each of the thread's units. The threads of the grid share
/// `units` units; they have one each where the grid is grid_of_moves(units).
/// Lets the next launch begin.
template <class B, class F>
NNC_INLINE void each_unit(B &b, grid_size grid, int units, const F &f) {
  b.let_next_launch_begin();
  NNC_KEEP_LOOP
  for (int64_t unit = int64_t(b.block_x()) * move_threads + b.thread();
       unit < units; unit += int64_t(grid.x) * move_threads)
    f(int(unit));
}

/// The largest power of two that divides `all`, which is several numbers
/// combined by |, but at most `most`, a power of two.
NNC_FN constexpr int common_run(int all, int most) {
  while (all % most != 0)
    most /= 2;
  return most;
}

/// Loads N elements in moves of up to 16 bytes, to which `from` is aligned.
template <int N, class B, class T>
NNC_INLINE void load_values(B &b, const T *from, T (&v)[N]) {
  constexpr int part = smaller(N, elements_of_move<T>);
  using move = moved_elements<T, part>;
  NNC_UNROLL
  for (int i = 0; i < N; i += part) {
    const move m = b.load_global(reinterpret_cast<const move *>(from + i));
    NNC_UNROLL
    for (int j = 0; j < part; ++j)
      v[i + j] = m.element[j];
  }
}

/// Stores N results, converted to Y, in moves of up to 16 bytes, to which `to`
/// is aligned.
template <int N, class B, class Y, class R>
NNC_INLINE void store_values(B &b, Y *to, const R (&r)[N]) {
  constexpr int part = smaller(N, elements_of_move<Y>);
  using number = conditional_t<is_half<Y>, float, Y>;
  NNC_UNROLL
  for (int i = 0; i < N; i += part) {
    number v[part];
    NNC_UNROLL
    for (int j = 0; j < part; ++j)
      v[j] = static_cast<number>(r[i + j]);
    store_elements(b, to + i, v);
  }
}

/// Stores one result, converted to Y.
template <class B, class Y, class R>
NNC_INLINE void store_value(B &b, Y *to, R r) {
  const R one[1] = {r};
  store_values(b, to, one);
}

/// x in the type in which functors take it: 16-bit floats as float, all other
/// types as they are.
template <class X> NNC_INLINE auto argument_value(X x) {
  if constexpr (holds_float<X>)
    return static_cast<float>(x);
  else
    return x;
}

/// Moves the first `count` elements of a run of N. If all of them are moved,
/// both ends are aligned to the size of N elements.
template <int N, class B, class T>
NNC_INLINE void move_elements(B &b, const T *from, T *to, int count) {
  if (count >= N) {
    using move = moved_elements<T, N>;
    b.store_global(reinterpret_cast<move *>(to),
                   b.load_global(reinterpret_cast<const move *>(from)));
    return;
  }
  NNC_KEEP_LOOP
  for (int i = 0; i < count; ++i)
    b.store_global(to + i, b.load_global(from + i));
}

/// Moves a run of `run` elements, a power of two of at most 16 bytes, or its
/// first `count` elements.
template <class B, class T>
NNC_INLINE void move_run(B &b, const T *from, T *to, int run, int count) {
  constexpr int most = elements_of_move<T>;
  if (run == most)
    return move_elements<most>(b, from, to, count);
  if constexpr (most > 2)
    if (run == most / 2)
      return move_elements<most / 2>(b, from, to, count);
  if constexpr (most > 4)
    if (run == most / 4)
      return move_elements<most / 4>(b, from, to, count);
  if constexpr (most > 8)
    if (run == most / 8)
      return move_elements<most / 8>(b, from, to, count);
  b.store_global(to, b.load_global(from));
}

/// The run that a thread moves at once if `run` is what the shape allows: one
/// element if a tensor is not aligned to 16 bytes.
template <class... T> NNC_INLINE int aligned_run(int run, const T *...tensors) {
  return are_aligned(tensors...) ? run : 1;
}

} // namespace nnc

#endif // NNC_ROUTINES_BLOCKS_MOVES_H
