//===- transposes.h - Moves that change which axis is contiguous ----------===//
//
// y[to_offset + i . to] = f(x[from_offset + i . from]) for all indices i below
// the sizes, where x is contiguous along one axis and y along another one, such
// as transposes, and changes between NCHW and NHWC. A view tells these numbers:
//
//   rank()                     the number of axes
//   size(d), from(d), to(d)    size of axis d, and its steps in x and in y
//   from_offset(), to_offset()
//
// transpose_tile() moves a tile by way of shared memory, so that both sides are
// accessed in runs of 16 bytes. transpose_channels() is for an axis of two to
// four elements beside a long one: a thread has runs of them all in registers.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_BLOCKS_TRANSPOSES_H
#define NNC_ROUTINES_BLOCKS_TRANSPOSES_H

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/blocks/elements.h"
#include "runtime/routines/blocks/moves.h"
#include "runtime/simd/unroll.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace nnc {

/// The longest axes along which x and y of a view are contiguous, -1 if there
/// is none.
struct contiguous_axes {
  int from = -1, to = -1;
  int from_size = 1, to_size = 1;
  /// The step in y along the axis `from`, and the one in x along `to`.
  int across_y = 0, across_x = 0;

  template <class V> NNC_FN constexpr explicit contiguous_axes(const V &v) {
    for (int d = 0; d < v.rank(); ++d) {
      if (v.from(d) == 1 && v.size(d) > from_size) {
        from = d;
        from_size = v.size(d);
        across_y = v.to(d);
      }
      if (v.to(d) == 1 && v.size(d) > to_size) {
        to = d;
        to_size = v.size(d);
        across_x = v.from(d);
      }
    }
  }
  /// True if these are two axes.
  NNC_FN constexpr bool differ() const {
    return from >= 0 && to >= 0 && from != to;
  }
};

/// The numbers of elements of all axes of a view but two.
template <class V>
NNC_FN constexpr int count_others(const V &v, const contiguous_axes &axes) {
  int count = 1;
  for (int d = 0; d < v.rank(); ++d)
    if (d != axes.from && d != axes.to)
      count *= v.size(d);
  return count;
}

/// The places in x and in y at which index number `other` of the other axes
/// begins.
struct other_place {
  int x, y;

  template <class V>
  NNC_INLINE other_place(const V &v, const contiguous_axes &axes, int other)
      : x(v.from_offset()), y(v.to_offset()) {
    for (int d = v.rank() - 1; d >= 0; --d) {
      if (d == axes.from || d == axes.to)
        continue;
      const int index = other % v.size(d);
      other /= v.size(d);
      x += index * v.from(d);
      y += index * v.to(d);
    }
  }
};

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// A tile of elements with FROM bytes in x: 128 bytes of each of 64 rows of x.
/// A row is in shared memory in eight chunks of 16 bytes, whose order differs
/// from row to row.
template <int FROM> struct transposed_tile {
  static constexpr int rows = 64, chunks = 8, words = 4 * chunks;
  static constexpr int row_bytes = 4 * words, columns = row_bytes / FROM;
  static constexpr int shared_bytes = rows * row_bytes;

  /// The tiles of a view.
  template <class V> NNC_FN static constexpr int count(const V &v) {
    const contiguous_axes axes(v);
    return ceil_div(axes.from_size, columns) * ceil_div(axes.to_size, rows) *
           count_others(v, axes);
  }
};

/// A tile that is stored to elements of TO bytes: a thread has one word of
/// each of the `run` rows of a run, so that it stores 16 bytes for each element
/// of the word. Neighbouring threads have neighbouring runs, and their words
/// are in different banks.
template <int FROM, int TO> struct tile_runs : transposed_tile<FROM> {
  using tile = transposed_tile<FROM>;
  static constexpr int run = 16 / TO, runs = tile::rows / run;
  /// Runs whose words the lanes of a warp have, and words of each run.
  static constexpr int runs_of_warp = smaller(runs, tile::chunks),
                       words_of_warp = warp_lanes / runs_of_warp;
  static constexpr int units = runs * tile::words;

  /// The first row of the run of a unit, and its word.
  static NNC_INLINE int row_of(int unit) {
    return (unit / warp_lanes / runs_of_warp * runs_of_warp +
            unit % runs_of_warp) *
           run;
  }
  static NNC_INLINE int word_of(int unit) {
    return unit / warp_lanes % runs_of_warp * words_of_warp +
           unit % warp_lanes / runs_of_warp;
  }
  /// The place in shared memory of a word of a row.
  static NNC_INLINE shared_address place(shared_address base, int row,
                                         int word) {
    const int turn = row / run * (tile::chunks / runs_of_warp) % tile::chunks;
    return base + shared_address(row * tile::row_bytes +
                                 ((word / 4 ^ turn) * 4 + word % 4) * 4);
  }
};

