//===- store_sums.h - Stores sums of integers -----------------------------===//
//
// Functions that store vectors of sums or means of integers. The epilogue
// (epilogue.h) converts them to the values to store.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_STORE_SUMS_H
#define NNC_STORE_SUMS_H

#include "runtime/counts.h"
#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/simd/bytes.h"

namespace nnc {

/// Stores epi(v) at y[at] of a blocked layout, where v are sums or means of
/// integers. Lane 0 is channel `first`; lanes for channels from `channels` on
/// are stored as zero. An epilogue that takes only scalars is called for each
/// lane.
template <class V, class Y, class Epi>
NNC_INLINE void store_sums(V v, Y *y, ptrdiff_t at, int first, int channels,
                           const Epi &epi) {
  constexpr int W = lanes<V>;
  const bool whole = channels % W == 0 || first + W <= channels;
  if constexpr (takes_vectors<Epi, V>) {
    using memory = vector_memory<Y, W>;
    const auto result = epi(v, position<true>{at, first});
    if (whole)
      return memory::store(y + at, result);
    memory::store(y + at, memory::repeat(Y(0)));
    memory::store(y + at, result, channels - first);
  } else {
    conditional_t<is_f32<V>, float, int32_t> sums[static_cast<size_t>(W)];
    spread(v, sums);
    for (int i = 0; i < W; ++i)
      y[at + i] = first + i < channels
                      ? Y(epi(sums[i], position<true>{at + i, first + i}))
                      : Y(0);
  }
}
/// True if store_points computes the results of one point after the other. If
/// the operands of a point take most of the registers, unrolled code for
/// several points would spill them.
template <int W> constexpr bool makes_points_in_turn = false;
#if defined(NNC_RVV_VECTORS)
template <> inline constexpr bool makes_points_in_turn<8> = true;
#endif

/// Stores the results of P points, of which all channels exist, as store_points
/// does. A register of bytes holds those of four points.
template <class V, size_t Points, class Y, class Epi>
NNC_INLINE void store_fours(const V (&v)[Points], Y *y, ptrdiff_t at, int first,
                            const Epi &epi) {
  constexpr int W = lanes<V>, P = static_cast<int>(Points), fours = P / 4;
  constexpr int single = P % 4;
  vector_of<Y, 4 * W> results[fours];
  vector_of<Y, W> others[single + 1];
  NNC_UNROLL for (int i = 0; i < fours; ++i) {
    const V *four = v + 4 * i;
    results[i] = epi(i32x<4 * W>({four[0], four[1]}, {four[2], four[3]}),
                     position_of_four{at + 4 * i * W, first});
  }
  NNC_UNROLL for (int i = 0; i < single; ++i) others[i] =
      epi(v[4 * fours + i], position<true>{at + (4 * fours + i) * W, first});
  NNC_UNROLL for (int i = 0; i < fours; ++i)
      vector_memory<Y, 4 * W>::store(y + at + 4 * i * W, results[i]);
  NNC_UNROLL for (int i = 0; i < single; ++i)
      vector_memory<Y, W>::store(y + at + (4 * fours + i) * W, others[i]);
}

/// Calls store_sums for each of P points that follow each other in a blocked
/// layout, the first at y[at]. Operands that all points share are loaded once,
/// and bytes are stored several points at a time.
template <class V, size_t Points, class Y, class Epi>
NNC_INLINE void store_points(const V (&v)[Points], Y *y, ptrdiff_t at,
                             int first, int channels, const Epi &epi) {
  constexpr int W = lanes<V>, P = static_cast<int>(Points);
  if constexpr (takes_vectors<Epi, V> && sizeof(Y) == 1 && P > 1) {
    if (channels % W == 0 || first + W <= channels) {
      // No store comes between the loads of operands.
      if constexpr (makes_points_in_turn<W>) {
        Y results[static_cast<size_t>(P * W)];
        NNC_KEEP_LOOP for (int p = 0; p < P; ++p) vector_memory<Y, W>::store(
            results + p * W, epi(v[p], position<true>{at + p * W, first}));
        byte_lanes<W>::template copy<P * W>(y + at, results);
        return;
      }
      constexpr int fours = P / 4 * 4;
      if constexpr (fours > 0 && is_same<V, i32x<W>>::value &&
                    is_byte_register<Y, 4 * W>)
        return store_fours(v, y, at, first, epi);
      vector_of<Y, W> results[Points];
      NNC_UNROLL for (int p = 0; p < P; ++p) results[p] =
          epi(v[p], position<true>{at + p * W, first});
      NNC_UNROLL for (int p = 0; p < fours; p += 4)
          byte_lanes<W>::template store_four<Y>(
              y + at + p * W, results[p].v, results[p + 1].v, results[p + 2].v,
              results[p + 3].v);
      NNC_UNROLL for (int p = fours; p < P; ++p)
          vector_memory<Y, W>::store(y + at + p * W, results[p]);
      return;
    }
  }
  for (int p = 0; p < P; ++p)
    store_sums(v[p], y, at + p * W, first, channels, epi);
}
/// Stores epi(v) at y[at] of a row of `columns` columns, whose column `first`
/// is lane 0. Lanes behind the last column are not stored. The sums v are
/// integers or floats.
template <class V, class Y, class Epi>
NNC_INLINE void store_sums_of_row(V v, Y *y, ptrdiff_t at, int first,
                                  int columns, const Epi &epi) {
  constexpr int W = lanes<V>;
  using memory = vector_memory<Y, W>;
  const int count = smaller(W, columns - first);
  if constexpr (takes_vectors<Epi, V>) {
    const position<true> pos{at, first};
    if (count == W)
      memory::store(y + at, epi(v, pos));
    else
      memory::store(y + at, epi(v, pos, count), count);
  } else {
    conditional_t<is_f32<V>, float, int32_t> sums[static_cast<size_t>(W)];
    spread(v, sums);
    for (int i = 0; i < count; ++i)
      y[at + i] = Y(epi(sums[i], position<true>{at + i, first + i}));
  }
}

} // namespace nnc

#endif // NNC_STORE_SUMS_H
