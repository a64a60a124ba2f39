//===- plain_gemm_products.cuh - Products of plain_gemm.cuh ---------------===//
//
// The policies of plain_gemm.cuh that multiply rows of a by columns of b, both
// in shared memory, and store a thread's sums. LEFT and RIGHT are the kinds of
// rows that the tiles of a and of b have (plain_gemm_loads.cuh).
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_PLAIN_GEMM_PRODUCTS_CUH
#define NNC_ROUTINES_MATRIX_MATMUL_PLAIN_GEMM_PRODUCTS_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/blocks/quads.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_loads.cuh"
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_store.cuh"
#include "runtime/routines/matrix/matmul/plain_gemm_loads.cuh"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec.h"

#include <string.h>

namespace nnc {

/// The policy for tensor cores: products by `mma`, whose operands ldmatrix
/// loads, and transposes where a row of a tile is a term. It transposes
/// elements of 2 bytes; floats, which become tf32, are loaded one by one there.
///
/// Column g of the j-th `mma` of a panel of 32 columns is column
/// 8 (g / 2) + 2 j + g % 2 of the panel, so that a lane has sums of eight
/// consecutive columns. If a row of the tile is a term, ldmatrix reads eight
/// consecutive columns, so that it is column 8 j + g, and the lanes of a quad
/// exchange their sums in the end.
template <class T, class Tile, tile_row LEFT, tile_row RIGHT>
struct plain_tensor_products {
  using product = gemm_product<T>;
  using sum = typename product::sum;
  static constexpr int row_tiles = Tile::warp_rows / 16;
  static constexpr int column_tiles = Tile::warp_columns / 8;
  static constexpr int warp_panels = Tile::warp_columns / gemm_panel;
  using sums = sum[row_tiles][column_tiles][4];

  /// Adds the products of a step, whose tiles are at `left` and `right`.
  template <class B>
  static NNC_INLINE void multiply(B &b, shared_address left,
                                  shared_address right, sums &d) {
    const int lane = b.thread() % warp_lanes, warp = b.thread() / warp_lanes;
    const int row = warp / Tile::warps_across * Tile::warp_rows;
    const int column = warp % Tile::warps_across * Tile::warp_columns;
    NNC_UNROLL
    for (int run = 0; run < Tile::runs; ++run) {
      words4 a[row_tiles];
      NNC_UNROLL
      for (int i = 0; i < row_tiles; ++i)
        a[i] = product::operand(b, load_left(b, left, row + i * 16, run, lane));
      NNC_UNROLL
      for (int pair = 0; pair < column_tiles / 2; ++pair) {
        const words4 f = product::operand(
            b, load_right(b, right, column + pair / 2 * gemm_panel, pair % 2,
                          run, lane));
        NNC_UNROLL
        for (int i = 0; i < row_tiles; ++i) {
          product::add(b, d[i][pair * 2], a[i], f.word[0], f.word[1]);
          product::add(b, d[i][pair * 2 + 1], a[i], f.word[2], f.word[3]);
        }
      }
    }
  }

  /// Calls output.store() for the sums of the thread, once for each row of the
  /// result and eight consecutive columns. The results of the product have
  /// `rows` rows; `above` rows are those of products before it.
  template <class B, class S, class Output>
  static NNC_INLINE void store(B &b, const S &s, const sums &d,
                               const Output &output, int first_row,
                               int first_column, int rows, int above) {
    const int lane = b.thread() % warp_lanes, warp = b.thread() / warp_lanes;
    const int warp_row =
        first_row + warp / Tile::warps_across * Tile::warp_rows + lane / 4;
    const int warp_column = first_column +
                            warp % Tile::warps_across * Tile::warp_columns +
                            lane % 4 * 8;
    NNC_UNROLL
    for (int i = 0; i < row_tiles * 2; ++i) {
      const int row = warp_row + i * 8;
      NNC_UNROLL
      for (int p = 0; p < warp_panels; ++p) {
        const int column = warp_column + p * gemm_panel;
        sum v[8];
        gather(b, d, i, p, v);
        if (row < rows && column < s.k)
          output.store(b, s, v, above + row, column, smaller(8, s.k - column));
      }
    }
  }

private:
  static constexpr bool left_by_terms = is_term(LEFT),
                        right_by_terms = is_term(RIGHT);
  static constexpr int term_row_bytes_of_left = Tile::rows * int(sizeof(T));
  static constexpr int term_row_bytes_of_right = Tile::columns * int(sizeof(T));

