//===- mapped.h - Kernels for shapes that are made from other shapes ------===//
#ifndef NNC_ROUTINES_BLOCKS_MAPPED_H
#define NNC_ROUTINES_BLOCKS_MAPPED_H

#include "runtime/cuda/block.h"
#include "runtime/functions.h"

namespace nnc {

/// The type of the shape that Map::of() makes from a shape of type S.
template <class Map, class S>
using mapped_shape = decltype(Map::of(*static_cast<const S *>(nullptr)));

/// The counters of blocks of kernel K, if it has any, for shapes of type S.
template <class K, class S, class Map,
          bool = counts_blocks<K, mapped_shape<Map, S>>>
struct mapped_counters {};
template <class K, class S, class Map> struct mapped_counters<K, S, Map, true> {
  NNC_FN static constexpr int counters(const S &s) {
    return K::counters(Map::of(s));
  }
};

/// The number of resident blocks that kernel K states, if it does.
template <class K, class = void> struct mapped_bounds {};
template <class K> struct mapped_bounds<K, decltype(void(K::resident_blocks))> {
  static constexpr int resident_blocks = K::resident_blocks;
};

/// The kernel K, which takes shapes that Map::of() makes, for shapes of type S.
template <class K, class S, class Map>
struct mapped_kernel : mapped_counters<K, S, Map>, mapped_bounds<K> {
  static constexpr int threads = K::threads, shared_bytes = K::shared_bytes;
  static constexpr grid_size grid(const S &s) { return K::grid(Map::of(s)); }
  template <class B, class... A>
  static NNC_INLINE void run(B &b, const S &s, const A &...arguments) {
    K::run(b, Map::of(s), arguments...);
  }
};

/// Such kernels of each kernel of a list.
template <class Kernels, class S, class Map> struct mapped_kernels;
template <class... Kernels, class S, class Map>
struct mapped_kernels<kernel_list<Kernels...>, S, Map> {
  using type = kernel_list<mapped_kernel<Kernels, S, Map>...>;
};

} // namespace nnc

#endif // NNC_ROUTINES_BLOCKS_MAPPED_H
