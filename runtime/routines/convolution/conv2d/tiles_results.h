//===- tiles_results.h - Results of convolutions on tile registers --------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_TILES_RESULTS_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_TILES_RESULTS_H

#include "runtime/routines/tiles/matrix.h"
#include "runtime/store_sums.h"

namespace nnc {

/// A block whose sums are known and whose results are not stored yet.
template <class X, class Y, class Epi> struct tile_results {
  static constexpr int W = tile_columns;

  const tile_sums<X> *sums = nullptr;
  Y *y;
  const Epi *epi;
  ptrdiff_t out = 0;        ///< index in y of the strip's first result
  ptrdiff_t plane;          ///< values of a block of y
  int next = 0, count = 0;  ///< the next point, and all points
  int row = 0, column = 0;  ///< place of the next point in the strip
  int columns = 0;          ///< outputs of a row of the strip
  int pitch, width;         ///< points of a row of the copy and of y
  int channels;             ///< all channels
  int channel = 0;          ///< the first channel
  int blocks = 0, turn = 0; ///< blocks of channels, and which sums are free

  /// Results of a map y of rows of `columns_of_y` outputs, whose blocks of
  /// channels are `values` values apart.
  tile_results(Y *results, const Epi &epilogue, int points_of_row,
               int columns_of_y, ptrdiff_t values, int all_channels)
      : y(results), epi(&epilogue), plane(values), pitch(points_of_row),
        width(columns_of_y), channels(all_channels) {}

  NNC_INLINE void begin(const tile_sums<X> &ready, int blocks_of_sums,
                        int first, int points, int columns_of_strip,
                        ptrdiff_t to, int first_channel) {
    sums = &ready;
    blocks = blocks_of_sums;
    next = 0;
    count = points;
    row = first / pitch;
    column = first % pitch;
    columns = columns_of_strip;
    out = to;
    channel = first_channel;
    turn ^= 1;
  }

  /// Stores the points of at most `most` runs of up to four points.
  NNC_NOINLINE void store(int most) {
    const Epi copy = *epi;
    Y *const to = y;
    while (most > 0 && next < count) {
      if (column >= columns) {
        next += pitch - column;
        column = 0;
        ++row;
        continue;
      }
      const int some = smaller(smaller(4, columns - column), count - next);
      const ptrdiff_t at = out + (ptrdiff_t(row) * width + column) * W;
      for (int b = 0; b < blocks; ++b) {
        if (some == 4) {
          using V = decltype(sums->load(0, 0));
          const V four[4] = {sums->load(b, next), sums->load(b, next + 1),
                             sums->load(b, next + 2), sums->load(b, next + 3)};
          store_points(four, to, at + b * plane, channel + b * W, channels,
                       copy);
        } else {
          for (int i = 0; i < some; ++i)
            store_sums(sums->load(b, next + i), to, at + b * plane + i * W,
                       channel + b * W, channels, copy);
        }
      }
      --most;
      next += some;
      column += some;
    }
  }
  /// Returns a number of runs that has all points of most blocks.
  NNC_INLINE int runs() const { return ceil_div(count, 4) + 1; }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_TILES_RESULTS_H