/// Moves tile number `tile` of a view, with a block of move_threads threads.
template <class X, class Y, class B, class V, class F>
NNC_INLINE void transpose_tile(B &b, const V &v, const X *x, Y *y, const F &f,
                               int tile) {
  using shape = tile_runs<sizeof(X), sizeof(Y)>;
  constexpr int run = shape::run, of_word = 4 / int(sizeof(X));
  const contiguous_axes axes(v);
  const int across = ceil_div(axes.from_size, shape::columns);
  const int down = ceil_div(axes.to_size, shape::rows);
  const other_place other(v, axes, tile / across / down);
  const int column = tile % across * shape::columns;
  const int row = tile / across % down * shape::rows;
  const int columns = smaller(shape::columns, axes.from_size - column);
  const int rows = smaller(shape::rows, axes.to_size - row);

  // Loads: eight threads have a row, or 32 where they load single elements.
  x += other.x + column + ptrdiff_t(row) * axes.across_x;
  const bool whole_chunks =
      (axes.across_x | columns) % (4 * of_word) == 0 && are_aligned(x);
  if (whole_chunks) {
    constexpr int at_once = move_threads / shape::chunks;
    const int chunk = b.thread() % shape::chunks;
    NNC_UNROLL
    for (int i = 0; i < shape::rows; i += at_once) {
      const int r = i + b.thread() / shape::chunks;
      if (r < rows && chunk * 4 * of_word < columns)
        b.store_shared(
            shape::place(b.shared_base(), r, chunk * 4),
            b.load_global(reinterpret_cast<const words4 *>(
                x + ptrdiff_t(r) * axes.across_x + chunk * 4 * of_word)));
    }
  } else {
    const int first = b.thread() % warp_lanes * of_word;
    NNC_KEEP_LOOP
    for (int r = b.thread() / warp_lanes; r < rows;
         r += move_threads / warp_lanes) {
      if (first >= columns)
        continue;
      moved_elements<X, of_word> m{};
      NNC_UNROLL
      for (int j = 0; j < of_word; ++j)
        if (first + j < columns)
          m.element[j] =
              b.load_global(x + ptrdiff_t(r) * axes.across_x + first + j);
      uint32_t bits;
      memcpy(&bits, &m, 4);
      b.store_shared(shape::place(b.shared_base(), r, b.thread() % warp_lanes),
                     bits);
    }
  }
  b.barrier();
  b.let_next_launch_begin();

  // Stores.
  y += other.y + row + ptrdiff_t(column) * axes.across_y;
  const bool aligned = axes.across_y % run == 0 && are_aligned(y);
  NNC_UNROLL
  for (int i = 0; i < shape::units; i += move_threads) {
    const int unit = i + b.thread();
    const int first = shape::row_of(unit), word = shape::word_of(unit);
    const int count = smaller(run, rows - first);
    if (unit >= shape::units || count <= 0 || word * of_word >= columns)
      continue;
    uint32_t words[run];
    NNC_UNROLL
    for (int j = 0; j < run; ++j)
      words[j] = j < count ? b.template load_shared<uint32_t>(
                                 shape::place(b.shared_base(), first + j, word))
                           : 0;
    NNC_UNROLL
    for (int e = 0; e < of_word; ++e) {
      const int at = word * of_word + e;
      if (at >= columns)
        continue;
      decltype(f(argument_value(X()))) r[run];
      NNC_UNROLL
      for (int j = 0; j < run; ++j) {
        moved_elements<X, of_word> m;
        memcpy(static_cast<void *>(&m), &words[j], 4);
        r[j] = f(argument_value(m.element[e]));
      }
      Y *to = y + first + ptrdiff_t(at) * axes.across_y;
      if (aligned && count == run) {
        store_values(b, to, r);
        continue;
      }
      NNC_UNROLL
      for (int j = 0; j < run; ++j)
        if (j < count)
          store_value(b, to + j, r[j]);
    }
  }
}

