//===- pattern.h - Weights with N:M sparsity ------------------------------===//
//
// Each M consecutive elements (s.block) have N entries (s.gaps), in order: the
// index of an element among the M, and its value, which is stored separately,
// either itself or as an index in a table (decode/plan.h). All other elements
// have the last value of the table, which is zero in pruned weights. Entries
// can be read in any order. The result is bitwise equal to the values that were
// stored. A unit is decode_unit elements.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_DECODE_PATTERN_H
#define NNC_ROUTINES_STORED_WEIGHTS_DECODE_PATTERN_H

#include "runtime/functions.h"
#include "runtime/routines/stored_weights/decode/bits.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec_portable.h"

namespace nnc {

/// A reader of the values and indices of consecutive entries.
template <class S, class T> class pattern_reader {
public:
  /// Entries between two calls of refill().
  NNC_FN static constexpr int in_word(const S &s) {
    const int bits = decode_keeps_values(s)      ? s.gap_bits
                     : s.value_bits > s.gap_bits ? s.value_bits
                                                 : s.gap_bits;
    return bit_reader::most / bits;
  }

  NNC_FN pattern_reader() : literal(nullptr), code(nullptr), place(nullptr) {}
  /// `x` is the stored weight, `entry` the first entry to read.
  NNC_FN pattern_reader(const S &s, const unsigned char *x, size_t entry)
      : literal(values_of(x + (decode_keeps_values(s) ? places(s).values : 0)) +
                (decode_keeps_values(s) ? entry : 0)),
        code(decode_keeps_values(s)
                 ? bit_reader(nullptr)
                 : bits_from(x + places(s).values,
                             entry * static_cast<size_t>(s.value_bits))),
        place(bits_from(x + places(s).places,
                        entry * static_cast<size_t>(s.gap_bits))) {}

  NNC_FN void refill(const S &s) {
    place.refill();
    if (!decode_keeps_values(s))
      code.refill();
  }
  /// Returns the value of the next entry and sets `at` to its index in the
  /// group.
  NNC_INLINE T take(const S &s, size_t &at) {
    at = place.peek((size_t(1) << s.gap_bits) - 1);
    place.skip(s.gap_bits);
    if (decode_keeps_values(s))
      return *literal++;
    const T value = literal[code.peek((size_t(1) << s.value_bits) - 1)];
    code.skip(s.value_bits);
    return value;
  }

private:
  NNC_FN static constexpr decode_pattern_places places(const S &s) {
    return decode_pattern_places(s, static_cast<int>(sizeof(T)));
  }
  NNC_FN static const T *values_of(const unsigned char *x) {
    return static_cast<const T *>(static_cast<const void *>(x));
  }
  const T *literal; ///< the next value, or the table
  bit_reader code, place;
};

/// Calls f(group, index, value) for each entry of the next `groups` groups.
template <class S, class T, class F>
NNC_INLINE void read_pattern(const S &s, pattern_reader<S, T> &reader,
                             int groups, F f) {
  const int in_word = pattern_reader<S, T>::in_word(s);
  const int together = smaller(groups, s.gaps < in_word ? in_word / s.gaps : 1);
  const auto take = [&](int group) {
    size_t place;
    const T value = reader.take(s, place);
    f(group, place, value);
  };
  if (s.gaps > in_word) {
    for (int group = 0; group < groups; ++group)
      for (int first = 0; first < s.gaps; first += in_word) {
        reader.refill(s);
        for (int i = smaller(in_word, s.gaps - first); i > 0; --i)
          take(group);
      }
    return;
  }
  NNC_KEEP_LOOP for (int first = 0; first < groups; first += together) {
    reader.refill(s);
    const int last = smaller(first + together, groups);
    for (int group = first; group < last; ++group)
      for (int i = 0; i < s.gaps; ++i)
        take(group);
  }
}

template <class S, class Epi> struct decode_pattern_portable {
  NNC_FN static constexpr int units(const S &s) {
    return (s.elements + decode_unit - 1) / decode_unit;
  }

  template <class T>
  NNC_FN static void run(const S &s, const unsigned char *x, T *y, const Epi &,
                         int begin, int end) {
    const T skipped =
        static_cast<const T *>(static_cast<const void *>(x))[s.values - 1];
    for (int unit = begin; unit < end; ++unit) {
      const int first = unit * decode_unit;
      const int count = smaller(decode_unit, s.elements - first);
      T *to = y + first;
      for (int i = 0; i < count; ++i)
        to[i] = skipped;
      pattern_reader<S, T> reader(s, x,
                                  static_cast<size_t>(first / s.block) *
                                      static_cast<size_t>(s.gaps));
      read_pattern(s, reader, count / s.block,
                   [&](int group, size_t place, T value) {
                     to[ptrdiff_t(group) * s.block + ptrdiff_t(place)] = value;
                   });
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_DECODE_PATTERN_H
