//===- counts.h - Arithmetic of counts and sizes --------------------------===//
#ifndef NNC_COUNTS_H
#define NNC_COUNTS_H

#include <stddef.h>

namespace nnc {

/// Whether the fields of shape S are constants (static constexpr members) or
/// values known when the routine runs (plain members). `S::n` may be used as a
/// constant only in the first case.
template <class T> constexpr bool is_member_pointer = false;
template <class T, class S> constexpr bool is_member_pointer<T S::*> = true;
template <class S>
constexpr bool is_constant = !is_member_pointer<decltype(&S::n)>;

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
constexpr int smaller(int a, int b) { return a < b ? a : b; }
constexpr int larger(int a, int b) { return a < b ? b : a; }

/// First index of part i if [0, count) is cut into `parts` parts of nearly
/// equal size.
constexpr int cut(int count, int i, int parts) {
  return static_cast<int>(static_cast<long long>(count) * i / parts);
}

/// `bytes` rounded up to whole cache lines of 64 bytes.
constexpr ptrdiff_t whole_lines(ptrdiff_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// Vectors of W elements in a cache line, or 1 if a vector is longer. One
/// prefetch for so many vectors fetches all of a contiguous row.
template <class T, int W>
constexpr int vectors_in_line = larger(1, 64 / (W * int(sizeof(T))));

/// Bytes of weights that stay in the first-level cache beside a tile's input,
/// where several tiles use the same weights one after the other.
constexpr int level1_weights = 16384;
/// Tiles with fewer points use level1_weights at a time, because a cache
/// further away would deliver weights too slowly for their few multiply-adds a
/// weight.
constexpr int many_points = 12;

/// Bytes of weights that tiles with many_points or more use at a time. The next
/// ones are prefetched into the second-level cache meanwhile.
constexpr int level2_weights = 128 * 1024;

/// Bytes of a feature map that a second-level cache holds beside the other
/// operands. A part of a larger map comes from beyond each time that it is
/// read.
constexpr int level2_map = 768 * 1024;

/// Steps from the weights in use to those that are prefetched from memory,
/// where sums are made in parts of `terms` terms. With fewer steps weights
/// would come too late if few points share them; with more they would crowd the
/// first-level cache.
constexpr int weights_ahead(int terms) { return larger(64, terms); }

} // namespace nnc

#endif // NNC_COUNTS_H
