//===- register_sums.h - The sums of a register tile of integers ----------===//
//
// The sums that the register tiles of integers.h and signed_pairs.h have in
// common: P points times B vectors of W columns.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_TILES_REGISTER_SUMS_H
#define NNC_ROUTINES_TILES_REGISTER_SUMS_H

#include "runtime/functions.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec.h"

namespace nnc {

/// Sums of P points times B vectors. They stay in registers if all loops over
/// them are unrolled.
template <int W, int P, int B> struct register_sums {
  i32x<W> sum[P][B];

  NNC_INLINE void clear() {
    NNC_UNROLL for (int p = 0; p < P; ++p)
        NNC_UNROLL for (int b = 0; b < B; ++b) sum[p][b] = i32x<W>(0);
  }

  /// Calls store(b, sums) for every vector of weights, with the sums of all
  /// points. The sums are stored to memory first. Otherwise the code of an
  /// epilogue for each of them would be long, and g++ would keep them in memory
  /// in the main loop, too.
  template <class F> NNC_INLINE void for_each(const F &store) const {
    i32x<W> done[B][P];
    NNC_UNROLL for (int p = 0; p < P; ++p)
        NNC_UNROLL for (int b = 0; b < B; ++b) done[b][p] = sum[p][b];
    NNC_FORGET_LOADS;
    for (int b = 0; b < B; ++b)
      store(b, done[b]);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_TILES_REGISTER_SUMS_H
