//===- pieces.h - What tiles of a constant size leave over ----------------===//
//
// How many points a tile covers is a constant; how many there are to cover may
// be known when the routine runs only. f is called as f(size, at), where size
// is a std::integral_constant, to do [at, at + size).
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_PIECES_H
#define NNC_ROUTINES_PIECES_H

#include "runtime/routines/policy.h"

#include <type_traits>

namespace nnc {

/// What tiles of N leave over of `count(shape)` points, -1 where that is not
/// known before the routine runs.
template <int N, class S, class Count>
constexpr int left_over([[maybe_unused]] Count count) {
  if constexpr (is_constant<S>)
    return count(S{}) % N;
  else
    return -1;
}

/// Tiles of N over [at, end), then one of LEFT points; where LEFT is not known,
/// of N / 2, N / 4, ..., 1.
template <int N, int LEFT, class F>
inline void in_tiles(int at, int end, const F &f) {
  for (; end - at >= N; at += N)
    f(std::integral_constant<int, N>(), at);
  if constexpr (LEFT > 0)
    f(std::integral_constant<int, LEFT>(), at);
  else if constexpr (LEFT < 0 && N > 1)
    in_tiles<N / 2, LEFT>(at, end, f);
}

/// A tile of N or, where there are fewer, of LEFT; where LEFT is not known, one
/// by one.
template <int N, int LEFT, class F>
inline void in_one_tile(int count, const F &f) {
  if (count == N)
    return f(std::integral_constant<int, N>(), 0);
  if constexpr (LEFT > 0)
    f(std::integral_constant<int, LEFT>(), 0);
  else if constexpr (LEFT < 0)
    for (int at = 0; at < count; ++at)
      f(std::integral_constant<int, 1>(), at);
}

} // namespace nnc

#endif // NNC_ROUTINES_PIECES_H
