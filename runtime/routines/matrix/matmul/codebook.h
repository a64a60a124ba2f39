//===- codebook.h - Matrix product with weights of few values -------------===//
//
// y[m][n] = sum over k of a[m][k] * b[k][n], a and y row-major, b constant and
// packed as NK<W>n_codebook16; see codebook_plan.h. A product of a few rows is
// bound by reads of weights from memory, and 4-bit codes take an eighth of the
// bytes of floats. One or two vector registers hold a panel's table, in which
// the codes are looked up. The sums are the same as with float weights.
//
// A unit is a run of B panels.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_CODEBOOK_H
#define NNC_ROUTINES_MATRIX_MATMUL_CODEBOOK_H

#include "runtime/functions.h"
#include "runtime/routines/matrix/matmul/codebook_plan.h"
#include "runtime/routines/matrix/matmul/panels.h"

namespace nnc {

template <int W, class S, int M, int B, class Epi>
struct matmul_f32_codebook_t
    : matmul_of_panels<matmul_f32_codebook_t<W, S, M, B, Epi>, codebook16, W, S,
                       M, B, Epi> {
private:
  using product =
      matmul_of_panels<matmul_f32_codebook_t, codebook16, W, S, M, B, Epi>;
  friend product;

  /// Adds the products of one row of weights to a tile. `w` has a vector for
  /// each of the N panels.
  template <int R, int N>
  static NNC_INLINE void add(f32_tile<W, 1, R, N> &t, const float *a,
                             ptrdiff_t a_row, const f32x<W> *w) {
    NNC_UNROLL for (int r = 0; r < R; ++r) {
      const f32x<W> v(a[r * a_row]);
      NNC_UNROLL for (int p = 0; p < N; ++p) t.sum[0][r][p] =
          fma(v, w[p], t.sum[0][r][p]);
    }
  }

  /// Computes R rows from `row` on of N panels.
  template <int R, int N>
  NNC_FN NNC_NOINLINE static void tile(const S &s, const panels_job<Epi> &j,
                                       int row) {
    const ptrdiff_t a_row = s.transpose_a ? 1 : s.k;
    const ptrdiff_t a_step = s.transpose_a ? s.m : 1;
    const ptrdiff_t panel = codebook16::panel(s.k, W);
    const float *a = j.a + row * a_row;
    const unsigned char *b = j.b + codebook16::table;
    const auto look_up = [&](auto &even, auto &odd) {
      NNC_UNROLL for (int p = 0; p < N; ++p) {
        NNC_PREFETCH(b + p * panel + product::ahead);
        f32x<W>::look_up16(static_cast<const float *>(
                               static_cast<const void *>(j.b + p * panel)),
                           b + p * panel, even[p], odd[p]);
      }
      b += W;
    };
    f32_tile<W, 1, R, N> t;
    t.clear();
    f32x<W> even[static_cast<size_t>(N)], odd[static_cast<size_t>(N)];
    NNC_KEEP_LOOP for (int k = 0; k + 1 < s.k; k += 2) {
      look_up(even, odd);
      add(t, a, a_row, even);
      add(t, a + a_step, a_row, odd);
      a += 2 * a_step;
    }
    if (s.k % 2) {
      look_up(even, odd);
      add(t, a, a_row, even);
    }
    store_rows(t, j.y, j.out + ptrdiff_t(row) * s.n + j.column, j.column, s.n,
               *j.epi);
  }
};

template <class S, int M, int B, class Epi>
using matmul_f32_nk16n_codebook16_avx512 =
    matmul_f32_codebook_t<16, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_nk8n_codebook16_avx2 = matmul_f32_codebook_t<8, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_nk8n_codebook16_rvv = matmul_f32_codebook_t<8, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_nk4n_codebook16_neon = matmul_f32_codebook_t<4, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_nk4n_codebook16_sse4 = matmul_f32_codebook_t<4, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_nk4n_codebook16_portable =
    matmul_f32_codebook_t<4, S, M, B, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_CODEBOOK_H
