//===- source.h - Where an element of a padded tensor comes from ----------===//
#ifndef NNC_ROUTINES_MOVES_PAD_SOURCE_H
#define NNC_ROUTINES_MOVES_PAD_SOURCE_H

#include "runtime/functions.h"

namespace nnc {

/// Index along axis d of x that element i of y comes from, or -1 for `value`.
template <class S> NNC_FN constexpr int pad_source(const S &s, int d, int i) {
  const int size = s.in_dims[d];
  int at = i - s.before[d];
  if (at >= 0 && at < size)
    return at;
  switch (s.mode) {
  case 1: {
    if (size == 1)
      return 0;
    const int period = 2 * (size - 1);
    at = (at % period + period) % period;
    return at < size ? at : period - at;
  }
  case 2:
    return at < 0 ? 0 : size - 1;
  case 3:
    return (at % size + size) % size;
  default:
    return -1;
  }
}

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_PAD_SOURCE_H
