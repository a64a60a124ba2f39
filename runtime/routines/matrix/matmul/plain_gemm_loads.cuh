//===- plain_gemm_loads.cuh - What a thread of plain_gemm.cuh loads -------===//
//
// Tiles of row-major matrices on their way from global to shared memory, in
// chunks of 16 bytes. A tile has the terms of a step of EXTENT rows of the left
// operand, or of EXTENT columns of the right one.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_PLAIN_GEMM_LOADS_CUH
#define NNC_ROUTINES_MATRIX_MATMUL_PLAIN_GEMM_LOADS_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_loads.cuh"
#include "runtime/simd/unroll.h"

#include <stddef.h>
#include <stdint.h>

namespace nnc {

/// Kinds of rows of a tile, in global and in shared memory: the terms of a row
/// of the left operand, the terms of a column of the right one, or the elements
/// of either that belong to one term. Those of `of_word_term` have four bytes
/// each, and a warp reads eight of each of four terms at once.
enum class tile_row { of_left, of_right, of_term, of_word_term };

/// True if a row of the tile is a term.
NNC_FN constexpr bool is_term(tile_row row) {
  return row == tile_row::of_term || row == tile_row::of_word_term;
}

/// The place of chunks of a tile in shared memory: chunk c of row r lies at
/// chunk c ^ swizzle(r) of that row, so that the eight rows of a matrix that
/// ldmatrix reads at once are in different banks. These are consecutive rows
/// or, of the right operand, rows 8 i and 8 i + 1 for i from 0 to 3
/// (plain_gemm_products.cuh).
template <tile_row ROW, int CHUNKS> NNC_INLINE int tile_swizzle(int row) {
  constexpr int mixed = smaller(CHUNKS, 8);
  if constexpr (ROW == tile_row::of_right && mixed == 8)
    return row / 8 % 4 * 2 + row % 2;
  else if constexpr (ROW == tile_row::of_right)
    return row / 8 % mixed;
  else if constexpr (ROW == tile_row::of_word_term)
    return row / (8 / mixed) % (mixed / 2) * 2;
  else
    return row / (8 / mixed) % mixed;
}

/// The chunks of a tile that one thread brings to shared memory: one column of
/// chunks, in every few rows. Consecutive steps are loaded in turn. With WHOLE,
/// all rows of the matrix are whole chunks and aligned; else `aligned` tells
/// whether they are, and a thread loads single elements if not.
template <class T, tile_row ROW, int EXTENT, int DEPTH_BYTES, int THREADS,
          bool WHOLE>
struct tile_loads {
  static constexpr int elements = 16 / int(sizeof(T)); ///< of a chunk
  static constexpr int depth = DEPTH_BYTES / int(sizeof(T));
  static constexpr bool by_terms = is_term(ROW);
  static constexpr int rows = by_terms ? depth : EXTENT;
  static constexpr int chunks = (by_terms ? EXTENT : depth) / elements;
  static constexpr int row_step = THREADS / chunks;
  static constexpr int count = rows / row_step;
  static constexpr int row_bytes = chunks * 16;
  using bits = typename gemm_product<T>::bits;
  static_assert(THREADS % chunks == 0 && rows % row_step == 0,
                "threads load whole columns of chunks");

  const T *from; ///< the thread's first chunk of the step
  int pitch;     ///< elements from a row of the matrix to the next
  int rows_left, elements_left; ///< from that chunk to the end of the matrix
  int thread;
  bool aligned;

  /// The tile of rows or columns from `first` on. The matrix has `extent` of
  /// them, and sums have `terms` terms.
  NNC_INLINE tile_loads(const T *matrix, int extent, int terms, int first,
                        int step, int thread, bool aligned)
      : pitch(by_terms ? extent : terms), thread(thread),
        aligned(WHOLE || aligned) {
    const int first_term = step * depth;
    const int row = thread / chunks + (by_terms ? first_term : first);
    const int element =
        thread % chunks * elements + (by_terms ? first : first_term);
    from = matrix + (ptrdiff_t(row) * pitch + element);
    rows_left = (by_terms ? terms : extent) - row;
    elements_left = pitch - element;
  }

  /// Moves to the next step.
  NNC_INLINE void advance() {
    if constexpr (by_terms) {
      from += ptrdiff_t(depth) * pitch;
      rows_left -= depth;
    } else {
      from += depth;
      elements_left -= depth;
    }
  }
  /// Starts to copy the chunks to the tile at `tile`.
  template <class B> NNC_INLINE void copy(B &b, shared_address tile) const {
    static_assert(WHOLE, "copies are of whole chunks");
    NNC_UNROLL
    for (int i = 0; i < count; ++i)
      b.copy_async(tile + place(i), at(i), inside(i));
  }
  /// Loads the chunks.
  template <class B> NNC_INLINE void load(B &b, words4 (&to)[count]) const {
    NNC_UNROLL
    for (int i = 0; i < count; ++i)
      to[i] = words4{};
    if (aligned) {
      NNC_UNROLL
      for (int i = 0; i < count; ++i)
        if (inside(i))
          to[i] = b.load_global(reinterpret_cast<const words4 *>(at(i)));
      return;
    }
    if constexpr (!WHOLE) {
      NNC_UNROLL
      for (int i = 0; i < count; ++i)
        if (inside(i))
          to[i] = load_elements(b, at(i));
    }
  }
  /// Stores loaded chunks to the tile at `tile`.
  template <class B>
  NNC_INLINE void store(B &b, shared_address tile,
                        const words4 (&from_chunks)[count]) const {
    NNC_UNROLL
    for (int i = 0; i < count; ++i)
      b.store_shared(tile + place(i), from_chunks[i]);
  }

private:
  /// Loads the elements of the chunk at `p` that the matrix has.
  template <class B> NNC_INLINE words4 load_elements(B &b, const T *p) const {
    constexpr int per_word = 4 / int(sizeof(T));
    const auto *element = reinterpret_cast<const bits *>(p);
    words4 chunk = {};
    NNC_UNROLL
    for (int e = 0; e < elements; ++e)
      if (e < elements_left)
        chunk.word[e / per_word] |= uint32_t(b.load_global(element + e))
                                    << e % per_word * int(sizeof(T)) * 8 % 32;
    return chunk;
  }
  NNC_INLINE bool inside(int i) const {
    return i * row_step < rows_left && elements_left > 0;
  }
  NNC_INLINE const T *at(int i) const {
    return from + ptrdiff_t(i * row_step) * pitch;
  }
  /// True if chunks change places within a row against bank conflicts. Rows of
  /// terms that are multiplied by fused multiply-adds need that not, as the
  /// threads of a warp read one at a time.
  static constexpr bool swizzles =
      ROW != tile_row::of_term || sizeof(T) < sizeof(float);
  NNC_INLINE int place(int i) const {
    const int row = thread / chunks + i * row_step;
    const int chunk = thread % chunks;
    return row * row_bytes +
           (swizzles ? chunk ^ tile_swizzle<ROW, chunks>(row) : chunk) * 16;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_PLAIN_GEMM_LOADS_CUH
