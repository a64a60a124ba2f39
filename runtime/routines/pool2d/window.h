//===- window.h - The part of a pooling window that lies inside -----------===//
#ifndef NNC_ROUTINES_POOL2D_WINDOW_H
#define NNC_ROUTINES_POOL2D_WINDOW_H

namespace nnc {

/// The window's taps i in [from, to) with 0 <= at + i * dilation < size.
struct pool_range {
  int from, to;
  constexpr pool_range(int at, int dilation, int taps, int low, int size)
      : from(at < low ? (low - at + dilation - 1) / dilation : 0),
        to(at >= size ? 0 : (size - at + dilation - 1) / dilation) {
    to = to < taps ? to : taps;
    from = from < to ? from : to;
  }
  constexpr int count() const { return to - from; }
};

} // namespace nnc

#endif // NNC_ROUTINES_POOL2D_WINDOW_H
