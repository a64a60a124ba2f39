//===- matrix.h - Sums of products in blocks of matrix tiles --------------===//
//
// The inner loop of convolutions and matrix products on tile registers
// (simd/matrix_tiles.h): blocks of R x C tiles of sums, from R tiles of points
// and C panels of 16 columns of weights. A step adds the products of 64 bytes
// of each point, which are a tile of each panel. A block of 2 x 2 tiles loads
// four tiles for four products.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_TILES_MATRIX_H
#define NNC_ROUTINES_TILES_MATRIX_H

#include "runtime/counts.h"
#include "runtime/functions.h"
#include "runtime/simd/bfloat.h"
#include "runtime/simd/bytes.h"
#include "runtime/simd/matrix_tiles.h"
#include "runtime/simd/unroll.h"

namespace nnc {

constexpr int tile_bytes = tile_rows * tile_row_bytes;

/// The sums of products of elements of type X.
template <class X>
using tile_sum_of = conditional_t<is_same<X, bf16>::value, float, int32_t>;

/// Adds the products of points of type X in tile A and weights of type T in
/// tile B to tile C.
template <class X, class T, int C, int A, int B>
NNC_INLINE void add_tiles(matrix_tiles &tiles) {
  if constexpr (is_same<X, bf16>::value)
    tiles.add_bf16<C, A, B>();
  else if constexpr (is_same<X, int8_t>::value && is_same<T, int8_t>::value)
    tiles.add_s8_s8<C, A, B>();
  else if constexpr (is_same<X, int8_t>::value)
    tiles.add_s8_u8<C, A, B>();
  else if constexpr (is_same<T, int8_t>::value)
    tiles.add_u8_s8<C, A, B>();
  else
    tiles.add_u8_u8<C, A, B>();
}

/// The sums of a block in memory: those of each of up to 32 points by up to 2
/// panels of 16 columns. While the products of a block are computed, the sums
/// of the block before it become results.
template <class X> struct alignas(64) tile_sums {
  using sum = tile_sum_of<X>;
  sum at[2][2 * tile_rows][tile_columns];

  /// Returns the address of the sums of a point by a panel, and of those of the
  /// 15 points that follow it.
  NNC_INLINE void *tile(int panel, int point) {
    return reinterpret_cast<unsigned char *>(this) +
           (panel * 2 * tile_rows + point) * tile_row_bytes;
  }
  NNC_INLINE auto load(int panel, int point) const {
    if constexpr (is_same<sum, float>::value)
      return nnc::load<f32x<tile_columns>>(at[panel][point]);
    else
      return byte_lanes<tile_columns>::load_bits(at[panel][point]);
  }
};

/// The addresses of the tiles of a step. Points are `stride` bytes apart; rows
/// of weights follow each other.
struct tile_places {
  const unsigned char *points[2];
  ptrdiff_t stride;
  const unsigned char *weights[2];
};

/// The registers of a block of R x C tiles of sums. Tiles 0 to 3 are sums, 4
/// and 5 points, and 6 and 7 weights.
template <class X, class T, int R, int C> struct tile_block {
  static_assert(R > 0 && R <= 2 && C > 0 && C <= 2, "there are eight tiles");

  matrix_tiles tiles;

  NNC_INLINE void clear() {
    tiles.template zero<0>();
    if constexpr (C == 2)
      tiles.template zero<1>();
    if constexpr (R == 2)
      tiles.template zero<2>();
    if constexpr (R == 2 && C == 2)
      tiles.template zero<3>();
  }

  NNC_INLINE void add(const tile_places &from) {
    tiles.template load<6>(from.weights[0], tile_row_bytes);
    tiles.template load<4>(from.points[0], from.stride);
    add_tiles<X, T, 0, 4, 6>(tiles);
    if constexpr (C == 2) {
      tiles.template load<7>(from.weights[1], tile_row_bytes);
      add_tiles<X, T, 1, 4, 7>(tiles);
    }
    if constexpr (R == 2) {
      tiles.template load<5>(from.points[1], from.stride);
      add_tiles<X, T, 2, 5, 6>(tiles);
    }
    if constexpr (R == 2 && C == 2)
      add_tiles<X, T, 3, 5, 7>(tiles);
  }

  NNC_INLINE void store(tile_sums<X> &sums) {
    tiles.template store<0>(sums.tile(0, 0), tile_row_bytes);
    if constexpr (C == 2)
      tiles.template store<1>(sums.tile(1, 0), tile_row_bytes);
    if constexpr (R == 2)
      tiles.template store<2>(sums.tile(0, tile_rows), tile_row_bytes);
    if constexpr (R == 2 && C == 2)
      tiles.template store<3>(sums.tile(1, tile_rows), tile_row_bytes);
  }
};

/// The tiles that a block adds up if all of its sums have the same steps one
/// after the other.
struct tile_run {
  const unsigned char *points[2]; ///< the first step of each tile of points
  ptrdiff_t stride, step;         ///< bytes between points, between steps
  const unsigned char *weights;   ///< the first panel
  ptrdiff_t panel;                ///< bytes of a panel
  const unsigned char *tail[2];   ///< the last step of each panel
  int rows, columns;              ///< tiles of points, panels

  /// Sets the last step of panel c, the end of which is behind the panel unless
  /// that consists of whole steps. What follows the last panel of all cannot be
  /// read, nor what follows a panel of less than a step, where the panels after
  /// it may be too short. Their last steps are completed with zeros in scratch.
  /// So are those of panels for which `alone` is true.
  void set_tail(int c, int steps, bool alone, unsigned char *scratch) {
    const unsigned char *from =
        weights + c * panel + ptrdiff_t(steps - 1) * tile_bytes;
    const ptrdiff_t bytes = panel % tile_bytes;
    tail[c] = from;
    if (bytes == 0 || !(alone || steps == 1))
      return;
    unsigned char *copy = scratch + c * tile_bytes;
    memcpy(copy, from, size_t(bytes));
    memset(copy + bytes, 0, size_t(tile_bytes - bytes));
    tail[c] = copy;
  }
};

/// Computes the sums of a block of `steps` steps. After each step, stores
/// `share` results of the block before.
template <int R, int C, class T, class X, class Results>
NNC_INLINE void add_run(const tile_run &at, int steps, int share,
                        tile_sums<X> &sums, Results &before) {
  tile_block<X, T, R, C> block;
  block.clear();
  tile_places from{{at.points[0], at.points[1]},
                   at.stride,
                   {at.weights, at.weights + at.panel}};
  NNC_KEEP_LOOP for (int step = 1; step < steps; ++step) {
    block.add(from);
    before.store(share);
    for (int i = 0; i < R; ++i)
      from.points[i] += at.step;
    for (int i = 0; i < C; ++i)
      from.weights[i] += tile_bytes;
  }
  for (int i = 0; i < C; ++i)
    from.weights[i] = at.tail[i];
  block.add(from);
  before.store(share);
  block.store(sums);
}

/// Calls f(rows, columns), constants, for a block of that many tiles.
template <class F> NNC_INLINE void in_block(int rows, int columns, const F &f) {
  using one = integral_constant<int, 1>;
  using two = integral_constant<int, 2>;
  if (rows == 2 && columns == 2)
    f(two(), two());
  else if (rows == 2)
    f(two(), one());
  else if (columns == 2)
    f(one(), two());
  else
    f(one(), one());
}

} // namespace nnc

#endif // NNC_ROUTINES_TILES_MATRIX_H
