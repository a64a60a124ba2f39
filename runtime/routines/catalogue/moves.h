//===- moves.h - Which kernels of a GPU move the elements of a layer ------===//
#ifndef NNC_ROUTINES_CATALOGUE_MOVES_H
#define NNC_ROUTINES_CATALOGUE_MOVES_H

#include "runtime/routines/blocks/transposes.h"
#include "runtime/routines/catalogue/tile.h"
#include "runtime/routines/elementwise/view.h"
#include "runtime/routines/moves/copy/view.h"
#include "runtime/routines/shapes/values.h"

namespace nnc {

/// True if a copy moves whole tiles: its two sides are contiguous along
/// different axes, of which neither is as short as those of copy_channels().
template <class S> NNC_FN constexpr bool copy_transposes(const S &s) {
  return contiguous_axes(copy_view<S>{s}).differ() &&
         channels_of(copy_view<S>{s}) == 0;
}

/// Share of the peak rate of multiply-adds that copy_runs reaches. Where the
/// two sides are contiguous along different axes, a thread moves single
/// elements, of which one side has each in a sector of its own of the level-2
/// cache.
template <class S>
constexpr double copy_runs_efficiency(const tile_limits &t, const S &s) {
  constexpr double sector_bytes = 32;
  if (t.core.level2_rate == 0 || !contiguous_axes(copy_view<S>{s}).differ())
    return 0.3;
  return t.core.level2_rate / (sector_bytes * t.core.rate);
}

/// True if a copy moves an axis of `channels` elements.
template <class S>
NNC_FN constexpr bool copy_moves_channels(const S &s, int channels) {
  return channels_of(copy_view<S>{s}) == channels;
}

/// Chooses the kernel for a function of one tensor that also changes its
/// layout: returns the number of channels, 2 to 4, if elementwise_channels is
/// for it, 0 if elementwise_transposed is, and -1 if neither is.
template <class S> NNC_FN constexpr int transposed_channels(const S &s) {
  for (int i = 1; i < max_elementwise_inputs; ++i)
    for (int d = 0; d < s.rank; ++d)
      if (s.strides[i][d] != 0)
        return -1;
  const elementwise_view<S> view{s};
  return contiguous_axes(view).differ() ? channels_of(view) : -1;
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_MOVES_H
