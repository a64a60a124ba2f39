//===- strassen.h - Strassen's method as a method of transformed.h --------===//
//
// A product of a left factor (rows by channels) and constant weights (channels
// by filters) is cut as in strassen_matrices.h. A tile of transformed.h is one
// row of each half of the rows and has half the channels: its channel c stands
// for c and c + channels / 2. Its points are Strassen's seven products. With
// two levels each product is cut again: a tile has four rows, a quarter of the
// channels and 49 points. Rows are pixels or rows of a matrix.
//
// An image's rows are cut into four pieces, and the rows of a tile come from
// one piece, as far apart as the piece has tiles. So consecutive tiles read
// consecutive rows, and threads that divide the tiles in order keep to their
// places of the image (thread_ranges.h).
//
// Sums of blocks of the left factor are computed with floats. For f16 there is
// one level only, because rounding errors grow with each level.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_TRANSFORMS_STRASSEN_H
#define NNC_ROUTINES_TRANSFORMS_STRASSEN_H

#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/shapes/policy.h"
#include "runtime/routines/transforms/strassen_matrices.h"
#include "runtime/routines/transforms/strassen_plan.h"
#include "runtime/routines/transforms/transformed.h"

namespace nnc {

/// The method for transformed.h, with LEVELS levels. LAYOUT is a struct that
/// says where operands are: images(s), rows(s) of an image, channels(s) and
/// filters(s) of the whole product; left(s, image, row, block) and result(s,
/// image, row, block), offsets of a vector; store(v, y, at, block, s, epi);
/// load(s, x, image, row, block), which loads a vector of the left factor from
/// x of type `source`; and in_place(s), whether x is a pointer to that factor
/// and the rows of a channel block are contiguous.
template <class V, class LAYOUT, class S, int LEVELS, int P, int B>
struct strassen {
  static constexpr int W = lanes<V>;
  using vector = V;
  using E = element_of<V>;
  using F = f32x<W>;
  static constexpr int parts = 1 << LEVELS;
  /// Pieces of an image; all rows of a tile are in the same one.
  static constexpr int pieces = 4;
  static constexpr int points = strassen_points(LEVELS);
  static constexpr int summed_channels = strassen_summed(LEVELS, sizeof(E));
  using source = typename LAYOUT::source;

  static constexpr int channels(const S &s) {
    return LAYOUT::channels(s) / parts;
  }
  static constexpr int filters(const S &s) {
    return LAYOUT::filters(s) / parts;
  }
  static constexpr transformed_plan plan(const S &s) {
    return plan_strassen(LAYOUT::images(s), LAYOUT::rows(s),
                         LAYOUT::channels(s), LAYOUT::filters(s), LEVELS, W, P,
                         B, LAYOUT::in_place(s), sizeof(E));
  }

  static void input(const S &s, const transformed_plan &p, const source &x,
                    int t, int count, int c, E *v) {
    const tile_rows rows(p, t);
    for (int i = 0; i < count; ++i) {
      const int image = image_of(s, t + i, p.cols);
      tile_input(s, p, x, image,
                 alone(s) ? rows.next(i) : tile_rows(p, t + i - image * p.cols),
                 c, v + i * W);
    }
  }

  /// Location of a point's left factor: in scratch, group after group, if it is
  /// a sum of blocks; in the input if it is one block that is read in place.
  struct factors_of_point : point_factors<E> {
    const transformed_plan *p;
    int strip; ///< first tile of the strip
    int part;  ///< part of the rows read in place, or -1