  /// The address of chunk `chunk` of row `row` of a tile.
  template <tile_row ROW, int ROW_BYTES>
  static NNC_INLINE shared_address at(shared_address tile, int row, int chunk) {
    return tile + row * ROW_BYTES +
           (chunk ^ tile_swizzle<ROW, ROW_BYTES / 16>(row)) * 16;
  }
  /// Loads the word of column `column` of row `term` of a tile whose rows are
  /// terms.
  template <int ROW_BYTES, class B>
  static NNC_INLINE uint32_t load_word(B &b, shared_address tile, int term,
                                       int column) {
    return b.template load_shared<uint32_t>(
        at<tile_row::of_word_term, ROW_BYTES>(tile, term, column / 4) +
        column % 4 * 4);
  }
  /// Loads the fragment of rows `row` to `row` + 15 of a run.
  template <class B>
  static NNC_INLINE words4 load_left(B &b, shared_address tile, int row,
                                     int run, int lane) {
    if constexpr (LEFT == tile_row::of_word_term) {
      const int term = run * 8 + lane % 4, column = row + lane / 4;
      words4 w;
      NNC_UNROLL
      for (int i = 0; i < 4; ++i)
        w.word[i] = load_word<term_row_bytes_of_left>(b, tile, term + i / 2 * 4,
                                                      column + i % 2 * 8);
      return w;
    } else if constexpr (left_by_terms)
      return b.ldmatrix_x4_trans(at<LEFT, term_row_bytes_of_left>(
          tile, run * 16 + lane / 16 * 8 + lane % 8, row / 8 + lane / 8 % 2));
    else
      return b.ldmatrix_x4(at<LEFT, Tile::depth_bytes>(tile, row + lane % 16,
                                                       run * 2 + lane / 16));
  }
  /// Loads b0 and b1 of two `mma` of a panel, those with number 2 * pair and
  /// 2 * pair + 1.
  template <class B>
  static NNC_INLINE words4 load_right(B &b, shared_address tile, int panel,
                                      int pair, int run, int lane) {
    const int half = lane / 8 % 2, j = pair * 2 + lane / 16, g = lane % 8;
    if constexpr (RIGHT == tile_row::of_word_term) {
      const int term = run * 8 + lane % 4;
      const int column = panel + pair * 16 + lane / 4;
      words4 w;
      NNC_UNROLL
      for (int i = 0; i < 4; ++i)
        w.word[i] = load_word<term_row_bytes_of_right>(
            b, tile, term + i % 2 * 4, column + i / 2 * 8);
      return w;
    } else if constexpr (right_by_terms)
      return b.ldmatrix_x4_trans(at<RIGHT, term_row_bytes_of_right>(
          tile, run * 16 + half * 8 + g, panel / 8 + j));
    else
      return b.ldmatrix_x4(at<RIGHT, Tile::depth_bytes>(
          tile, panel + g / 2 * 8 + j * 2 + g % 2, run * 2 + half));
  }
  /// Gets the sums of eight consecutive columns of panel p, those from
  /// 8 (lane % 4) on, of the thread's i-th row.
  template <class B>
  static NNC_INLINE void gather(B &b, const sums &d, int i, int p,
                                sum (&v)[8]) {
    if constexpr (right_by_terms) {
      NNC_UNROLL
      for (int part = 0; part < 2; ++part) {
        words4 w;
        NNC_UNROLL
        for (int j = 0; j < 4; ++j)
          memcpy(&w.word[j], &d[i / 2][p * 4 + j][i % 2 * 2 + part], 4);
        transpose_in_quad(b, w);
        NNC_UNROLL
        for (int j = 0; j < 4; ++j)
          memcpy(&v[j * 2 + part], &w.word[j], 4);
      }
    } else {
      static_cast<void>(b);
      NNC_UNROLL
      for (int j = 0; j < 8; ++j)
        v[j] = d[i / 2][p * 4 + j / 2][i % 2 * 2 + j % 2];
    }
  }
};

/// Products of floats by fused multiply-adds. A thread computes
/// Tile::warp_rows / 8 rows of 8 consecutive columns, as float_gemm.cuh says;
/// if a row of the tile of a is a term, the rows of a thread are up to four
/// consecutive ones in each 32.
template <class Tile, tile_row LEFT, tile_row RIGHT>
struct plain_float_products {
  using sum = float;
  static constexpr int rows = Tile::warp_rows / 8; ///< of a thread
  using sums = float[rows][8];
  static_assert(Tile::warp_columns == gemm_panel, "a warp has a panel");

