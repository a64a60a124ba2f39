//===- integers.h - Matrix product of a few rows and integer weights ------===//
//
// y[m][n] = sum over k of a[m][k] * b[k][n], a and y row-major, b constant and
// packed as NK<W>n_int24; see integers_plan.h. A product of a few rows is bound
// by reads of weights from memory, and 24-bit weights take a quarter fewer
// bytes than floats. The error of a weight is at most 2^-24 of the largest
// weight of its group, which affects a sum of products about as much as its own
// rounding errors.
//
// A unit is a run of B panels.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_INTEGERS_H
#define NNC_ROUTINES_MATRIX_MATMUL_INTEGERS_H

#include "runtime/routines/matrix/matmul/integers_plan.h"
#include "runtime/routines/matrix/matmul/panels.h"

namespace nnc {

template <int W, class S, int M, int B, class Epi>
struct matmul_f32_integers_t
    : matmul_of_panels<matmul_f32_integers_t<W, S, M, B, Epi>, integers, W, S,
                       M, B, Epi> {
private:
  using product =
      matmul_of_panels<matmul_f32_integers_t, integers, W, S, M, B, Epi>;
  friend product;

  /// Loads the weights of a panel's next row as floats.
  static NNC_INLINE f32x<W> load(const unsigned char *b) {
    NNC_PREFETCH(b + product::ahead);
    return f32x<W>::load_int24(b);
  }

  /// Computes R rows from `row` on of N panels, group after group.
  template <int R, int N>
  NNC_NOINLINE static void tile(const S &s, const panels_job<Epi> &j, int row) {
    // Initialized for g++, which does not see that the first group does not
    // read it.
    alignas(64) float partial[R * N * W] = {};
    const ptrdiff_t a_row = s.transpose_a ? 1 : s.k;
    const ptrdiff_t a_step = s.transpose_a ? s.m : 1;
    const ptrdiff_t panel = integers::panel(s.k, W);
    const float *a = j.a + row * a_row;
    const unsigned char *b = j.b;
    for (int k = 0; k < s.k; k += integers_group) {
      const int end = smaller(k + integers_group, s.k);
      f32_tile<W, 1, R, N> t;
      t.clear();
      NNC_KEEP_LOOP for (int i = k; i < end; ++i) {
        f32x<W> w[N];
        NNC_UNROLL for (int p = 0; p < N; ++p) w[p] = load(b + p * panel);
        NNC_UNROLL for (int r = 0; r < R; ++r) {
          const f32x<W> v(a[r * a_row]);
          NNC_UNROLL for (int p = 0; p < N; ++p) t.sum[0][r][p] =
              fma(v, w[p], t.sum[0][r][p]);
        }
        a += a_step;
        b += integers::bytes * W;
      }
      NNC_UNROLL for (int p = 0; p < N; ++p) {
        const auto *scales = reinterpret_cast<const float *>(b + p * panel);
        const f32x<W> scale = f32x<W>::load(scales);
        NNC_UNROLL for (int r = 0; r < R; ++r) t.sum[0][r][p] =
            t.sum[0][r][p] * scale;
      }
      b += 4 * W;
      finish_steps(s, j, t, row, k, end, partial);
    }
  }
};

template <class S, int M, int B, class Epi>
using matmul_f32_nk16n_int24_avx512 = matmul_f32_integers_t<16, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_nk8n_int24_avx2 = matmul_f32_integers_t<8, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_nk8n_int24_rvv = matmul_f32_integers_t<8, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_nk4n_int24_neon = matmul_f32_integers_t<4, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_nk4n_int24_sse4 = matmul_f32_integers_t<4, S, M, B, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_INTEGERS_H
