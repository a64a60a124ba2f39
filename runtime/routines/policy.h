//===- policy.h - Asking a shape policy what it knows at compile time -----===//
#ifndef NNC_ROUTINES_POLICY_H
#define NNC_ROUTINES_POLICY_H

#include <cstddef>

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

/// Where part i of `parts` begins in `count`, parts as even as can be.
constexpr int cut(int count, int i, int parts) {
  return static_cast<int>(static_cast<long long>(count) * i / parts);
}

/// So many bytes in whole cache lines.
constexpr std::ptrdiff_t whole_lines(std::ptrdiff_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// Vectors of W elements that a cache line holds, or one: to fetch a row of
/// them one in so many suffices.
template <class T, int W>
constexpr int vectors_in_line = larger(1, 64 / (W * int(sizeof(T))));

/// Bytes of weights that stay in the first-level cache beside what a tile
/// reads, where several tiles take the same steps one after the other.
constexpr int level1_weights = 16384;
/// Tiles of fewer points do so: weights would come too slowly from beyond.
constexpr int many_points = 12;

/// Bytes of weights that tiles of more points take in one go; the next come
/// into the second-level cache meanwhile.
constexpr int level2_weights = 128 * 1024;

/// Bytes of a map that a second-level cache holds beside what else is read; of
/// a larger one a part comes from beyond each time that it is read.
constexpr int level2_map = 768 * 1024;

/// Steps from the weights in use to those that come from memory meanwhile,
/// where sums are made in parts of so many terms: fewer would be late where few
/// points share them, more crowd the first-level cache.
constexpr int weights_ahead(int terms) { return larger(64, terms); }

} // namespace nnc

#endif // NNC_ROUTINES_POLICY_H