  /// Adds the products of a step, whose tiles are at `left` and `right`.
  template <class B>
  static NNC_INLINE void multiply(B &b, shared_address left,
                                  shared_address right, sums &d) {
    const int lane = b.thread() % warp_lanes, warp = b.thread() / warp_lanes;
    const int row = warp / Tile::warps_across * Tile::warp_rows;
    const int column =
        warp % Tile::warps_across * Tile::warp_columns + lane_column(lane);
    NNC_UNROLL
    for (int chunk = 0; chunk < Tile::chunks; ++chunk) {
      four in[rows], columns[8];
      if constexpr (!left_by_terms) {
        NNC_UNROLL
        for (int i = 0; i < rows; ++i)
          in[i] = load<LEFT, four>(b, left, row + row_of(lane, i), chunk);
      }
      if constexpr (!right_by_terms) {
        NNC_UNROLL
        for (int j = 0; j < 8; ++j)
          columns[j] = load<RIGHT, four>(b, right, column + j, chunk);
      }
      NNC_UNROLL
      for (int term = 0; term < 4; ++term) {
        float x[rows], w[8];
        if constexpr (left_by_terms) {
          NNC_UNROLL
          for (int i = 0; i < rows; i += together) {
            const auto loaded = b.template load_shared<part>(
                left + (chunk * 4 + term) * Tile::rows * 4 +
                (row + row_of(lane, i)) * 4);
            NNC_UNROLL
            for (int j = 0; j < together; ++j)
              x[i + j] = loaded.element[j];
          }
        } else {
          NNC_UNROLL
          for (int i = 0; i < rows; ++i)
            x[i] = in[i].element[term];
        }
        if constexpr (right_by_terms) {
          NNC_UNROLL
          for (int j = 0; j < 8; j += 4) {
            const auto loaded = b.template load_shared<four>(
                right + (chunk * 4 + term) * Tile::columns * 4 +
                (column + j) * 4);
            NNC_UNROLL
            for (int k = 0; k < 4; ++k)
              w[j + k] = loaded.element[k];
          }
        } else {
          NNC_UNROLL
          for (int j = 0; j < 8; ++j)
            w[j] = columns[j].element[term];
        }
        NNC_UNROLL
        for (int i = 0; i < rows; ++i) {
          NNC_UNROLL
          for (int j = 0; j < 8; ++j)
            d[i][j] = fma(x[i], w[j], d[i][j]);
        }
      }
    }
  }

  /// Calls output.store() for the sums of the thread, as that of
  /// plain_tensor_products does.
  template <class B, class S, class Output>
  static NNC_INLINE void store(B &b, const S &s, const sums &d,
                               const Output &output, int first_row,
                               int first_column, int row_count, int above) {
    const int lane = b.thread() % warp_lanes, warp = b.thread() / warp_lanes;
    const int warp_row =
        first_row + warp / Tile::warps_across * Tile::warp_rows;
    const int column = first_column +
                       warp % Tile::warps_across * Tile::warp_columns +
                       lane_column(lane);
    NNC_UNROLL
    for (int i = 0; i < rows; ++i) {
      const int row = warp_row + row_of(lane, i);
      if (row < row_count && column < s.k)
        output.store(b, s, d[i], above + row, column, smaller(8, s.k - column));
    }
  }

private:
  static constexpr bool left_by_terms = LEFT == tile_row::of_term,
                        right_by_terms = RIGHT == tile_row::of_term;
  /// Rows that a thread loads at once if a row of the tile of a is a term.
  static constexpr int together = smaller(4, rows);
  using part = gemm_part<float, together>;
  using four = gemm_part<float>;

  template <tile_row ROW, class V, class B>
  static NNC_INLINE V load(B &b, shared_address tile, int row, int chunk) {
    return b.template load_shared<V>(
        tile + row * Tile::depth_bytes +
        (chunk ^ tile_swizzle<ROW, Tile::chunks>(row)) * 16);
  }
  /// The i-th of the rows of the warp's tile that a lane computes. Lanes whose
  /// numbers agree in bits 1, 3 and 4 have the same rows.
  static NNC_INLINE int row_of(int lane, int i) {
    const int place = lane / 2 % 2 + lane / 8 * 2;
    if constexpr (left_by_terms)
      return place * together + i % together + i / together * 8 * together;
    else
      return place + i * 8;
  }
  /// The first of the eight columns of the panel that a lane computes: 8 times
  /// the number made of bits 0 and 2 of the lane's number.
  static NNC_INLINE int lane_column(int lane) {
    return lane % 2 * 8 + lane / 4 % 2 * 16;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_PLAIN_GEMM_PRODUCTS_CUH