//===----------------------------------------------------------------------===//
// Few channels
//===----------------------------------------------------------------------===//

/// The most channels that transpose_channels() takes.
constexpr int most_channels = 4;

/// The number of channels of a view for transpose_channels(): the size of an
/// axis along which one side is contiguous, and where that side has nothing
/// between the channels of one element of the long axis and those of the next.
/// It is 0 for other views.
template <class V> NNC_FN constexpr int channels_of(const V &v) {
  const contiguous_axes axes(v);
  if (!axes.differ())
    return 0;
  if (axes.to_size <= most_channels && axes.across_y == axes.to_size)
    return axes.to_size;
  if (axes.from_size <= most_channels && axes.across_x == axes.from_size)
    return axes.from_size;
  return 0;
}

/// Elements of the long axis that a thread of transpose_channels() moves, for
/// elements of FROM bytes in x.
template <int FROM> constexpr int channel_run = 16 / FROM;

/// True if N elements may be moved at `p`, with up to 16 bytes at once.
template <int N, class T> NNC_INLINE bool is_aligned_to(const T *p) {
  constexpr int bytes = smaller(N * int(sizeof(T)), 16);
  return reinterpret_cast<uintptr_t>(p) % bytes == 0;
}

/// The units of work of transpose_channels().
template <int RUN, class V>
NNC_FN constexpr int count_channel_runs(const V &v) {
  const contiguous_axes axes(v);
  return ceil_div(larger(axes.from_size, axes.to_size), RUN) *
         count_others(v, axes);
}

/// Moves unit number `unit` of a view with CHANNELS channels.
template <int CHANNELS, class X, class Y, class B, class V, class F>
NNC_INLINE void transpose_channels(B &b, const V &v, const X *x, Y *y,
                                   const F &f, int unit) {
  constexpr int run = channel_run<sizeof(X)>;
  const contiguous_axes axes(v);
  // The long axis is contiguous in x if the channels are in y.
  const bool joins = axes.to_size == CHANNELS && axes.across_y == CHANNELS;
  const int size = joins ? axes.from_size : axes.to_size;
  const int runs = ceil_div(size, run);
  const other_place other(v, axes, unit / runs);
  const int first = unit % runs * run;
  const int count = smaller(run, size - first);
  x += other.x;
  y += other.y;
  const bool whole = count == run && is_aligned_to<run>(x) &&
                     is_aligned_to<run>(y) &&
                     (joins ? axes.across_x : axes.across_y) % run == 0;
  if (!whole) {
    NNC_KEEP_LOOP
    for (int i = first; i < first + count; ++i) {
      NNC_UNROLL
      for (int c = 0; c < CHANNELS; ++c) {
        const int apart = i * CHANNELS + c;
        const X value = b.load_global(
            x + (joins ? i + ptrdiff_t(c) * axes.across_x : apart));
        store_value(b, y + (joins ? apart : i + ptrdiff_t(c) * axes.across_y),
                    f(argument_value(value)));
      }
    }
    return;
  }
  X from[CHANNELS][run];
  decltype(f(argument_value(X()))) to[CHANNELS][run];
  NNC_UNROLL
  for (int c = 0; c < CHANNELS; ++c)
    load_values(b,
                x + (joins ? first + ptrdiff_t(c) * axes.across_x
                           : ptrdiff_t(first) * CHANNELS + c * run),
                from[c]);
  NNC_UNROLL
  for (int c = 0; c < CHANNELS; ++c)
    NNC_UNROLL
  for (int i = 0; i < run; ++i) {
    const int at = i * CHANNELS + c;
    if (joins)
      to[at / run][at % run] = f(argument_value(from[c][i]));
    else
      to[c][i] = f(argument_value(from[at / run][at % run]));
  }
  NNC_UNROLL
  for (int c = 0; c < CHANNELS; ++c)
    store_values(b,
                 y + (joins ? ptrdiff_t(first) * CHANNELS + c * run
                            : first + ptrdiff_t(c) * axes.across_y),
                 to[c]);
}

} // namespace nnc

#endif // NNC_ROUTINES_BLOCKS_TRANSPOSES_H
