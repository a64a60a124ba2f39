//===- remainder.h - Loops over tiles with a remainder --------------------===//
//
// Loops that cut a range of points into register tiles of a constant size and
// a remainder, whose size may be known only when the routine runs. They call
// f(size, at) for the points [at, at + size); `size` is an integral_constant.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_TILES_REMAINDER_H
#define NNC_ROUTINES_TILES_REMAINDER_H

#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/shapes/policy.h"

namespace nnc {

/// The number of points that remain when `count(shape)` points are cut into
/// tiles of N; -1 where the shape is known only when the routine runs.
template <int N, class S, class Count>
NNC_FN constexpr int left_over([[maybe_unused]] Count count) {
  if constexpr (is_constant<S>)
    return count(S{}) % N;
  else
    return -1;
}

/// Covers [at, end) with tiles of N points and then one tile of LEFT points.
/// Where LEFT is -1, tiles of N / 2, N / 4, ..., 1 points cover the remainder.
template <int N, int LEFT, class F>
NNC_FN inline void in_tiles(int at, int end, const F &f) {
  for (; end - at >= N; at += N)
    f(integral_constant<int, N>(), at);
  if constexpr (LEFT > 0)
    f(integral_constant<int, LEFT>(), at);
  else if constexpr (LEFT < 0 && N > 1)
    in_tiles<N / 2, LEFT>(at, end, f);
}

/// Covers `count` points, which are at most N: N of them with one tile, fewer
/// with one tile of LEFT points or, where LEFT is -1, point by point.
template <int N, int LEFT, class F>
NNC_FN inline void in_one_tile(int count, const F &f) {
  if (count == N)
    return f(integral_constant<int, N>(), 0);
  if constexpr (LEFT > 0)
    f(integral_constant<int, LEFT>(), 0);
  else if constexpr (LEFT < 0)
    for (int at = 0; at < count; ++at)
      f(integral_constant<int, 1>(), at);
}

} // namespace nnc

#endif // NNC_ROUTINES_TILES_REMAINDER_H
