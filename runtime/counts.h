//===- counts.h - Arithmetic of counts and sizes --------------------------===//
#ifndef NNC_COUNTS_H
#define NNC_COUNTS_H

#include "runtime/functions.h"

#include <stddef.h>

namespace nnc {

NNC_FN constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
NNC_FN constexpr int smaller(int a, int b) { return a < b ? a : b; }
NNC_FN constexpr int larger(int a, int b) { return a < b ? b : a; }

/// Returns the first index of part i if [0, count) is divided into `parts`
/// parts of nearly equal size.
NNC_FN constexpr int cut(int count, int i, int parts) {
  return static_cast<int>(static_cast<long long>(count) * i / parts);
}

/// Returns `bytes` rounded up to whole cache lines of 64 bytes.
NNC_FN constexpr ptrdiff_t whole_lines(ptrdiff_t bytes) {
  return (bytes + 63) / 64 * 64;
}

} // namespace nnc

#endif // NNC_COUNTS_H
