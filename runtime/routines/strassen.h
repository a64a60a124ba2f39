//===- strassen.h - One step of Strassen's method, for transformed.h ------===//
//
// Rows q and q + half of the left factor and of the result are a tile's, and
// so are channels c and c + channels / 2: transformed.h's points are Strassen's
// seven products. Rows are pixels or rows of a matrix.
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
template <int W, class LAYOUT, class S, int P, int B> struct strassen {
  static constexpr int points = strassen_products;
  static constexpr int summed_channels = strassen_summed_channels;

  static constexpr int channels(const S &s) { return LAYOUT::channels(s) / 2; }
  static constexpr int filters(const S &s) { return LAYOUT::filters(s) / 2; }
  static constexpr transformed_plan plan(const S &s) {
    return plan_strassen(LAYOUT::images(s), LAYOUT::rows(s),
                         LAYOUT::channels(s), LAYOUT::filters(s), W, P, B);
  }

  static void input(const S &s, const transformed_plan &p, const float *x,
                    int t, int c, float *v) {
    const int image = t / p.cols, row = t % p.cols, other = row + p.cols;
    const int behind = c + channels(s) / W;
    const f32x<W> a11 = f32x<W>::load(x + LAYOUT::left(s, image, row, c));
    const f32x<W> a12 = f32x<W>::load(x + LAYOUT::left(s, image, row, behind));
    f32x<W> a21(0.0f), a22(0.0f);
    if (other < LAYOUT::rows(s)) {
      a21 = f32x<W>::load(x + LAYOUT::left(s, image, other, c));
      a22 = f32x<W>::load(x + LAYOUT::left(s, image, other, behind));
    }
    const f32x<W> s1 = a21 + a22, s2 = s1 - a11;
    const f32x<W> left[] = {a11, a12, a12 - s2, a22, s1, s2, a11 - a21};
    NNC_UNROLL for (int i = 0; i < points; ++i) left[i].store(
        v + i * p.input_point);
  }

  template <class Epi>
  static void output(const S &s, const transformed_plan &p,
                     const float *products, int t, int block, float *y,
                     const Epi &epilogue) {
    // A copy: for all the compiler knows, y could point at the epilogue.
    const Epi epi = epilogue;
    f32x<W> u[points];
    NNC_UNROLL for (int i = 0; i < points; ++i) u[i] =
        f32x<W>::load(products + i * p.product_point);
    const int image = t / p.cols, row = t % p.cols, other = row + p.cols;
    const int behind = block + filters(s) / W;
    const f32x<W> u2 = u[0] + u[5], u3 = u2 + u[6];
    const auto store = [&](f32x<W> value, int at_row, int at_block) {
      LAYOUT::store(value, y, LAYOUT::result(s, image, at_row, at_block),
                    at_block, s, epi);
    };
    store(u[0] + u[1], row, block);
    store(u2 + u[4] + u[2], row, behind);
    if (other < LAYOUT::rows(s)) {
      store(u3 - u[3], other, block);
      store(u3 + u[4], other, behind);
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_STRASSEN_H
