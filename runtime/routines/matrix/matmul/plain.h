//===- plain.h - Matrix product of two run-time matrices ------------------===//
//
// y[m][n] = sum over k of a[m][k] * b[k][n], a and b row-major or transposed
// and neither of them packed: products of activations, as in attention.
//
// A unit is a run of B vectors of columns of one matrix of the batch. Its part
// of b is copied to the stack, `steps` rows at a time, in panels like those of
// packed.h, which all rows of a then use. Where there are too few rows for that
// to pay, b is read in place.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_PLAIN_H
#define NNC_ROUTINES_MATRIX_MATMUL_PLAIN_H

#include "runtime/counts.h"
#include "runtime/routines/matrix/matmul/finish.h"
#include "runtime/routines/matrix/matmul/plain_plan.h"
#include "runtime/routines/shapes/policy.h"
#include "runtime/routines/tiles/remainder.h"
#include "runtime/simd/transpose.h"

namespace nnc {

template <class V, class S, int M, int B, class Epi> struct matmul_plain_t {
  static constexpr int W = lanes<V>;
  using T = element_of<V>;
  static_assert(W >= 4 && (W & (W - 1)) == 0, "W is a vector width");
  static_assert(M > 0 && B > 0, "a tile has points");

  static constexpr int units(const S &s) {
    return s.batch * ceil_div(ceil_div(s.n, W), B);
  }

  static void run(const S &s, const T *a, const T *b, T *y, const Epi &epi,
                  int begin, int end) {
    const int vectors = ceil_div(s.n, W), runs = ceil_div(vectors, B);
    for (int unit = begin; unit < end; ++unit) {
      const int batch = unit / runs, vector = unit % runs * B;
      const job j{a + ptrdiff_t(batch) * s.a_batch_stride,
                  b + ptrdiff_t(batch) * s.b_batch_stride,
                  y,
                  &epi,
                  ptrdiff_t(batch) * s.m * s.n,
                  vector * W};
      columns(s, j, smaller(B, vectors - vector));
    }
  }

private:
  /// Values that all tiles of one unit use.
  struct job {
    const T *a, *b; ///< the matrices
    T *y;
    const Epi *epi;
    ptrdiff_t out; ///< index in y of the matrix
    int column;    ///< first column of the unit
  };

  static constexpr int most_terms = register_tile<V, 1, M, B>::most_terms;
  static constexpr int steps =
      smaller(128, most_terms);     ///< rows of b copied at a time
  static constexpr int strips = 16; ///< tiles that use each copy

  static void columns(const S &s, const job &j, int count) {
    constexpr int left =
        left_over<B, S>([](const S &shape) { return ceil_div(shape.n, W); });
    in_one_tile<B, left>(count, [&](auto size, int i) {
      job here = j;
      here.column += i * W;
      vectors<size>(s, here);
    });
  }

  /// Computes all rows of N vectors of columns.
  template <int N> static void vectors(const S &s, const job &j) {
    if (reads_b_in_place(s, W, M)) {
      for (int row = 0; row < s.m; row += M)
        in_place<N>(s, j, row);
      return;
    }
    alignas(64) T copy[N * steps * W];
    alignas(64) T partial[strips][M * N * W];
    for (int first = 0; first < s.m; first += strips * M)
      for (int k = 0; k < s.k; k += steps) {
        const int end = smaller(k + steps, s.k);
        NNC_KEEP_LOOP for (int p = 0; p < N; ++p)
            copy_panel(s, j, k, end, p, copy + p * steps * W);
        for (int i = 0; i < strips && first + i * M < s.m; ++i)
          place<N>(s, j, first + i * M, k, end, copy, steps * W, W, partial[i]);
      }
  }

  /// Computes the tile at `row` with b read in place. Elements of f16 are
  /// summed `steps` at a time.
  template <int N> static void in_place(const S &s, const job &j, int row) {
    const T *const b = j.b + j.column;
    if (is_same<T, float>::value || s.k <= most_terms)
      return place<N>(s, j, row, 0, s.k, b, W, s.n, nullptr);
    alignas(64) T partial[M * N * W];
    for (int k = 0; k < s.k; k += steps)
      place<N>(s, j, row, k, smaller(k + steps, s.k), b + ptrdiff_t(k) * s.n, W,
               s.n, partial);
  }

  /// Copies rows [k0, k1) of vector p of the unit's columns, with zeros behind
  /// the last column.
  static void copy_panel(const S &s, const job &j, int k0, int k1, int p,
                         T *to) {
    const int column = j.column + p * W, count = smaller(W, s.n - column);
    if (!s.transpose_b) {
      const T *from = j.b + ptrdiff_t(k0) * s.n + column;
      for (int k = k0; k < k1; ++k, from += s.n, to += W)
        (count == W ? V::load(from) : V::load(from, count)).store(to);
      return;
    }
    const T *from = j.b + ptrdiff_t(column) * s.k + k0;
    if (count < W)
      for (int i = 0; i < (k1 - k0) * W; i += W)
        V(T(0)).store(to + i);
    for (int k = 0; k < k1 - k0; k += W)
      transpose_tile<W>(from + k, s.k, count, smaller(W, k1 - k0 - k),
                        to + k * W, W);
  }

  /// Computes the tile of M rows, or of those that are left, from `row` on.
  template <int N>
  static void place(const S &s, const job &j, int row, int k0, int k1,
                    const T *b, ptrdiff_t b_vector, ptrdiff_t b_step,
                    T *partial) {
    if (s.m - row >= M)
      return tile<M, N>(s, j, row, k0, k1, b, b_vector, b_step, partial);
    if constexpr (is_constant<S>) {
      if constexpr (S::m % M != 0)
        tile<S::m % M, N>(s, j, row, k0, k1, b, b_vector, b_step, partial);
    } else {
      place_rest<M / 2, N>(s, j, row, k0, k1, b, b_vector, b_step, partial);
    }
  }

  /// Covers fewer than M rows with tiles of M / 2, M / 4, ..., 1.
  template <int R, int N>
  static void place_rest(const S &s, const job &j, int row, int k0, int k1,
                         const T *b, ptrdiff_t b_vector, ptrdiff_t b_step,
                         T *partial) {
    if constexpr (R > 0) {
      for (; s.m - row >= R; row += R) {
        tile<R, N>(s, j, row, k0, k1, b, b_vector, b_step, partial);
        partial += partial ? R * N * W : 0;
      }
      place_rest<R / 2, N>(s, j, row, k0, k1, b, b_vector, b_step, partial);
    }
  }

  /// Computes R rows of N vectors over steps [k0, k1). Row k0 of b begins at
  /// `b`. Sums over earlier steps are in `partial`, and the tile's sums are
  /// saved there until they include the last step.
  template <int R, int N>
  NNC_NOINLINE static void tile(const S &s, const job &j, int row, int k0,
                                int k1, const T *b, ptrdiff_t b_vector,
                                ptrdiff_t b_step, T *partial) {
    register_tile<V, 1, R, N> t;
    t.clear();
    const ptrdiff_t a_row = s.transpose_a ? 1 : s.k;
    const ptrdiff_t a_step = s.transpose_a ? s.m : 1;
    const T *const rows[1] = {j.a + row * a_row + k0 * a_step};
    t.template add<0, R>(rows, a_row, a_step, b, b_vector, b_step, k1 - k0);
    finish_steps(s, j, t, row, k0, k1, partial);
  }
};

template <class S, int M, int B, class Epi>
using matmul_f32_plain_avx512 = matmul_plain_t<f32x<16>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_plain_avx2 = matmul_plain_t<f32x<8>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_plain_rvv = matmul_plain_t<f32x<8>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_plain_neon = matmul_plain_t<f32x<4>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_plain_sse4 = matmul_plain_t<f32x<4>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f16_plain_neonfp16 = matmul_plain_t<f16x<8>, S, M, B, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_PLAIN_H
