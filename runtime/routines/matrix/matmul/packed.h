//===- packed.h - Matrix product with packed panels of B ------------------===//
//
// y[m][n] = sum over k of a[m][k] * b[k][n], a and y row-major, b constant and
// packed as NK<W>n: panels of W columns, with zeros behind the last column.
//
// A register tile covers M rows times B panels. The remaining rows and panels
// have tiles of their own, exactly as large as the remainder where the shape is
// constant. A unit is M rows of B panels of one matrix of the batch.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_PACKED_H
#define NNC_ROUTINES_MATRIX_MATMUL_PACKED_H

#include "runtime/counts.h"
#include "runtime/routines/matrix/matmul/finish.h"
#include "runtime/routines/shapes/policy.h"
#include "runtime/routines/tiles/remainder.h"
#include "runtime/routines/units/caches.h"

namespace nnc {

template <class V, class S, int M, int B, class Epi> struct matmul_packed_t {
  static constexpr int W = lanes<V>;
  using T = element_of<V>;
  static_assert(W > 1 && (W & (W - 1)) == 0, "W is a vector width");
  static_assert(M > 0 && B > 0, "a tile has points");

  static constexpr int units(const S &s) {
    return s.batch * ceil_div(panels(s), B) * ceil_div(s.m, M);
  }

  static void run(const S &s, const T *a, const T *b, T *y, const Epi &epi,
                  int begin, int end) {
    const int tiles = ceil_div(panels(s), B), strips = ceil_div(s.m, M);
    while (begin < end) {
      // The strips of M rows of one matrix that use the same B panels.
      const int outer = begin / strips;
      const int first = begin % strips;
      const int last = smaller(strips, first + end - begin);
      const int batch = outer / tiles;
      const int panel = outer % tiles * B;
      const ptrdiff_t matrix =
          s.b_batch_stride ? batch * panels(s) * panel_size(s) : 0;
      const job j{a + ptrdiff_t(batch) * s.a_batch_stride,
                  b + matrix + panel * panel_size(s),
                  y,
                  &epi,
                  ptrdiff_t(batch) * s.m * s.n,
                  panel * W};
      sweep(s, j, smaller(B, panels(s) - panel), first, last);
      begin += last - first;
    }
  }

private:
  /// Values that all tiles of one run of panels use.
  struct job {
    const T *a, *b;
    T *y;
    const Epi *epi;
    ptrdiff_t out; ///< index in y of the matrix
    int column;    ///< first column of the run
  };

  static constexpr int panels(const S &s) { return ceil_div(s.n, W); }
  static constexpr ptrdiff_t panel_size(const S &s) {
    return ptrdiff_t(s.k) * W;
  }
  /// True if tiles read weights from the second-level cache instead of the
  /// first; see conv2d/direct.h. For f16 they never do, because its sums are
  /// short.
  static constexpr bool from_level2 =
      is_same<T, float>::value && M >= many_points;
  /// Steps along k whose weights are used at a time.
  static constexpr int chunk(const S &s) {
    constexpr int bytes = B * W * int(sizeof(T));
    if (from_level2)
      return ceil_div(s.k, ceil_div(s.k, level2_weights / bytes));
    constexpr int steps = level1_weights / bytes;
    return is_same<T, float>::value
               ? steps
               : smaller(steps, register_tile<V, 1, M, B>::most_terms);
  }
  /// Tiles that use a chunk's weights before those of the next chunk.
  static constexpr int chunk_tiles = 16;

  /// Returns true if tiles of R rows copy their rows of a. Rows a multiple of 4
  /// KiB apart map to the same few sets of a first-level cache, which holds
  /// about eight of them.
  template <int R> static constexpr bool crowds_cache(const S &s) {
    return R > 6 && !s.transpose_a && s.k % 1024 == 0;
  }
  /// Steps that are copied at a time.
  static constexpr int copy_steps = 256;

  /// Computes strips [first, last) of rows, for a run of `count` panels.
  static void sweep(const S &s, const job &j, int count, int first, int last) {
    constexpr int left =
        left_over<B, S>([](const S &shape) { return panels(shape); });
    in_one_tile<B, left>(count, [&](auto size, int i) {
      job here = j;
      here.b += i * panel_size(s);
      here.column += i * W;
      sweep_panels<size>(s, here, first, last);
    });
  }

  /// sweep() for N panels, chunk after chunk of the steps.
  template <int N>
  static void sweep_panels(const S &s, const job &j, int first, int last) {
    const T *const next_panels = j.b + N * panel_size(s);
    if (chunk(s) >= s.k) {
      weights_dealer<T, W, N> dealer(panel_size(s), last - first);
      dealer.begin(next_panels, s.k, j.b);
      for (int p = first; p < last; ++p)
        place<N>(s, j, p * M, 0, s.k, nullptr, dealer.next());
      return;
    }
    alignas(64) T partial[chunk_tiles][M * N * W];
    for (; first < last; first += chunk_tiles) {
      const int end = smaller(last, first + chunk_tiles);
      weights_dealer<T, W, N> dealer(panel_size(s), end - first);
      for (int k = 0; k < s.k; k += chunk(s)) {
        const int next = smaller(k + chunk(s), s.k);
        dealer.begin(next < s.k   ? j.b + ptrdiff_t(next) * W
                     : end < last ? j.b
                                  : next_panels,
                     next - k, j.b + ptrdiff_t(k) * W);
        for (int p = first; p < end; ++p)
          place<N>(s, j, p * M, k, next, partial[p - first], dealer.next());
      }
    }
  }

  /// Computes the tile of M rows, or of those that are left, from `row` on.
  template <int N>
  static void place(const S &s, const job &j, int row, int k0, int k1,
                    T *partial, const later_weights<T> &later) {
    if (s.m - row >= M)
      return tile<M, N>(s, j, row, k0, k1, partial, later);
    if constexpr (is_constant<S>) {
      if constexpr (S::m % M != 0)
        tile<S::m % M, N>(s, j, row, k0, k1, partial, later);
    } else {
      place_rest<M / 2, N>(s, j, row, k0, k1, partial, later);
    }
  }

  /// Covers fewer than M rows with tiles of M / 2, M / 4, ..., 1.
  template <int R, int N>
  static void place_rest(const S &s, const job &j, int row, int k0, int k1,
                         T *partial, const later_weights<T> &later) {
    if constexpr (R > 0) {
      for (; s.m - row >= R; row += R) {
        tile<R, N>(s, j, row, k0, k1, partial, later);
        partial += partial ? R * N * W : 0;
      }
      place_rest<R / 2, N>(s, j, row, k0, k1, partial, later);
    }
  }

  /// Computes R rows of N panels over steps [k0, k1). Sums over earlier steps
  /// are in `partial`, and the tile's sums are saved there until they include
  /// the last step.
  template <int R, int N>
  NNC_NOINLINE static void tile(const S &s, const job &j, int row, int k0,
                                int k1, T *partial,
                                const later_weights<T> &later) {
    register_tile<V, 1, R, N> t;
    t.clear();
    const ptrdiff_t a_row = s.transpose_a ? 1 : s.k;
    const ptrdiff_t a_step = s.transpose_a ? s.m : 1;
    const T *a = j.a + row * a_row + k0 * a_step;
    const T *b = j.b + ptrdiff_t(k0) * W;
    if (k1 == s.k)
      NNC_UNROLL for (int r = 0; r < R; ++r)
          NNC_UNROLL for (int p = 0; p < N; ++p) {
        const ptrdiff_t at =
            j.out + (ptrdiff_t(row) + r) * s.n + j.column + p * W;
        j.epi->fetch(at);
        NNC_PREFETCH_TO_WRITE(j.y + at);
      }
    constexpr fetch_into cache =
        from_level2 ? fetch_into::level2 : fetch_into::level1;
    if (crowds_cache<R>(s)) {
      alignas(64) T copy[R][copy_steps + W];
      const T *const rows[1] = {copy[0]};
      for (int k = k0; k < k1; k += copy_steps, a += copy_steps) {
        const int steps = smaller(copy_steps, k1 - k);
        for (int r = 0; r < R; ++r)
          for (int i = 0; i < steps; i += W)
            V::load(a + r * a_row + i, steps - i).store(copy[r] + i);
        t.template add<0, R, cache>(
            rows, copy_steps + W, 1, b, panel_size(s), W, steps,
            {later.at + (k - k0) * later.step, later.step});
        b += copy_steps * W;
      }
    } else {
      const T *const rows[1] = {a};
      t.template add<0, R, cache>(rows, a_row, a_step, b, panel_size(s), W,
                                  k1 - k0, later);
    }
    finish_steps(s, j, t, row, k0, k1, partial);
  }
};

template <class S, int M, int B, class Epi>
using matmul_f32_nk16n_avx512 = matmul_packed_t<f32x<16>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_nk8n_avx2 = matmul_packed_t<f32x<8>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_nk8n_rvv = matmul_packed_t<f32x<8>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_nk4n_neon = matmul_packed_t<f32x<4>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f32_nk4n_sse4 = matmul_packed_t<f32x<4>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_f16_nk8n_neonfp16 = matmul_packed_t<f16x<8>, S, M, B, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_PACKED_H
