//===- caches.h - Sizes of caches that routines assume --------------------===//
#ifndef NNC_ROUTINES_UNITS_CACHES_H
#define NNC_ROUTINES_UNITS_CACHES_H

#include "runtime/counts.h"
#include "runtime/functions.h"

namespace nnc {

/// Vectors of W elements in a cache line, or 1 if a vector is longer. One
/// prefetch per this number of vectors covers a contiguous row.
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
/// operands. The rest of a larger map is read from the next level each time.
constexpr int level2_map = 768 * 1024;

/// Steps from the weights in use to those that are prefetched from memory,
/// where sums are made in parts of `terms` terms. With fewer steps weights
/// would come too late if few points share them; with more they would crowd the
/// first-level cache.
NNC_FN constexpr int weights_ahead(int terms) { return larger(64, terms); }

} // namespace nnc

#endif // NNC_ROUTINES_UNITS_CACHES_H
