//===- window.h - Taps of a pooling window inside the image ---------------===//
#ifndef NNC_ROUTINES_POOLING_POOL2D_WINDOW_H
#define NNC_ROUTINES_POOLING_POOL2D_WINDOW_H

#include "runtime/functions.h"

namespace nnc {

/// The range [from, to) of taps i of a window, along one axis, that lie in
/// [low, size): low <= at + i * dilation < size.
struct pool_range {
  int from, to;
  NNC_FN constexpr pool_range(int at, int dilation, int taps, int low, int size)
      : from(at < low ? (low - at + dilation - 1) / dilation : 0),
        to(at >= size ? 0 : (size - at + dilation - 1) / dilation) {
    to = to < taps ? to : taps;
    from = from < to ? from : to;
  }
  NNC_FN constexpr int count() const { return to - from; }
};

} // namespace nnc

#endif // NNC_ROUTINES_POOLING_POOL2D_WINDOW_H
