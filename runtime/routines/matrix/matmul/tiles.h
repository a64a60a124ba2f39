//===- tiles.h - Matrix product on tile registers -------------------------===//
//
// y[m][n] = epi(sum over k of a[m][k] * b[k][n]), a and y row-major, b constant
// and packed as NK16n4k, or as NK16n2k for floats of 16 bits: panels of 16
// columns, whose rows of 64 bytes are what tile products take. Sums of bytes
// are exact in 32 bits; those of bf16 are floats.
//
// A block of 2 x 2 tiles has 32 rows and 32 columns of y. Its sums go to
// memory, and the epilogue computes results of them while the products of the
// next block are under way. A step beyond the end of a panel multiplies what
// follows it, other weights, by zeros of the copy of a. Where it is not
// weights, or not finite, it is replaced by zeros. A unit is two panels of a
// strip of rows.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_TILES_H
#define NNC_ROUTINES_MATRIX_MATMUL_TILES_H

#include "runtime/routines/matrix/matmul/tiles_plan.h"
#include "runtime/routines/shapes/policy.h"
#include "runtime/routines/tiles/matrix.h"
#include "runtime/store_sums.h"

namespace nnc {

/// The routine for factors of BYTES bytes, with strips of about KB * 1024 bytes
/// of a.
template <int BYTES, class S, int KB, class Epi> struct matmul_tiles_t {
  static constexpr bool uses_tiles = true;
  static constexpr int W = tile_columns;

  static constexpr int units(const S &s) {
    return s.batch * plan(s).strips * ceil_div(panels(s), 2);
  }

  template <class A, class T, class Y>
  static void run(const S &s, const A *a, const T *b, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    static_assert(sizeof(A) == BYTES && sizeof(T) == BYTES, "sizes of factors");
    const matmul_tiles_plan p = plan(s);
    const int runs = ceil_div(panels(s), 2);
    const ptrdiff_t panel = ptrdiff_t(p.groups) * tile_row_bytes;
    tile_sums<A> sums[2];
    results<A, Y> pending{};
    pending.y = y;
    pending.epi = &epi;
    pending.n = s.n;
    while (begin < end) {
      const int strip = begin / runs, first = begin % runs;
      const int last = smaller(runs, first + end - begin);
      const int batch = strip / p.strips, row = strip % p.strips * p.rows;
      const int rows = smaller(p.rows, s.m - row);
      const A *matrix = a + ptrdiff_t(batch) * s.a_batch_stride;
      if (!p.in_place)
        copy_rows(s, matrix, row, rows, scratch);
      const auto *weights = reinterpret_cast<const unsigned char *>(b) +
                            (s.b_batch_stride ? batch : 0) * panels(s) * panel;
      for (int run = first; run < last; ++run) {
        tile_run at{};
        at.columns = smaller(2, panels(s) - run * 2);
        at.weights = weights + run * 2 * panel;
        at.panel = panel;
        // Zero times what follows a panel of floats is not zero if that is
        // infinite or no number.
        for (int c = 0; c < at.columns; ++c)
          at.set_tail(c, p.steps, BYTES == 2 || run * 2 + c == panels(s) - 1,
                      scratch + p.copied);
        for (int r = 0; r < rows; r += 2 * tile_rows) {
          at.rows = rows - r > tile_rows ? 2 : 1;
          const int skip = set_points(s, p, matrix, scratch, row, r, at);
          in_block(at.rows, at.columns, [&](auto R, auto C) {
            products<R, C, T>(p, at, sums[pending.turn], pending);
          });
          pending.begin(sums[pending.turn], at, skip,
                        smaller(rows - r, 2 * tile_rows),
                        (ptrdiff_t(batch) * s.m + row + r) * s.n, run * 2 * W);
        }
      }
      begin += last - first;
    }
    pending.store(2 * tile_rows);
  }

  /// Runs units without scratch, for shapes whose factors are read in place.
  template <class A, class T, class Y>
  static void run(const S &s, const A *a, const T *b, Y *y, const Epi &epi,
                  int begin, int end) {
    run(s, a, b, y, static_cast<unsigned char *>(nullptr), epi, begin, end);
  }

private:
  static constexpr matmul_tiles_plan plan(const S &s) {
    return plan_matmul_tiles(s, BYTES, KB);
  }
  static constexpr int panels(const S &s) { return ceil_div(s.n, W); }

  /// A block whose sums are known and whose results are not stored yet.
  template <class A, class Y> struct results {
    const tile_sums<A> *sums;
    Y *y;
    const Epi *epi;
    ptrdiff_t out;     ///< index in y of the first result
    int row, rows;     ///< the next row, and all rows
    int tiles, skip;   ///< tiles along the rows, and rows to skip in the last
    int column, n;     ///< the first column, and columns of y
    int columns, turn; ///< panels, and which sums are free

    NNC_INLINE void begin(const tile_sums<A> &ready, const tile_run &at,
                          int skipped, int count, ptrdiff_t to, int first) {
      sums = &ready;
      row = 0;
      rows = count;
      tiles = at.rows;
      skip = skipped;
      out = to;
      column = first;
      columns = at.columns;
      turn ^= 1;
    }

    /// Stores at most `most` rows.
    NNC_NOINLINE void store(int most) {
      const Epi copy = *epi;
      Y *const to = y;
      const int last = smaller(rows, row + most);
      for (; row < last; ++row) {
        const int point = row + (row >= (tiles - 1) * tile_rows ? skip : 0);
        for (int c = 0; c < columns; ++c)
          store_sums_of_row(sums->load(c, point), to,
                            out + ptrdiff_t(row) * n + column + c * W,
                            column + c * W, n, copy);
      }
    }
  };

  /// Returns p.steps, which is a constant if the shape is constant.
  static constexpr int steps_of(const matmul_tiles_plan &p) {
    if constexpr (is_constant<S>)
      return plan(S{}).steps;
    else
      return p.steps;
  }

  /// Copies the rows of a strip. What lies behind the end of a row is zero; the
  /// rows that complete the last tile are not set.
  template <class A>
  static void copy_rows(const S &s, const A *a, int row, int count,
                        unsigned char *copy) {
    constexpr int step = tile_row_bytes / int(sizeof(A));
    const ptrdiff_t plane =
        ptrdiff_t(ceil_div(count, tile_rows)) * tile_bytes / int(sizeof(A));
    for (int r = 0; r < count; ++r) {
      A *to = reinterpret_cast<A *>(copy) + r * step;
      for (int k = 0; k < s.k; k += step, to += plane) {
        const int some = smaller(step, s.k - k);
        if (s.transpose_a)
          for (int i = 0; i < some; ++i)
            to[i] = a[ptrdiff_t(k + i) * s.m + row + r];
        else
          memcpy(static_cast<void *>(to), a + ptrdiff_t(row + r) * s.k + k,
                 size_t(some) * sizeof(A));
        memset(static_cast<void *>(to + some), 0,
               size_t(step - some) * sizeof(A));
      }
    }
  }

  /// Sets the points of the block at row `r` of a strip, and returns how many
  /// rows of its last tile belong to the block before: the last tile of a
  /// matrix that is read in place ends with it.
  template <class A>
  static int set_points(const S &s, const matmul_tiles_plan &p, const A *a,
                        const unsigned char *copy, int row, int r,
                        tile_run &at) {
    if (!p.in_place) {
      const int rows = smaller(p.rows, s.m - row);
      at.points[0] = copy + ptrdiff_t(r) * tile_row_bytes;
      at.points[1] = at.points[0] + tile_bytes;
      at.stride = tile_row_bytes;
      at.step = ptrdiff_t(ceil_div(rows, tile_rows)) * tile_bytes;
      return 0;
    }
    at.stride = ptrdiff_t(s.k) * int(sizeof(A));
    at.step = tile_row_bytes;
    const auto *first = reinterpret_cast<const unsigned char *>(a);
    int skip = 0;
    at.points[1] = nullptr;
    for (int i = 0; i < at.rows; ++i) {
      const int wanted = row + r + i * tile_rows;
      const int from = smaller(wanted, s.m - tile_rows);
      skip = wanted - from;
      at.points[i] = first + from * at.stride;
    }
    return skip;
  }

  /// Computes the sums of a block, and stores results of the block before.
  template <int R, int C, class T, class A, class Y>
  NNC_NOINLINE static void products(const matmul_tiles_plan &p,
                                    const tile_run &at, tile_sums<A> &sums,
                                    results<A, Y> &before) {
    const int steps = steps_of(p);
    add_run<R, C, T>(at, steps, ceil_div(before.rows, steps), sums, before);
  }
};

template <class S, int KB, class Epi>
using matmul_bf16_nk16n_amxbf16 = matmul_tiles_t<2, S, KB, Epi>;
template <class S, int KB, class Epi>
using matmul_i32_nk16n_amxint8 = matmul_tiles_t<1, S, KB, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_TILES_H
