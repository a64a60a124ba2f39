//===- bytes.h - Matrix product of integers of 8 bits ---------------------===//
//
// y[m][n] = epi(sum over k of a[m][k] * b[k][n]), a and y row-major, b constant
// and packed as NK<W>n<G>k: panels of W columns, with zeros behind the last
// column and the last row. Sums are exact in 32 bits. G numbers of a row are
// multiplied at a time; see simd/dots.h.
//
// Rows of a are copied first, in the element type of the products, unless they
// already have that form. A unit is B panels of a strip of rows.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_BYTES_H
#define NNC_ROUTINES_MATRIX_MATMUL_BYTES_H

#include "runtime/routines/matrix/matmul/bytes_plan.h"
#include "runtime/routines/tiles/integers.h"
#include "runtime/routines/tiles/remainder.h"
#include "runtime/store_sums.h"

namespace nnc {

template <class D, class S, int M, int B, class Epi> struct matmul_bytes_t {
  static constexpr int W = D::lanes, G = D::group;
  using P = typename D::point;
  static_assert(M > 0 && B > 0, "a tile has points");

  static constexpr int units(const S &s) {
    return s.batch * plan(s).strips * ceil_div(panels(s), B);
  }

  template <class A, class T, class Y>
  static void run(const S &s, const A *a, const T *b, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    const matmul_bytes_plan p = plan(s);
    const int runs = ceil_div(panels(s), B);
    constexpr int left =
        left_over<B, S>([](const S &shape) { return panels(shape); });
    while (begin < end) {
      const int strip = begin / runs, first = begin % runs;
      const int last = smaller(runs, first + end - begin);
      const int batch = strip / p.strips, row = strip % p.strips * p.rows;
      job<T, Y> j{};
      j.rows = smaller(p.rows, s.m - row);
      j.a = rows_of(s, p, a + ptrdiff_t(batch) * s.a_batch_stride, row, j.rows,
                    reinterpret_cast<P *>(scratch));
      j.y = y;
      j.epi = &epi;
      j.out = (ptrdiff_t(batch) * s.m + row) * s.n;
      const T *matrix =
          b + (s.b_batch_stride ? batch * panels(s) * panel_size(s) : 0);
      for (int run = first; run < last; ++run)
        in_one_tile<B, left>(smaller(B, panels(s) - run * B),
                             [&](auto count, int at) {
                               job<T, Y> here = j;
                               here.column = (run * B + at) * W;
                               here.b = matrix + (run * B + at) * panel_size(s);
                               strip_of_panels<count>(s, p, here);
                             });
      begin += last - first;
    }
  }

  /// Runs units without scratch, for shapes whose rows of a are read in place.
  template <class A, class T, class Y>
  static void run(const S &s, const A *a, const T *b, Y *y, const Epi &epi,
                  int begin, int end) {
    run(s, a, b, y, static_cast<unsigned char *>(nullptr), epi, begin, end);
  }

  /// Returns true if rows of elements of the right type can be read in place.
  static constexpr bool reads_in_place(const S &s) {
    return !s.transpose_a && s.k % G == 0;
  }

private:
  /// Values that all tiles of a strip use.
  template <class T, class Y> struct job {
    const P *a;
    const T *b;
    Y *y;
    const Epi *epi;
    ptrdiff_t out; ///< index in y of the strip's first row
    int rows, column;
  };

  static constexpr matmul_bytes_plan plan(const S &s) {
    return plan_matmul_bytes(s, G, int(sizeof(P)), M);
  }
  static constexpr int panels(const S &s) { return ceil_div(s.n, W); }
  static constexpr bounded_weights bounded(const S &s) {
    return {W, ceil_div(s.k, G), 1, 1, bounded_sum<D>};
  }
  static constexpr ptrdiff_t panel_size(const S &s) {
    if constexpr (bounded_sum<D> != 0)
      return bounded(s).bytes();
    else
      return ptrdiff_t(ceil_div(s.k, G)) * G * W;
  }

  /// Returns rows [row, row + count) of a in the form that the products need. b
  /// is zero for elements behind the end of a row.
  template <class A>
  static const P *rows_of(const S &s, const matmul_bytes_plan &p, const A *a,
                          int row, int count, P *copy) {
    if constexpr (is_same<A, P>::value)
      if (reads_in_place(s))
        return a + ptrdiff_t(row) * s.k;
    for (int r = 0; r < count; ++r) {
      P *to = copy + ptrdiff_t(r) * p.length;
      if (s.transpose_a)
        for (int k = 0; k < s.k; ++k)
          to[k] = static_cast<P>(a[ptrdiff_t(k) * s.m + row + r]);
      else
        copy_points<W>(to, a + ptrdiff_t(row + r) * s.k, s.k);
      for (int k = s.k; k < p.length; ++k)
        to[k] = 0;
    }
    return copy;
  }

  /// Computes all rows of a strip for N panels.
  template <int N, class T, class Y>
  static void strip_of_panels(const S &s, const matmul_bytes_plan &p,
                              const job<T, Y> &j) {
    constexpr int left =
        left_over<M, S>([](const S &shape) { return shape.m; });
    const auto tiles = [&](auto count, int row) {
      tile<count, N>(s, p, j, row);
    };
    // Only the last strip has a remainder.
    const int whole = j.rows / M * M;
    in_tiles<M, 0>(0, whole, tiles);
    if (whole < j.rows)
      in_tiles<M, left>(whole, j.rows, tiles);
  }

  template <int R, int N, class T, class Y>
  NNC_NOINLINE static void tile(const S &s, const matmul_bytes_plan &p,
                                const job<T, Y> &j, int row) {
    dot_tile<D, R, N> sums;
    sums.clear();
    const ptrdiff_t length = p.length;
    const P *a = j.a + row * length;
    const T *b = j.b;
    NNC_KEEP_LOOP for (int k = 0; k < s.k; k += G) {
      NNC_FORGET_LOADS;
      sums.add(a, length, b, panel_size(s));
      a += G;
      b += W * G;
    }
    if constexpr (bounded_sum<D> != 0)
      sums.add_extras(bounded(s), j.b, panel_size(s), length, [&](int place) {
        return j.a + row * length + bounded_weights::eight_of(place) * G +
               bounded_weights::four_of(place) * 4;
      });
    const Epi epi = *j.epi;
    Y *const y = j.y;
    const int column = j.column;
    const ptrdiff_t out = j.out + ptrdiff_t(row) * s.n + column;
    sums.for_each([&](int n, const i32x<W>(&rows)[R]) {
      for (int r = 0; r < R; ++r)
        store_sums_of_row(rows[r], y, out + ptrdiff_t(r) * s.n + n * W,
                          column + n * W, s.n, epi);
    });
  }
};

template <class S, int M, int B, class Epi>
using matmul_i32_nk16n_avx512vnni = matmul_bytes_t<byte_dots<16>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_i32_nk16n_avx512 = matmul_bytes_t<pair_dots<16>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_i32_nk8n_avxvnni = matmul_bytes_t<byte_dots<8>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_i32_nk8n_avx2 = matmul_bytes_t<pair_dots<8>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_i32_nk8n_rvv = matmul_bytes_t<single_dots<8>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_i32_nk4n_sse4 = matmul_bytes_t<pair_dots<4>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_i32_nk4n_neon = matmul_bytes_t<pair_dots<4>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_i32_nk16n_bounded2_avx512 =
    matmul_bytes_t<bounded_dots<16, 2>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_i32_nk8n_bounded2_avx2 =
    matmul_bytes_t<bounded_dots<8, 2>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_i32_nk4n_bounded2_sse4 =
    matmul_bytes_t<bounded_dots<4, 2>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_i32_nk16n_bounded4_avx512 =
    matmul_bytes_t<bounded_dots<16, 4>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_i32_nk8n_bounded4_avx2 =
    matmul_bytes_t<bounded_dots<8, 4>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_i32_nk4n_bounded4_sse4 =
    matmul_bytes_t<bounded_dots<4, 4>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_i32_nk4n_neon64 = matmul_bytes_t<signed_pairs, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_i32_nk4n_neondot = matmul_bytes_t<signed_dots, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using matmul_i32_nk4n_neoni8mm = matmul_bytes_t<matrix_dots, S, M, B, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_BYTES_H