    const E *group(int t) const {
      if (part < 0)
        return point_factors<E>::group(t);
      const int row = tile_rows(*p, strip + t).of_part(part);
      return this->first + ptrdiff_t(row) * W;
    }
  };
  static factors_of_point factors(const S &s, const transformed_plan &p,
                                  const source &x, const E *v, int point,
                                  int t) {
    const int blocks = ceil_div(channels(s), W);
    const strassen_part part = table.of[point].left;
    if constexpr (is_pointer_v<source>)
      if (in_place(s) && part.whole)
        return {{x + LAYOUT::left(s, 0, 0, part.column * blocks), W,
                 LAYOUT::left(s, 0, 0, 1)},
                &p,
                t,
                part.row};
    const int made = in_place(s) ? table.of[point].left_sums : point;
    return {{v + made * p.input_point, blocks * W, P * W}, &p, t, -1};
  }
  /// Partial sums have place 0, and the sums that are kept come after it.
  static constexpr int partial(int) { return 0; }
  static constexpr bool has_output = false;

  template <int R, int N, class Epi>
  static NNC_INLINE void fetch(const S &s, const transformed_plan &p,
                               const sums_place<E, Epi> &at) {
    const strassen_use last = last_use(at.point);
    if (!last.keep)
      for_each_result<R, N>(
          s, p, last, at,
          [epi = *at.epi](int, int, ptrdiff_t y, int) { epi.fetch(y); });
  }

  template <int R, int N, class Epi>
  static NNC_INLINE void finish(const S &s, const transformed_plan &p,
                                register_tile<V, 1, R, N> &tile,
                                const sums_place<E, Epi> &at) {
    E *const sums = at.products;
    const ptrdiff_t next = p.product_point;
    const strassen_uses &uses = table.of[at.point].uses;
    for (int i = 0; i < uses.count - 1; ++i) {
      const strassen_use use = uses.of[i];
      const E *const first = sums + use.add[0] * next;
      if (LEVELS > 1 && use.add[1])
        tile.save(sums + use.keep * next, first, sums + use.add[1] * next);
      else
        tile.save(sums + use.keep * next, first);
    }
    const strassen_use last = last_use(at.point);
    NNC_UNROLL for (int i = 0; i < LEVELS; ++i) if (last.add[i])
        tile.add_saved(sums + last.add[i] * next);
    if (last.keep)
      return tile.save(sums + last.keep * next);

    // A local copy, because the compiler has to assume that stores to y change
    // it.
    const Epi epi = *at.epi;
    E *const y = at.y;
    for_each_result<R, N>(
        s, p, last, at, [&](int i, int b, ptrdiff_t to, int block) {
          LAYOUT::store(widen(tile.sum[0][i][b]), y, to, block, s, epi);
        });
  }

private:
  static constexpr strassen_table<LEVELS> table = make_strassen_table<LEVELS>();

  /// Returns true if blocks of the left factor are read in place.
  static constexpr bool in_place(const S &s) {
    return strassen_in_place(LAYOUT::in_place(s), LAYOUT::images(s),
                             LAYOUT::rows(s), LEVELS);
  }
  /// Returns true if there is one image, so that all tiles of a group have
  /// neighbouring rows.
  static constexpr bool alone(const S &s) { return LAYOUT::images(s) == 1; }
  static int image_of(const S &s, int tile, int cols) {
    return alone(s) ? 0 : tile / cols;
  }

  /// The rows of an image that belong to one tile: one row of each of the parts
  /// into which the method cuts the rows. Rows beyond the end of the image
  /// count as zeros.
  class tile_rows {
  public:
    tile_rows(const transformed_plan &p, int tile) {
      const int groups = groups_of(p);
      const int piece = ((tile / P + 1) * pieces - 1) / groups;
      const int begin = cut(groups, piece, pieces) * P;
      const int end = cut(groups, piece + 1, pieces) * P;
      first = begin * (parts - 1) + tile;
      step = smaller(end, p.cols) - begin;
    }
    int of_part(int part) const { return first + part * step; }
    /// Rows of the i-th tile after this one in its group.
    tile_rows next(int i) const {
      tile_rows rows = *this;
      rows.first += i;
      return rows;
    }

  private:
    static int groups_of([[maybe_unused]] const transformed_plan &p) {
      if constexpr (is_constant<S>) {
        constexpr int groups = ceil_div(plan(S{}).cols, P);
        return groups;
      } else {
        return ceil_div(p.cols, P);
      }
    }
    int first, step;
  };

