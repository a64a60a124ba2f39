//===- strassen.h - Matrix product by Strassen's method -------------------===//
//
// y[m][n] = sum over k of a[m][k] * b[k][n], a and y row-major, b constant, as
// NK<W>n_strassen, or NK<W>n_strassen2 for two levels. Each half of k and of n,
// or each quarter for two levels, is a multiple of W.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_STRASSEN_H
#define NNC_ROUTINES_MATRIX_MATMUL_STRASSEN_H

#include "runtime/functions.h"
#include "runtime/routines/transforms/strassen.h"

namespace nnc {

/// LAYOUT of transforms/strassen.h for matrices.
template <class V, class S> struct strassen_rows {
  static constexpr int W = lanes<V>;
  using E = element_of<V>;
  using source = const E *;
  static constexpr bool in_place(const S &) { return false; }
  static constexpr int images(const S &s) { return s.batch; }
  static constexpr int rows(const S &s) { return s.m; }
  static constexpr int channels(const S &s) { return s.k; }
  static constexpr int filters(const S &s) { return s.n; }
  static ptrdiff_t left(const S &s, int image, int row, int block) {
    return ptrdiff_t(image) * s.a_batch_stride + ptrdiff_t(row) * s.k +
           block * W;
  }
  static NNC_INLINE f32x<W> load(const S &s, const E *x, int image, int row,
                                 int block) {
    return nnc::load<f32x<W>>(x + left(s, image, row, block));
  }
  static ptrdiff_t result(const S &s, int image, int row, int block) {
    return (ptrdiff_t(image) * s.m + row) * s.n + block * W;
  }
  template <class Epi>
  static NNC_INLINE void store(f32x<W> v, E *y, ptrdiff_t at, int block,
                               const S &, const Epi &epi) {
    nnc::store(y + at, epi(v, position<true>{at, block * W}));
  }
};

template <class V, class S, int L, int P, int B, class Epi>
using matmul_strassen_t =
    transformed_product<strassen<V, strassen_rows<V, S>, S, L, P, B>, S, P, B,
                        Epi>;

template <class S, int P, int B, class Epi>
using matmul_f32_nk16n_strassen_avx512 =
    matmul_strassen_t<f32x<16>, S, 1, P, B, Epi>;
template <class S, int P, int B, class Epi>
using matmul_f32_nk8n_strassen_avx2 =
    matmul_strassen_t<f32x<8>, S, 1, P, B, Epi>;
template <class S, int P, int B, class Epi>
using matmul_f32_nk8n_strassen_rvv =
    matmul_strassen_t<f32x<8>, S, 1, P, B, Epi>;
template <class S, int P, int B, class Epi>
using matmul_f32_nk4n_strassen_neon =
    matmul_strassen_t<f32x<4>, S, 1, P, B, Epi>;
template <class S, int P, int B, class Epi>
using matmul_f32_nk4n_strassen_sse4 =
    matmul_strassen_t<f32x<4>, S, 1, P, B, Epi>;
template <class S, int P, int B, class Epi>
using matmul_f32_nk16n_strassen2_avx512 =
    matmul_strassen_t<f32x<16>, S, 2, P, B, Epi>;
template <class S, int P, int B, class Epi>
using matmul_f32_nk8n_strassen2_avx2 =
    matmul_strassen_t<f32x<8>, S, 2, P, B, Epi>;
template <class S, int P, int B, class Epi>
using matmul_f32_nk8n_strassen2_rvv =
    matmul_strassen_t<f32x<8>, S, 2, P, B, Epi>;
template <class S, int P, int B, class Epi>
using matmul_f32_nk4n_strassen2_neon =
    matmul_strassen_t<f32x<4>, S, 2, P, B, Epi>;
template <class S, int P, int B, class Epi>
using matmul_f32_nk4n_strassen2_sse4 =
    matmul_strassen_t<f32x<4>, S, 2, P, B, Epi>;
template <class S, int P, int B, class Epi>
using matmul_f16_nk8n_strassen_neonfp16 =
    matmul_strassen_t<f16x<8>, S, 1, P, B, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_STRASSEN_H
