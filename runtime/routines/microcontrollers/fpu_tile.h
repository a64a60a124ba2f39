//===- fpu_tile.h - Computes and stores tiles of single floats ------------===//
//
// Functions that the routines of the instruction set `fpu` share. With INLINE =
// 1 each layer has its own register tiles with constant sizes. With INLINE = 0
// all layers of a module call the same functions with run-time sizes, which
// keep sums in memory.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MICROCONTROLLERS_FPU_TILE_H
#define NNC_ROUTINES_MICROCONTROLLERS_FPU_TILE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/shapes/policy.h"
#include "runtime/simd/vec_fpu.h"

namespace nnc {

/// The positions of a tile's results: the result of point p and channel c is at
/// at + p * point + c * channel. LanesAreChannels selects the position type
/// that the epilogue gets.
template <bool LanesAreChannels> struct float_results {
  ptrdiff_t at, point, channel;
  int first; ///< channel of the first result
  int count; ///< number of channels, at most that of a sum
  int more;  ///< channels between neighbouring points

  template <class Y, class Epi>
  NNC_INLINE void put(Y *y, const Epi &epi, int p, int c, float v) const {
    if (c >= count)
      return;
    const ptrdiff_t offset = at + p * point + c * channel;
    y[offset] =
        epi(v, position<LanesAreChannels>{offset, first + p * more + c});
  }
  template <class Y, class Epi>
  NNC_INLINE void put_all(Y *y, const Epi &epi, int p, float v) const {
    put(y, epi, p, 0, v);
  }
  template <class Y, class Epi>
  NNC_INLINE void put_all(Y *y, const Epi &epi, int p, const four_floats &v,
                          int c = 0) const {
    put(y, epi, p, c, lane_of<0>(v));
    put(y, epi, p, c + 1, lane_of<1>(v));
    put(y, epi, p, c + 2, lane_of<2>(v));
    put(y, epi, p, c + 3, lane_of<3>(v));
  }
  template <class Y, class Epi>
  NNC_INLINE void put_all(Y *y, const Epi &epi, int p,
                          const eight_floats &v) const {
    put_all(y, epi, p, v.low);
    if (count > 4)
      put_all(y, epi, p, v.high, 4);
  }
};

/// Stores the sums of all points, of which the first is number p.
template <class V, class R, class Y, class Epi>
NNC_INLINE void put_points(const point_sums<0, V> &, const R &, Y *,
                           const Epi &, int) {}
template <int P, class V, class R, class Y, class Epi>
NNC_INLINE void put_points(const point_sums<P, V> &sums, const R &to, Y *y,
                           const Epi &epi, int p) {
  to.put_all(y, epi, p, sums.first);
  put_points(sums.others, to, y, epi, p + 1);
}

/// The form of a tile: the types of the factors and of a sum, and whether the
/// factors w are contiguous.
template <class X, class W, class V, bool IsPacked> struct tile_form {};

/// Computes a tile of P points and stores it. Without INLINE it has `points`
/// points, 1 or P, a number that need not be known.
template <int INLINE, int P, int Inner = 0, class X, class W, class V,
          bool IsPacked, bool L, class Y, class Epi>
NNC_INLINE void compute_tile(tile_form<X, W, V, IsPacked>, const float *x,
                             const float *w, const float_steps &steps,
                             const float_results<L> &to, Y *y, const Epi &epi,
                             [[maybe_unused]] int points = P) {
  if constexpr (INLINE) {
    point_sums<P, V> sums;
    add_steps<X, W, IsPacked, Inner>(sums, x, w, steps);
    put_points(sums, to, y, epi, 0);
  } else {
    constexpr int lanes = floats_in<V>;
    float sums[static_cast<size_t>(P * lanes)];
    add_shared_steps<X, W, V, IsPacked, P>(x, w, steps, points == 1, sums);
    NNC_KEEP_LOOP
    for (int p = 0; p < points; ++p) {
      NNC_KEEP_LOOP
      for (int c = 0; c < to.count; ++c)
        to.put(y, epi, p, c, sums[p * lanes + c]);
    }
  }
}

/// The rows of the output of a convolution. All rows count as one if each pixel
/// reads only the pixel of x at its own position.
struct float_rows {
  int count, width;
  bool is_flat;
};
template <class S> constexpr float_rows make_float_rows(const S &s) {
  const bool is_flat = s.kh == 1 && s.kw == 1 && s.pt == 0 && s.pl == 0 &&
                       s.sh == 1 && s.sw == 1 && s.oh == s.h && s.ow == s.w;
  return {is_flat ? 1 : s.oh, is_flat ? s.oh * s.ow : s.ow, is_flat};
}

/// Returns true if a tile of P pixels of a convolution may begin at pixel ox of
/// a row: all pixels lie in the row, and their windows lie in the rows of x.
template <int P, class S>
constexpr bool fits_float_tile(const S &s, const float_rows &rows, int ox) {
  const int left = ox * s.sw - s.pl;
  return ox + P <= rows.width &&
         (rows.is_flat ||
          (left >= 0 && left + (P - 1) * s.sw + (s.kw - 1) * s.dw < s.w));
}

/// The number of taps of a row if it is known and short enough to unroll.
template <class S, bool Unrolls> constexpr int unrolled_taps() {
  if constexpr (Unrolls && is_constant<S>)
    return S::kw > 1 && S::kw <= 5 ? S::kw : 0;
  else
    return 0;
}

} // namespace nnc

#endif // NNC_ROUTINES_MICROCONTROLLERS_FPU_TILE_H
