// Weights in the order of simd/signed_pairs.h, and checks of routines that read
// them against the portable ones.
#ifndef NNC_TEST_SIGNED_PAIRS_TEST_H
#define NNC_TEST_SIGNED_PAIRS_TEST_H

#include "test/runtime/bounded_test.h"
#include "test/runtime/integers_test.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nnc_test {

/// Returns weights whose blocks of four columns of four channels are stored
/// channel by channel as simd/signed_pairs.h reads them: channels 0 and 1 of
/// each column, then channels 2 and 3.
inline std::vector<std::int8_t>
store_signed_pairs(const std::vector<std::int8_t> &packed) {
  std::vector<std::int8_t> stored(packed.size());
  for (std::size_t i = 0; i < packed.size(); ++i) {
    const std::size_t column = i / 4 % 4, channel = i % 4;
    stored[i / 16 * 16 + channel / 2 * 8 + column * 2 + channel % 2] =
        packed[i];
  }
  return stored;
}

/// Returns random weights, of which no two whose products are added in 16 bits
/// are both -128.
inline std::vector<std::int8_t> signed_pair_numbers(random_source &r,
                                                    const bounded_factor &f) {
  std::vector<std::int8_t> w = numbers<std::int8_t>(r, f.count());
  for (int column = 0; column < f.columns; ++column)
    for (int channel = 2; channel < f.channels; ++channel)
      for (int tap = 0; tap < f.kh * f.kw; ++tap) {
        std::int8_t &weight = w[f.at(column, channel, tap)];
        if (channel % 4 > 1 && weight == -128 &&
            w[f.at(column, channel - 2, tap)] == -128)
          weight = -127;
      }
  return w;
}

/// Compares a routine R on `shape`, which has the values of s, with the
/// portable routine P. layouts[1] is the layout of the weights, with or without
/// the name of the encoding behind it.
template <class R, class P, class T, class E, class PE, class RS, class S>
void compare_signed_pairs(random_source &r, const RS &shape, const S &s,
                          const axes (&tensors)[3],
                          const std::string (&layouts)[3], int channels,
                          std::ptrdiff_t scratch_bytes) {
  const std::string blocks = layouts[1].substr(0, layouts[1].find('_'));
  const std::vector<std::int8_t> w = signed_pair_numbers(r, bounded_factor(s));
  const std::vector<std::int8_t> stored =
      store_signed_pairs(pack(w, places(tensors[1], blocks)));
  const std::string plain[] = {layouts[0], "plain", layouts[2]};
  compare_with<P, T, E, PE>(
      r, s, tensors, plain, channels, scratch_bytes,
      numbers<std::int8_t>(r, tensors[0].count()), w, R::units(shape),
      [&](const std::int8_t *x, const std::int8_t *, T *y,
          unsigned char *scratch, const E &epi, int begin, int end) {
        R::run(shape, x, stored.data(), y, scratch, epi, begin, end);
      });
}

} // namespace nnc_test

#endif // NNC_TEST_SIGNED_PAIRS_TEST_H
