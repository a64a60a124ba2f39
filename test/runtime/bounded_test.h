// Weights whose sums of products fit in 16 bits, many of them just so, and
// checks of routines that read them against the portable ones.
#ifndef NNC_TEST_BOUNDED_TEST_H
#define NNC_TEST_BOUNDED_TEST_H

#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/matrix/matmul/shape.h"
#include "runtime/routines/tiles/ordered_weights.h"
#include "test/runtime/integers_test.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace nnc_test {

/// A constant factor with its axes in the order of columns, channels and taps.
struct bounded_factor {
  int columns, channels, kh, kw;
  bool columns_last; ///< whether a matrix has its columns behind its channels

  bounded_factor(const nnc::conv2d_shape &s)
      : columns(s.k), channels(s.c / s.groups), kh(s.kh), kw(s.kw),
        columns_last(false) {}
  bounded_factor(const nnc::matmul_shape &s)
      : columns(s.n), channels(s.k), kh(1), kw(1),
        columns_last(!s.transpose_b) {}

  std::size_t at(int column, int channel, int tap) const {
    return columns_last
               ? std::size_t(channel * columns + column)
               : std::size_t((column * channels + channel) * kh * kw + tap);
  }
  std::size_t count() const {
    return std::size_t(columns) * std::size_t(channels * kh * kw);
  }
};

/// Returns the bytes of a weight with orders of channels, or nothing if it has
/// too many weights beyond the bounds. Adds the number of extra vectors to
/// `extras`.
inline std::vector<std::int8_t> store_ordered(const bounded_factor &f,
                                              int width,
                                              const std::vector<std::int8_t> &w,
                                              int &extras) {
  const nnc::ordered_weights form{
      {width, nnc::ceil_div(f.channels, 8), f.kh, f.kw, 2, true},
      nnc::ceil_div(f.columns, width)};
  std::vector<std::int8_t> stored(std::size_t(form.bytes()));
  const bool fits = form.store(
      [&](int column, int channel, int r, int s) {
        return column < f.columns && channel < f.channels
                   ? int(w[f.at(column, channel, r * f.kw + s)])
                   : 0;
      },
      stored.data());
  if (!fits)
    return {};
  for (int block = 0; block < form.blocks; ++block)
    extras += stored[std::size_t(form.block(block) + form.form.count())];
  return stored;
}

/// Returns the stored blocks of a weight, or nothing if it has too many weights
/// beyond the bounds. Adds the number of extra vectors to `extras`.
inline std::vector<std::int8_t> store_bounded(const bounded_factor &f,
                                              int width, int sum,
                                              const std::vector<std::int8_t> &w,
                                              int &extras) {
  const nnc::bounded_weights form{width, nnc::ceil_div(f.channels, 8), f.kh,
                                  f.kw, sum};
  std::vector<std::int8_t> stored;
  for (int first = 0; first < f.columns; first += width) {
    std::vector<std::int8_t> block(std::size_t(form.bytes()));
    const bool fits = form.store(
        [&](int column, int channel, int r, int s) {
          return first + column < f.columns && channel < f.channels
                     ? int(w[f.at(first + column, channel, r * f.kw + s)])
                     : 0;
        },
        [&](std::ptrdiff_t at, int byte) {
          block[std::size_t(at)] = std::int8_t(byte);
        });
    if (!fits)
      return {};
    extras += block[std::size_t(form.count())];
    stored.insert(stored.end(), block.begin(), block.end());
  }
  return stored;
}

/// Returns a random weight whose sums of `sum` products are bounded, except for
/// one group of eight weights in `sparse`. No group exceeds if that is 0.
inline std::vector<std::int8_t> bounded_numbers(random_source &r,
                                                const bounded_factor &f,
                                                int sum, int sparse) {
  std::vector<std::int8_t> w(f.count());
  const std::vector<std::int8_t> any = numbers<std::int8_t>(r, w.size());
  for (int column = 0; column < f.columns; ++column)
    for (int tap = 0; tap < f.kh * f.kw; ++tap)
      for (int eight = 0; eight < f.channels; eight += 8) {
        int positive[4] = {128, 128, 128, 128};
        int negative[4] = {128, 128, 128, 128};
        const bool exceeds = sparse && r.between(1, sparse) == 1;
        for (int row = 0; row < 8 && eight + row < f.channels; ++row) {
          const std::size_t at = f.at(column, eight + row, tap);
          int &left =
              (any[at] > 0 ? positive
                           : negative)[sum == 4 ? row / 2 % 2 : row / 2];
          const int size = nnc::smaller(any[at] > 0 ? any[at] : -any[at], left);
          left -= size;
          w[at] = exceeds ? any[at] : std::int8_t(any[at] > 0 ? size : -size);
        }
      }
  return w;
}

/// Returns a random weight of which half of the channels of each group of
/// sixteen, in random places, hold any numbers, and the others hold only 0 and
/// 1, except for one in `sparse`. None exceeds if that is 0.
inline std::vector<std::int8_t>
ordered_numbers(random_source &r, const bounded_factor &f, int sparse) {
  std::vector<std::int8_t> w(f.count());
  const std::vector<std::int8_t> any = numbers<std::int8_t>(r, w.size());
  for (int group = 0; group < f.channels; group += 16) {
    const int count = std::min(16, nnc::ceil_div(f.channels - group, 8) * 8);
    std::vector<int> places(std::size_t(count), 0);
    std::fill_n(places.begin(), count / 2, 1);
    for (int i = count - 1; i > 0; --i)
      std::swap(places[std::size_t(i)], places[std::size_t(r.between(0, i))]);
    for (int i = 0; i < count && group + i < f.channels; ++i)
      for (int column = 0; column < f.columns; ++column)
        for (int tap = 0; tap < f.kh * f.kw; ++tap) {
          const std::size_t at = f.at(column, group + i, tap);
          const bool is_large =
              places[std::size_t(i)] || (sparse && r.between(1, sparse) == 1);
          w[at] = is_large ? any[at] : std::int8_t(any[at] & 1);
        }
  }
  return w;
}

/// Compares a routine R on `shape`, which has the values of s, with the
/// portable routine P for a random weight, which contains orders of channels
/// if `ordered` is set. Returns the number of extra vectors.
template <class R, class P, class T, class E, class PE, class RS, class S>
int compare_bounded(random_source &r, const RS &shape, const S &s, int width,
                    int sum, const axes (&tensors)[3],
                    const std::string (&layouts)[3], int channels,
                    std::ptrdiff_t scratch_bytes, bool ordered = false) {
  const bounded_factor factor(s);
  std::vector<std::int8_t> w, stored;
  int extras = 0;
  for (int sparse : {20, 100, 1000, 0}) {
    extras = 0;
    w = ordered ? ordered_numbers(r, factor, sparse)
                : bounded_numbers(r, factor, sum, sparse);
    stored = ordered ? store_ordered(factor, width, w, extras)
                     : store_bounded(factor, width, sum, w, extras);
    if (!stored.empty())
      break;
  }
  REQUIRE(!stored.empty());
  const std::string plain[] = {layouts[0], "plain", layouts[2]};
  compare_with<P, T, E, PE>(
      r, s, tensors, plain, channels, scratch_bytes,
      numbers<std::uint8_t>(r, tensors[0].count()), w, R::units(shape),
      [&](const std::uint8_t *x, const std::int8_t *, T *y,
          unsigned char *scratch, const E &epi, int begin, int end) {
        R::run(shape, x, stored.data(), y, scratch, epi, begin, end);
      });
  return extras;
}

} // namespace nnc_test

#endif // NNC_TEST_BOUNDED_TEST_H
