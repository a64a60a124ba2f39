//===- ordered_weights.h - Bounded weights with channels in an order ------===//
//
// The form of weights of bounded_weights.h with sums of two products, for
// channels that are copied before they are multiplied. The copy has the
// channels of each group of sixteen in an order of its own, which all columns
// of a run of blocks share. Which channels are adjacent in it, and thus which
// products are added in 16 bits, is chosen so that few pairs of weights exceed
// the bound. Of weights of 8 bits as networks have them, a third of the vectors
// needs an extra vector without an order, and a fiftieth with one.
//
// The weights begin with the orders: for each run of blocks, 16 bytes for each
// group of sixteen channels, which are the channels of the group at the places
// of the copy. Behind them are the blocks. If only eight channels are left in
// the last group, they have the first eight places.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_TILES_ORDERED_WEIGHTS_H
#define NNC_ROUTINES_TILES_ORDERED_WEIGHTS_H

#include "runtime/routines/tiles/bounded_weights.h"

namespace nnc {

/// The positions of the parts of ordered weights, in bytes.
struct ordered_weights {
  bounded_weights form; ///< of each block; `ordered` is set
  int blocks;           ///< blocks of columns

  /// The fewest blocks that share an order.
  static constexpr int fewest_blocks = 2;

  /// The number of blocks whose columns share an order. With more columns, or
  /// with more taps of a filter, fewer pairs of channels suit all of them, but
  /// fewer copies are made. Weights of filters with few channels are larger
  /// beside the largest one, from which their scale results.
  constexpr int run_blocks() const {
    return fewest_blocks * (form.kh * form.kw > 1 || form.eights <= 16 ? 1
                            : form.eights < 128                        ? 2
                                                                       : 4);
  }
  constexpr int runs() const { return ceil_div(blocks, run_blocks()); }
  constexpr int sixteens() const { return ceil_div(form.eights, 2); }

  /// Returns the position of the orders for block `number`.
  constexpr ptrdiff_t orders(int number) const {
    return ptrdiff_t(number / run_blocks()) * sixteens() * 16;
  }
  /// Returns the position of block `number`.
  constexpr ptrdiff_t block(int number) const {
    return (ptrdiff_t(runs()) * sixteens() * 16 + 63) / 64 * 64 +
           number * form.bytes();
  }
  constexpr ptrdiff_t bytes() const { return block(blocks); }

  /// Stores all blocks in bytes() bytes of zeros. weight(column, channel, r, s)
  /// returns a weight for a column of all blocks and a channel of all 8 *
  /// eights. Returns false if the weights of a block need more extra vectors
  /// than there is room for.
  template <class Weight>
  bool store(const Weight &weight, int8_t *stored) const {
    for (int number = 0; number < blocks; ++number) {
      const int run = number / run_blocks() * run_blocks();
      int8_t *order = stored + orders(number);
      if (number == run)
        for (int sixteen = 0; sixteen < sixteens(); ++sixteen)
          find_order(run, smaller(run + run_blocks(), blocks), sixteen, weight,
                     order + sixteen * 16);
      int8_t *own = stored + block(number);
      if (!form.store(
              [&](int column, int channel, int r, int s) {
                return weight(number * form.width + column,
                              channel / 16 * 16 + order[channel], r, s);
              },
              [&](ptrdiff_t at, int byte) {
                own[at] = static_cast<int8_t>(byte);
              }))
        return false;
    }
    return true;
  }

private:
  /// Finds an order of the channels of group `sixteen`, of 16 channels, for the
  /// blocks of columns first to end - 1. Pairs of channels that exceed the
  /// bound in the most columns and taps come first, so that few vectors contain
  /// them.
  template <class Weight>
  void find_order(int first, int end, int sixteen, const Weight &weight,
                  int8_t *order) const {
    const int count = sixteen * 2 + 1 < form.eights ? 16 : 8;
    int excess[16][16] = {};
    for (int column = first * form.width; column < end * form.width; ++column)
      for (int r = 0; r < form.kh; ++r)
        for (int s = 0; s < form.kw; ++s)
          add_excess(
              [&](int i) {
                return i < count ? weight(column, sixteen * 16 + i, r, s) : 0;
              },
              excess);
    // The best of the orders that result from eight different first ones, in
    // which each even channel has the neighbour that is `step` further on.
    int least = -1;
    for (int step = 1; step < 16; step += 2) {
      int8_t tried[16];
      for (int i = 0; i < 16; ++i)
        tried[i] = static_cast<int8_t>(
            i < count ? (i % 2 ? i - 1 + step : i) % count : i);
      const int cost = improve(excess, count, tried);
      if (least >= 0 && cost >= least)
        continue;
      least = cost;
      for (int i = 0; i < 16; ++i)
        order[i] = tried[i];
    }
    for (int a = 0; a < count; a += 2)
      for (int b = a + 2; b < count; b += 2)
        if (excess[order[a]][order[a + 1]] < excess[order[b]][order[b + 1]]) {
          exchange(order[a], order[b]);
          exchange(order[a + 1], order[b + 1]);
        }
  }

  /// Exchanges channels between two pairs as long as fewer weights exceed the
  /// bound then, so that the sum of `excess` becomes smaller each time. Returns
  /// how many exceed it in the end.
  static int improve(const int (&excess)[16][16], int count, int8_t *order) {
    for (bool better = true; better;) {
      better = false;
      for (int a = 0; a < count; a += 2)
        for (int b = a + 2; b < count; b += 2)
          for (int turn = 0; turn < 2; ++turn) {
            int8_t &x = order[a + 1], &y = order[b + turn];
            const int8_t p = order[a], q = order[b + 1 - turn];
            if (excess[p][y] + excess[q][x] < excess[p][x] + excess[q][y]) {
              exchange(x, y);
              better = true;
            }
          }
    }
    int sum = 0;
    for (int a = 0; a < count; a += 2)
      sum += excess[order[a]][order[a + 1]];
    return sum;
  }

  /// Adds 1 for each pair of the sixteen weights whose sum exceeds the bound.
  template <class Weight>
  static void add_excess(const Weight &weight, int (&excess)[16][16]) {
    int w[16];
    for (int i = 0; i < 16; ++i)
      w[i] = weight(i);
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 16; ++j) {
        const int sum = w[i] + w[j];
        excess[i][j] +=
            sum > bounded_weights::bound || sum < -bounded_weights::bound;
      }
  }
  static void exchange(int8_t &a, int8_t &b) {
    const int8_t c = a;
    a = b;
    b = c;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_TILES_ORDERED_WEIGHTS_H
