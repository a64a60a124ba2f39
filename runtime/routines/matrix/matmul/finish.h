//===- finish.h - Stores a tile of a matrix product -----------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_FINISH_H
#define NNC_ROUTINES_MATRIX_MATMUL_FINISH_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/tiles/floats.h"

namespace nnc {

/// Stores a tile through the epilogue into a matrix with rows of n columns. The
/// tile's first value goes to y[out], which is in column `first`. Lanes for
/// columns from n on are not stored.
template <class V, int R, int N, class Epi>
NNC_INLINE void store_rows(const register_tile<V, 1, R, N> &t, element_of<V> *y,
                           ptrdiff_t out, int first, int n,
                           const Epi &epilogue) {
  constexpr int W = lanes<V>;
  // A local copy, because the compiler has to assume that stores to y change
  // it.
  const Epi epi = epilogue;
  NNC_UNROLL for (int r = 0; r < R; ++r)
      NNC_UNROLL for (int p = 0; p < N; ++p) {
    const int column = first + p * W;
    const ptrdiff_t at = out + ptrdiff_t(r) * n + p * W;
    const position<true> pos{at, column};
    const f32x<W> v = widen(t.sum[0][r][p]);
    if (n % W == 0 || n - column >= W)
      store(y + at, epi(v, pos));
    else
      store(y + at, epi(v, pos, n - column), n - column);
  }
}

/// Finishes steps [k0, k1) of a tile at `row` of job j: adds the sums over
/// earlier steps from `partial`, and saves the result there or, after the last
/// step, stores the rows in y.
template <class V, int R, int N, class S, class Job>
NNC_INLINE void finish_steps(const S &s, const Job &j,
                             register_tile<V, 1, R, N> &t, int row, int k0,
                             int k1, element_of<V> *partial) {
  if (k0 > 0)
    t.add_saved(partial);
  if (k1 < s.k)
    return t.save(partial);
  store_rows(t, j.y, j.out + ptrdiff_t(row) * s.n + j.column, j.column, s.n,
             *j.epi);
}

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_FINISH_H
