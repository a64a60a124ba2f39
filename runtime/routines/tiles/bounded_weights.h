//===- bounded_weights.h - Weights whose sums of products fit in 16 bits --===//
//
// The form of weights of which bounded_dots multiplies eight rows at a time,
// for `width` columns. vpmaddubsw of x86 adds the products of two adjacent rows
// in 16 bits, where it saturates; with `sum` = 4 the products of two such pairs
// are then added in 16 bits as well. Points are bytes from 0 to 255. No sum of
// 16 bits overflows if its positive weights add up to 128 at most, and so do
// the magnitudes of its negative weights: 255 * 128 = 32640 < 32767.
//
// A step has 8 * width bytes: four rows of each column, then the other four.
// The excess over a bound is stored in extra vectors: 4 * width bytes with four
// rows of each column. Two of them are multiplied together, so that the weights
// of a half of a lane are bounded over both. Each weight is the sum of what its
// step and the extra vectors hold; results are therefore exact. There is room
// for a limited number of extra vectors. Weights that need more cannot be
// stored in this form, and the compiler does not choose it for them.
//
// A block consists of its steps, the extra vectors, their places, and their
// number, which is even. Steps are in the order of channels, rows and columns
// of the filter. A place is of 32 bits: see place_of().
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_TILES_BOUNDED_WEIGHTS_H
#define NNC_ROUTINES_TILES_BOUNDED_WEIGHTS_H

#include "runtime/counts.h"

#include <stddef.h>
#include <stdint.h>

namespace nnc {

/// The positions of the parts of a block, in bytes.
struct bounded_weights {
  int width;  ///< columns, at most 16
  int eights; ///< groups of eight channels
  int kh, kw; ///< rows and columns of a filter, at most 255 each
  int sum;    ///< products that are added in 16 bits: 2 or 4
  /// Whether the channels have the orders of ordered_weights.h, so that a block
  /// may need more extra vectors if the others need few.
  bool ordered = false;

  static constexpr int most_columns = 16;
  /// The largest sum of weights of one sign whose products fit in 16 bits.
  static constexpr int bound = 32767 / 255;

  constexpr int steps() const { return eights * kh * kw; }
  /// The number of extra vectors for which there is room. With more of them,
  /// the products would take as long as those of 16-bit numbers.
  constexpr int room() const {
    return ordered ? ceil_div(steps(), 6) * 2 + 6
                   : ceil_div(steps(), sum == 4 ? 8 : 4) * 2 + 2;
  }
  constexpr ptrdiff_t extras() const { return ptrdiff_t(steps()) * width * 8; }
  constexpr ptrdiff_t places() const {
    return extras() + ptrdiff_t(room()) * width * 4;
  }
  constexpr ptrdiff_t count() const { return places() + room() * 4; }
  constexpr ptrdiff_t bytes() const { return (count() + 4 + 63) / 64 * 64; }

  /// The place of an extra vector that multiplies half `four` of group `eight`
  /// at row r and column s of the filter.
  static constexpr int place_of(int eight, int four, int r, int s) {
    return (eight * 2 + four) * 65536 + r * 256 + s;
  }
  static constexpr int eight_of(int place) { return place >> 17; }
  static constexpr int four_of(int place) { return place >> 16 & 1; }
  static constexpr int row_of(int place) { return place >> 8 & 255; }
  static constexpr int column_of(int place) { return place & 255; }

  /// Stores a block. weight(column, channel, r, s) returns a weight for a
  /// channel of all 8 * eights, and put(position, byte) is called for each byte
  /// that is not zero. Returns false if the weights need more extra vectors
  /// than there is room for.
  template <class Weight, class Put>
  bool store(const Weight &weight, const Put &put) const {
    int used = 0;
    int last[most_columns][4] = {};
    for (int step = 0; step < steps(); ++step) {
      const int eight = step / (kh * kw), r = step / kw % kh, s = step % kw;
      int rest[most_columns][8];
      for (int column = 0; column < width; ++column) {
        for (int row = 0; row < 8; ++row)
          rest[column][row] = weight(column, eight * 8 + row, r, s);
        take_step(rest[column], [&](int row, int part) {
          put((ptrdiff_t(step) * 2 + row / 4) * width * 4 + column * 4 +
                  row % 4,
              part);
        });
      }
      for (int four = 0; four < 2; ++four)
        while (any(rest, four)) {
          int extra[most_columns][4] = {};
          for (int column = 0; column < width; ++column)
            for (int pair = 0; pair < 2; ++pair) {
              const int rows[] = {4 * four + 2 * pair, 4 * four + 2 * pair + 1};
              take(rest[column], rows, 2,
                   [&](int row, int part) { extra[column][row % 4] = part; });
            }
          // A vector of zeros if both cannot be multiplied together.
          if (used % 2 && !fit(last, extra))
            ++used;
          if (used >= room())
            return false;
          for (int column = 0; column < width; ++column)
            for (int row = 0; row < 4; ++row) {
              last[column][row] = extra[column][row];
              if (extra[column][row])
                put(extras() + (ptrdiff_t(used) * width + column) * 4 + row,
                    extra[column][row]);
            }
          put_number(places() + used * 4, place_of(eight, four, r, s), put);
          ++used;
        }
    }
    put_number(count(), ceil_div(used, 2) * 2, put);
    return true;
  }

private:
  bool any(const int (&rest)[most_columns][8], int four) const {
    for (int column = 0; column < width; ++column)
      for (int row = 4 * four; row < 4 * four + 4; ++row)
        if (rest[column][row])
          return true;
    return false;
  }

  /// Returns true if the weights of two vectors are bounded together.
  bool fit(const int (&a)[most_columns][4],
           const int (&b)[most_columns][4]) const {
    for (int column = 0; column < width; ++column)
      for (int pair = 0; pair < 2; ++pair) {
        int positive = 0, negative = 0;
        for (int i = 0; i < 4; ++i) {
          const int w = (i < 2 ? a : b)[column][2 * pair + i % 2];
          (w > 0 ? positive : negative) += w > 0 ? w : -w;
        }
        if (positive > bound || negative > bound)
          return false;
      }
    return true;
  }

  /// Takes what a step holds of the weights of a column.
  template <class Part> void take_step(int (&rest)[8], const Part &part) const {
    constexpr int pairs_of_sums[2][4] = {{0, 1, 4, 5}, {2, 3, 6, 7}};
    for (const auto &rows : pairs_of_sums) {
      if (sum == 4) {
        take(rest, rows, 4, part);
      } else {
        take(rest, rows, 2, part);
        take(rest, rows + 2, 2, part);
      }
    }
  }

  /// Takes as much of the weights of `count` rows as the bound allows for their
  /// sum, and calls part(row, taken) if that is not zero.
  template <class Part>
  static void take(int (&rest)[8], const int *rows, int count,
                   const Part &part) {
    int positive = bound, negative = bound;
    for (int i = 0; i < count; ++i) {
      int &weight = rest[rows[i]];
      const int taken =
          weight > 0 ? smaller(weight, positive) : -smaller(-weight, negative);
      (taken > 0 ? positive : negative) -= taken > 0 ? taken : -taken;
      weight -= taken;
      if (taken)
        part(rows[i], taken);
    }
  }
  template <class Put>
  static void put_number(ptrdiff_t at, int number, const Put &put) {
    for (int byte = 0; byte < 4; ++byte)
      put(at + byte,
          static_cast<int8_t>(static_cast<uint8_t>(number >> (8 * byte))));
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_TILES_BOUNDED_WEIGHTS_H
