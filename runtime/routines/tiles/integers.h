//===- integers.h - A register tile of sums of products of integers -------===//
//
// The inner loop of convolutions and matrix products of integers, the
// counterpart of floats.h: P points times B vectors of weights, whose products
// are computed by a form D of simd/dots.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_TILES_INTEGERS_H
#define NNC_ROUTINES_TILES_INTEGERS_H

#include "runtime/counts.h"
#include "runtime/functions.h"
#include "runtime/routines/tiles/ordered_weights.h"
#include "runtime/routines/tiles/register_sums.h"
#include "runtime/routines/tiles/signed_pairs.h"
#include "runtime/simd/dots.h"

namespace nnc {

/// A register tile of P points times B vectors.
template <class D, int P, int B>
struct dot_tile : register_sums<D::lanes, P, B> {
  static_assert(P > 0 && B > 0, "a tile has points");
  static constexpr int W = D::lanes;

  using register_sums<W, P, B>::sum;

  /// Adds the products of one group of numbers of each point. The points are
  /// `point` numbers apart, the vectors of weights `block` weights.
  template <class T>
  NNC_INLINE void add(const typename D::point *points, ptrdiff_t point,
                      const T *w, ptrdiff_t block) {
    i32x<W> weights[B];
    NNC_UNROLL for (int b = 0; b < B; ++b) weights[b] =
        D::weights(w + b * block);
    if constexpr (D::by_lane)
      if (point == D::group) {
        constexpr int fours = P / 4 * 4;
        NNC_UNROLL for (int p = 0; p < fours; p += 4) {
          const i32x<W> four = byte_lanes<W>::load_bits(points + p * D::group);
          NNC_UNROLL for (int b = 0; b < B; ++b) {
            sum[p][b] = D::template add_lane<0>(sum[p][b], four, weights[b]);
            sum[p + 1][b] =
                D::template add_lane<1>(sum[p + 1][b], four, weights[b]);
            sum[p + 2][b] =
                D::template add_lane<2>(sum[p + 2][b], four, weights[b]);
            sum[p + 3][b] =
                D::template add_lane<3>(sum[p + 3][b], four, weights[b]);
          }
        }
        return add_each<fours>(points, point, weights);
      }
    add_each<0>(points, point, weights);
  }

private:
  /// Adds the products of points FIRST to P - 1.
  template <int FIRST>
  NNC_INLINE void add_each(const typename D::point *points, ptrdiff_t point,
                           const i32x<W> (&weights)[B]) {
    NNC_UNROLL for (int p = FIRST; p < P; ++p) {
      const i32x<W> v = repeat_group<D>(points + p * point);
      NNC_UNROLL for (int b = 0; b < B; ++b) sum[p][b] =
          D::add(sum[p][b], v, weights[b]);
    }
  }
};

/// The register tile for matrix multiply instructions. Each vector of sums is a
/// 2 x 2 matrix per group of lanes: two consecutive points by two columns.
template <int P, int B> struct dot_tile<matrix_dots, P, B> {
  using D = matrix_dots;
  static constexpr int W = D::lanes, halves = W / 2, pairs = ceil_div(P, 2);

  D::sums sum[pairs][B * halves];

  NNC_INLINE void clear() {
    NNC_UNROLL for (int p = 0; p < pairs; ++p)
        NNC_UNROLL for (int b = 0; b < B * halves; ++b) sum[p][b] = D::zero();
  }

  NNC_INLINE void add(const int8_t *points, ptrdiff_t point, const int8_t *w,
                      ptrdiff_t block) {
    D::factors weights[B * halves];
    NNC_UNROLL for (int b = 0; b < B * halves; ++b) weights[b] =
        D::load(w + b / halves * block + b % halves * 16);
    NNC_UNROLL for (int p = 0; p < pairs; ++p) {
      const int8_t *first = points + 2 * p * point;
      // With an odd number of points, the last one has no partner.
      const D::factors v = 2 * p + 1 == P ? D::load(first, first)
                           : point == 8   ? D::load(first)
                                          : D::load(first, first + point);
      NNC_UNROLL for (int b = 0; b < B * halves; ++b) sum[p][b] =
          D::add(sum[p][b], v, weights[b]);
    }
  }

  template <class F> NNC_INLINE void for_each(const F &store) const {
    i32x<W> done[B][P];
    NNC_UNROLL for (int p = 0; p < P; ++p)
        NNC_UNROLL for (int b = 0; b < B; ++b) {
      const D::sums *columns = sum[p / 2] + b * halves;
      done[b][p] = p % 2 ? D::row<1>(columns[0], columns[1])
                         : D::row<0>(columns[0], columns[1]);
    }
    NNC_FORGET_LOADS;
    for (int b = 0; b < B; ++b)
      store(b, done[b]);
  }
};

/// The register tile for weights as bounded_weights.h defines them.
template <int LANES, int SUM, bool ORDERED, int P, int B>
struct dot_tile<bounded_dots<LANES, SUM, ORDERED>, P, B>
    : register_sums<LANES, P, B> {
  static constexpr int W = LANES;
  using bytes = byte_lanes<W>;

  using register_sums<W, P, B>::sum;

  NNC_INLINE void add(const uint8_t *points, ptrdiff_t point, const int8_t *w,
                      ptrdiff_t block) {
    if constexpr (SUM == 4) {
      NNC_UNROLL for (int p = 0; p < P; ++p) {
        const i32x<W> first = repeat_bits<W>(points + p * point);
        const i32x<W> second = repeat_bits<W>(points + p * point + 4);
        NNC_UNROLL for (int b = 0; b < B; ++b) {
          const int8_t *own = w + b * block;
          const i32x<W> low = bytes::load_bits(own);
          const i32x<W> high = bytes::load_bits(own + 4 * W);
          sum[p][b] = bytes::bounded_dot8(sum[p][b], first, low, second, high);
        }
      }
    } else {
      // One half after the other, so that their weights need B registers.
      NNC_UNROLL for (int four = 0; four < 2; ++four) {
        i32x<W> weights[B];
        NNC_UNROLL for (int b = 0; b < B; ++b) weights[b] =
            bytes::load_bits(w + b * block + four * 4 * W);
        NNC_UNROLL for (int p = 0; p < P; ++p) {
          const i32x<W> v = repeat_bits<W>(points + p * point + four * 4);
          NNC_UNROLL for (int b = 0; b < B; ++b) sum[p][b] =
              bytes::bounded_dot4(sum[p][b], v, weights[b]);
        }
      }
    }
  }

  /// Adds the products of the extra vectors of the blocks at w, which are
  /// `block` bytes apart. find(place) returns the address of the four numbers
  /// of the first point that an extra vector at this place multiplies.
  template <class Find>
  NNC_INLINE void add_extras(const bounded_weights &weights, const int8_t *w,
                             ptrdiff_t block, ptrdiff_t point,
                             const Find &find) {
    NNC_UNROLL for (int b = 0; b < B; ++b) {
      const int8_t *own = w + b * block;
      const int8_t *extra = own + weights.extras();
      const int8_t *place = own + weights.places();
      const int8_t *const end = place + 4 * number(own + weights.count());
      NNC_KEEP_LOOP for (; place < end; place += 8) {
        const uint8_t *x = find(number(place)), *y = find(number(place + 4));
        const i32x<W> low = bytes::load_bits(extra);
        const i32x<W> high = bytes::load_bits(extra + 4 * W);
        extra += 8 * W;
        NNC_UNROLL for (int p = 0; p < P; ++p) sum[p][b] =
            bytes::bounded_dot8(sum[p][b], repeat_bits<W>(x + p * point), low,
                                repeat_bits<W>(y + p * point), high);
      }
    }
  }

private:
  static NNC_INLINE int number(const int8_t *p) {
    int32_t n;
    memcpy(&n, p, sizeof n);
    return n;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_TILES_INTEGERS_H
