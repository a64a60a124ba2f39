//===- flash_tile.cuh - Tiles of attention, and how they are loaded -------===//
//
// A tile holds rows of q, k or v in shared memory, each padded with zeros to
// DIM elements. Chunk c of 16 bytes of row r lies at chunk c ^ swizzle(r), so
// that eight rows that ldmatrix reads and those that a warp copies are in
// different banks.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_ATTENTION_FLASH_TILE_CUH
#define NNC_ROUTINES_ATTENTION_FLASH_TILE_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/simd/half.h"
#include "runtime/simd/unroll.h"

#include <stddef.h>
#include <stdint.h>

namespace nnc {

/// A block computes QUERIES rows of y in steps of KEYS keys, two of which are
/// in shared memory. Rows have up to DIM elements of type T, of two bytes.
template <int DIM, int QUERIES, int KEYS, class T = f16> struct flash_tile {
  using element = T;
  static constexpr int dim = DIM, queries = QUERIES, keys = KEYS;
  static constexpr int warps = 4, threads = warps * warp_lanes;
  static constexpr int warp_queries = QUERIES / warps;
  static constexpr int elements = 8; ///< of a chunk
  static constexpr int chunks = DIM / elements, row_bytes = DIM * 2;
  /// A stage holds a step of k and then the same of v. Before the first step,
  /// the second stage and what follows it hold q.
  static constexpr int rows_bytes = KEYS * row_bytes;
  static constexpr int stage_bytes = 2 * rows_bytes;
  static constexpr int q_bytes = QUERIES * row_bytes;
  static constexpr int shared_bytes =
      stage_bytes + larger(stage_bytes, q_bytes);

  static_assert(DIM % 32 == 0, "ldmatrix without conflicts is arranged for it");
  static_assert(QUERIES % (warps * 16) == 0, "a warp has whole mma of 16 rows");
  static_assert(KEYS % 32 == 0, "threads load whole rows");
};

/// The queries that a block computes.
template <class Tile> struct flash_place_of {
  int image, head, query; ///< the first one

  template <class B, class S> NNC_INLINE flash_place_of(B &b, const S &s) {
    const int tiles = ceil_div(s.queries, Tile::queries);
    query = b.block_x() % tiles * Tile::queries;
    head = b.block_x() / tiles % s.heads;
    image = b.block_x() / tiles / s.heads;
  }
  /// The number of the head's first element behind the start of an operand.
  NNC_INLINE ptrdiff_t of(const int (&strides)[3]) const {
    return ptrdiff_t(image) * strides[0] + ptrdiff_t(head) * strides[1];
  }
};

/// The place of a chunk in a tile, in bytes.
template <class Tile> NNC_INLINE int flash_place(int row, int chunk) {
  const int swizzle = Tile::row_bytes % 128 == 0 ? row % 8 : row / 2 % 4;
  return row * Tile::row_bytes + (chunk ^ swizzle) * 16;
}

/// The chunks of tiles of ROWS rows that one thread brings to shared memory:
/// every few chunks of every few rows. Consecutive tiles are loaded in turn.
template <class Tile, int ROWS> struct flash_rows {
  using element = typename Tile::element;
  static constexpr int across = Tile::row_bytes % 128 == 0 ? 8 : 4;
  static constexpr int row_step = Tile::threads / across;
  static constexpr int columns = Tile::chunks / across;
  static constexpr int count = ROWS / row_step * columns;
  static_assert(ROWS % row_step == 0, "threads load whole columns of chunks");

  const element *from; ///< the thread's first chunk of the tile
  int step;            ///< elements from a row to the next
  int rows;            ///< from the thread's first one to the last one
  int size;       ///< elements from the thread's first chunk to the row's end
  int row, chunk; ///< of the thread's first chunk

  /// `first` is the first of `rows` rows of `size` elements.
  NNC_INLINE flash_rows(int thread, const element *first, int step, int rows,
                        int size)
      : step(step), row(thread / across), chunk(thread % across) {
    from = first + ptrdiff_t(row) * step + chunk * Tile::elements;
    this->rows = rows - row;
    this->size = size - chunk * Tile::elements;
  }
  NNC_INLINE void advance() {
    from += ptrdiff_t(ROWS) * step;
    rows -= ROWS;
  }
  template <class B> NNC_INLINE void copy(B &b, shared_address tile) const {
    NNC_UNROLL
    for (int i = 0; i < count; ++i)
      b.copy_async(tile + place(i), at(i), exists(i));
  }
  template <class B> NNC_INLINE void load(B &b, words4 (&to)[count]) const {
    NNC_UNROLL
    for (int i = 0; i < count; ++i)
      to[i] = exists(i) ? b.load_global(reinterpret_cast<const words4 *>(at(i)))
                        : words4{};
  }
  template <class B>
  NNC_INLINE void store(B &b, shared_address tile,
                        const words4 (&chunks)[count]) const {
    NNC_UNROLL
    for (int i = 0; i < count; ++i)
      b.store_shared(tile + place(i), chunks[i]);
  }

private:
  NNC_INLINE const element *at(int i) const {
    return from + (ptrdiff_t(i / columns * row_step) * step +
                   i % columns * (across * Tile::elements));
  }
  NNC_INLINE bool exists(int i) const {
    return i / columns * row_step < rows &&
           i % columns * (across * Tile::elements) < size;
  }
  NNC_INLINE int place(int i) const {
    return flash_place<Tile>(row + i / columns * row_step,
                             chunk + i % columns * across);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_ATTENTION_FLASH_TILE_CUH