  /// Returns the last use of the sums of a point, which are products of blocks:
  /// they are added to a block of the result or to a sum that is kept.
  static strassen_use last_use(int point) {
    const strassen_uses &uses = table.of[point].uses;
    return uses.of[uses.count - 1];
  }

  /// Calls f(i, b, offset, block) for each vector of a register tile of
  /// results: tile i and block b of it are the result at `offset`, in channel
  /// block `block`. Leaves out rows that the image does not have.
  template <int R, int N, class Epi, class F>
  static NNC_INLINE void
  for_each_result(const S &s, const transformed_plan &p, strassen_use last,
                  const sums_place<E, Epi> &at, const F &f) {
    const int first = at.tile;
    const tile_rows rows(p, first);
    const int block = at.block + last.column * ceil_div(filters(s), W);
    NNC_UNROLL for (int b = 0; b < N; ++b)
        NNC_UNROLL for (int i = 0; i < R; ++i) {
      const int image = image_of(s, first + i, p.cols);
      const int row =
          (alone(s) ? rows.next(i) : tile_rows(p, first + i - image * p.cols))
              .of_part(last.row);
      if (in_place(s) || row < LAYOUT::rows(s))
        f(i, b, LAYOUT::result(s, image, row, block + b), block + b);
    }
  }

  /// Transforms channel block c of one tile: stores the left factors of all
  /// points, which are p.input_point elements apart, from v on.
  static NNC_INLINE void tile_input(const S &s, const transformed_plan &p,
                                    const source &x, int image,
                                    const tile_rows &rows, int c, E *v) {
    const int blocks = ceil_div(channels(s), W);
    F a[parts][parts];
    NNC_UNROLL for (int i = 0; i < parts; ++i) {
      const int at = rows.of_part(i);
      const bool there = i == 0 || in_place(s) || at < LAYOUT::rows(s);
      NNC_UNROLL for (int j = 0; j < parts; ++j) a[i][j] =
          there ? LAYOUT::load(s, x, image, at, c + j * blocks) : F(0.0f);
    }
    left_factors<LEVELS, 0>(s, a, v, p.input_point);
  }

  /// Computes the left factors of the products that L levels of the method make
  /// of the square a. These are the products from number FIRST on. The factor
  /// of product number i is stored at v + i * point.
  template <int L, int FIRST>
  static NNC_INLINE void left_factors(const S &s, const F (&a)[1 << L][1 << L],
                                      E *v, ptrdiff_t point) {
    if constexpr (L == 0) {
      constexpr auto product = table.of[FIRST];
      if (!in_place(s))
        nnc::store(v + FIRST * point, a[0][0]);
      else if (!product.left.whole)
        nnc::store(v + product.left_sums * point, a[0][0]);
    } else {
      constexpr int h = 1 << (L - 1);
      F left[strassen_products][h][h];
      NNC_UNROLL for (int i = 0; i < h; ++i)
          NNC_UNROLL for (int j = 0; j < h; ++j) {
        const F a11 = a[i][j], a12 = a[i][j + h];
        const F a21 = a[i + h][j], a22 = a[i + h][j + h];
        const F s1 = a21 + a22, s2 = s1 - a11;
        left[0][i][j] = a11;
        left[1][i][j] = a12;
        left[2][i][j] = s2;
        left[3][i][j] = a11 - a21;
        left[4][i][j] = a22;
        left[5][i][j] = s1;
        left[6][i][j] = a12 - s2;
      }
      left_factors_of<L, FIRST>(make_index_sequence<strassen_products>{}, s,
                                left, v, point);
    }
  }
  template <int L, int FIRST, size_t... I, class Left>
  static NNC_INLINE void left_factors_of(index_sequence<I...>, const S &s,
                                         const Left &left, E *v,
                                         ptrdiff_t point) {
    (left_factors<L - 1, FIRST + int(I) * strassen_points(L - 1)>(s, left[I], v,
                                                                  point),
     ...);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_TRANSFORMS_STRASSEN_H
