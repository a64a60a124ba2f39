//===- strassen.h - Strassen's method, for transformed.h ----------------===//
//
// Rows q and q + half of the left factor and of the result are a tile's, and
// so are channels c and c + channels / 2: transformed.h's points are Strassen's
// seven products. Of two levels each of these is cut again, so that a tile has
// four rows, a quarter of the channels and 49 points. Rows are pixels or rows
// of a matrix.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STRASSEN_H
#define NNC_ROUTINES_STRASSEN_H

#include "runtime/routines/strassen_matrices.h"
#include "runtime/routines/strassen_plan.h"
#include "runtime/routines/transformed.h"

namespace nnc {

/// LAYOUT says where things are: images(s), rows(s) of an image, channels(s)
/// and filters(s) of the whole, left(s, image, row, block) and result(s, image,
/// row, block) as offsets of a vector, and store(v, y, at, block, s, epi).
template <int W, class LAYOUT, class S, int LEVELS, int P, int B>
struct strassen {
  static constexpr int parts = 1 << LEVELS;
  static constexpr int points = strassen_points(LEVELS);
  static constexpr int summed_channels = strassen_summed_channels;

  static constexpr int channels(const S &s) {
    return LAYOUT::channels(s) / parts;
  }
  static constexpr int filters(const S &s) {
    return LAYOUT::filters(s) / parts;
  }
  static constexpr transformed_plan plan(const S &s) {
    return plan_strassen(LAYOUT::images(s), LAYOUT::rows(s),
                         LAYOUT::channels(s), LAYOUT::filters(s), LEVELS, W, P,
                         B);
  }

  static void input(const S &s, const transformed_plan &p, const float *x,
                    int t, int c, float *v) {
    const int image = t / p.cols, row = t % p.cols, blocks = channels(s) / W;
    f32x<W> a[parts][parts];
    NNC_UNROLL for (int i = 0; i < parts; ++i) {
      const int at = row + i * p.cols;
      const bool there = i == 0 || at < LAYOUT::rows(s);
      NNC_UNROLL for (int j = 0; j < parts; ++j) a[i][j] =
          there ? f32x<W>::load(x + LAYOUT::left(s, image, at, c + j * blocks))
                : f32x<W>(0.0f);
    }
    left_factors<LEVELS>(a, v, p.input_point);
  }

  template <class Epi>
  static void output(const S &s, const transformed_plan &p,
                     const float *products, int t, int block, float *y,
                     const Epi &epilogue) {
    // A copy: for all the compiler knows, y could point at the epilogue.
    const Epi epi = epilogue;
    f32x<W> c[parts][parts];
    sum_products<LEVELS>(products, p.product_point, c);
    const int image = t / p.cols, row = t % p.cols, blocks = filters(s) / W;
    NNC_UNROLL for (int i = 0; i < parts; ++i) {
      const int at = row + i * p.cols;
      if (i == 0 || at < LAYOUT::rows(s))
        NNC_UNROLL for (int j = 0; j < parts; ++j) {
          const int to = block + j * blocks;
          LAYOUT::store(c[i][j], y, LAYOUT::result(s, image, at, to), to, s,
                        epi);
        }
    }
  }

private:
  /// The left factors of the square a, to v and every `point` on from there.
  template <int L>
  static NNC_INLINE void left_factors(const f32x<W> (&a)[1 << L][1 << L],
                                      float *v, std::ptrdiff_t point) {
    if constexpr (L == 0) {
      a[0][0].store(v);
    } else {
      constexpr int h = 1 << (L - 1);
      f32x<W> left[strassen_products][h][h];
      NNC_UNROLL for (int i = 0; i < h; ++i)
          NNC_UNROLL for (int j = 0; j < h; ++j) {
        const f32x<W> a11 = a[i][j], a12 = a[i][j + h];
        const f32x<W> a21 = a[i + h][j], a22 = a[i + h][j + h];
        const f32x<W> s1 = a21 + a22, s2 = s1 - a11;
        left[0][i][j] = a11;
        left[1][i][j] = a12;
        left[2][i][j] = a12 - s2;
        left[3][i][j] = a22;
        left[4][i][j] = s1;
        left[5][i][j] = s2;
        left[6][i][j] = a11 - a21;
      }
      NNC_UNROLL for (int i = 0; i < strassen_products; ++i)
          left_factors<L - 1>(left[i], v + i * strassen_points(L - 1) * point,
                              point);
    }
  }

  /// The square c of the products at u and every `point` on from there.
  template <int L>
  static NNC_INLINE void sum_products(const float *u, std::ptrdiff_t point,
                                      f32x<W> (&c)[1 << L][1 << L]) {
    if constexpr (L == 0) {
      c[0][0] = f32x<W>::load(u);
    } else {
      constexpr int h = 1 << (L - 1);
      f32x<W> m[strassen_products][h][h];
      NNC_UNROLL for (int i = 0; i < strassen_products; ++i)
          sum_products<L - 1>(u + i * strassen_points(L - 1) * point, point,
                              m[i]);
      NNC_UNROLL for (int i = 0; i < h; ++i)
          NNC_UNROLL for (int j = 0; j < h; ++j) {
        const f32x<W> u2 = m[0][i][j] + m[5][i][j], u3 = u2 + m[6][i][j];
        c[i][j] = m[0][i][j] + m[1][i][j];
        c[i][j + h] = u2 + m[4][i][j] + m[2][i][j];
        c[i + h][j] = u3 - m[3][i][j];
        c[i + h][j + h] = u3 + m[4][i][j];
      }
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_STRASSEN_H
