// Writes weights in the forms of decode/plan.h, independently of nnc's own
// encoder. The codes are valid but not necessarily short.
#ifndef NNC_TEST_STORED_WEIGHTS_H
#define NNC_TEST_STORED_WEIGHTS_H

#include "runtime/routines/stored_weights/decode/plan.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace nnc_test {

/// A weight tensor in a compressed form (codebook, sparse rows or Huffman
/// codes), for tests: its shape, and its bytes, to which the members append.
struct stored_weights {
  nnc::decode_shape shape{};
  std::vector<unsigned char> bytes;
  int used = 0; ///< bits used of the last byte

  void number(std::uint32_t n, int size) {
    for (int i = 0; i < size; ++i)
      bytes.push_back(static_cast<unsigned char>(n >> (8 * i)));
    used = 0;
  }
  template <class T> void value(T each) {
    std::uint32_t word = 0;
    std::memcpy(&word, &each, sizeof each);
    number(word, sizeof each);
  }
  void bits(std::uint32_t n, int count) {
    for (int i = 0; i < count; ++i, used = (used + 1) % 8) {
      if (used == 0)
        bytes.push_back(0);
      bytes.back() =
          static_cast<unsigned char>(bytes.back() | (n >> i & 1) << used);
    }
  }
  void align(std::size_t to) {
    while (bytes.size() % to)
      bytes.push_back(0);
    used = 0;
  }
};

inline int bits_for(std::size_t count) {
  int bits = 1;
  while ((std::size_t(1) << bits) < count)
    ++bits;
  return bits;
}

/// A canonical code in which the first symbol has one bit, and all others have
/// the same number of bits.
struct test_code {
  std::size_t symbols;
  int length(std::size_t symbol) const {
    return symbol == 0 || symbols == 1 ? 1 : 1 + bits_for(symbols - 1);
  }
  int longest() const { return length(symbols - 1); }
  void write(stored_weights &to, std::size_t symbol) const {
    if (symbol == 0)
      return to.bits(0, 1);
    to.bits(1, 1);
    // The highest bit first.
    for (int bit = length(symbol) - 1; bit-- > 0;)
      to.bits(static_cast<std::uint32_t>(symbol - 1) >> bit & 1, 1);
  }
  void write_counts(stored_weights &to) const {
    for (int bits = 1; bits <= longest(); ++bits) {
      std::uint32_t count = 0;
      for (std::size_t i = 0; i < symbols; ++i)
        count += length(i) == bits;
      to.number(count, 2);
    }
  }
};

/// Stores weights as a pattern: each group of `group` weights has as many
/// entries as the largest number of nonzero weights in any group. The entries
/// are indices in `values`, the last of which is zero, or the weights
/// themselves if `values` has only the zero.
template <class T>
stored_weights store_pattern(const std::vector<T> &weights, int group,
                             const std::vector<T> &values) {
  const auto count = [&](std::size_t first) {
    return static_cast<int>(
        group - std::count(weights.begin() + long(first),
                           weights.begin() + long(first) + group, T(0)));
  };
  stored_weights to, places;
  nnc::decode_shape &s = to.shape;
  s.form = nnc::decode_pattern;
  s.elements = static_cast<int>(weights.size());
  s.block = group;
  s.gaps = 1;
  for (std::size_t i = 0; i < weights.size(); i += std::size_t(group))
    s.gaps = std::max(s.gaps, count(i));
  s.gap_bits = bits_for(std::size_t(group));
  s.values = static_cast<int>(values.size());
  s.value_bits = s.values == 1 ? 8 * int(sizeof(T)) : bits_for(values.size());
  s.entries = s.elements / group * s.gaps;
  for (T value : values)
    to.value(value);
  to.align(4);
  for (std::size_t i = 0; i < weights.size(); i += std::size_t(group))
    for (int j = 0, padding = s.gaps - count(i); j < group; ++j) {
      const T weight = weights[i + std::size_t(j)];
      if (weight == T(0) && padding-- <= 0)
        continue;
      places.bits(static_cast<std::uint32_t>(j), s.gap_bits);
      if (s.values == 1)
        to.value(weight);
      else
        to.bits(static_cast<std::uint32_t>(
                    std::find(values.begin(), values.end(), weight) -
                    values.begin()),
                s.value_bits);
    }
  to.align(4);
  to.bytes.insert(to.bytes.end(), places.bytes.begin(), places.bytes.end());
  to.bytes.insert(to.bytes.end(), std::size_t(nnc::decode_behind), 0);
  return to;
}

/// Stores `weights` in another decode_form, `form`, with `block` elements in
/// each block.
template <class T>
stored_weights store_weights(int form, const std::vector<T> &weights,
                             int block) {
  const bool is_entry = nnc::decode_has_entries(form);
  std::vector<T> values(weights);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (is_entry) { // zero is the last one
    values.erase(std::remove(values.begin(), values.end(), T(0)), values.end());
    values.push_back(T(0));
  }
  const auto place = [&](T value) {
    return static_cast<std::size_t>(
        std::find(values.begin(), values.end(), value) - values.begin());
  };
  stored_weights to;
  nnc::decode_shape &s = to.shape;
  s.form = form;
  s.elements = static_cast<int>(weights.size());
  s.block = block;
  s.values = static_cast<int>(values.size());
  for (T value : values)
    to.value(value);
  if (form == nnc::decode_codes) {
    s.value_bits = bits_for(values.size());
    for (T weight : weights)
      to.bits(static_cast<std::uint32_t>(place(weight)), s.value_bits);
    to.used = 0;
    to.bytes.insert(to.bytes.end(),
                    static_cast<std::size_t>(nnc::decode_behind_codes(s)), 0);
    return to;
  }
  // Entries of a block: gaps of at most so many elements.
  const std::uint32_t most_gap = 6;
  const auto entries_of = [&](int begin) {
    std::vector<std::pair<std::uint32_t, T>> entries;
    std::uint32_t gap = 0;
    for (int i = begin; i < std::min(begin + block, int(weights.size()));
         ++i, ++gap)
      if (weights[std::size_t(i)] != T(0) || gap == most_gap) {
        entries.push_back({gap, weights[std::size_t(i)]});
        gap = std::uint32_t(-1);
      }
    while (!entries.empty() && entries.back().second == T(0))
      entries.pop_back();
    return entries;
  };
  if (form == nnc::decode_literals) {
    s.values = 1;
    s.value_bits = 8 * int(sizeof(T));
    s.gap_bits = 3;
    to.bytes.assign(4, 0);
    std::vector<T> literals;
    stored_weights gaps;
    for (int i = 0; i < nnc::decode_blocks(s); ++i) {
      to.number(static_cast<std::uint32_t>(literals.size()), 4);
      for (const auto &entry : entries_of(i * block)) {
        gaps.bits(entry.first, s.gap_bits);
        literals.push_back(entry.second);
      }
    }
    s.entries = static_cast<int>(literals.size());
    to.number(static_cast<std::uint32_t>(literals.size()), 4);
    for (T value : literals)
      to.value(value);
    to.bytes.insert(to.bytes.end(), gaps.bytes.begin(), gaps.bytes.end());
    to.bytes.insert(to.bytes.end(), std::size_t(nnc::decode_behind), 0);
    return to;
  }
  // With Huffman codes, zeros between entries need a code of their own.
  const test_code value_code{values.size()}, gap_code{most_gap + 1};
  const auto write_entry = [&](std::uint32_t gap, T value) {
    if (form == nnc::decode_entries) {
      to.bits(gap, s.gap_bits);
      to.bits(static_cast<std::uint32_t>(place(value)), s.value_bits);
    } else {
      gap_code.write(to, gap);
      value_code.write(to, place(value));
    }
  };
  s.value_bits = form == nnc::decode_entries ? bits_for(values.size())
                                             : value_code.longest();
  if (is_entry)
    s.gap_bits = form == nnc::decode_entries ? 3 : gap_code.longest();
  if (form == nnc::decode_huffman_entries)
    s.gaps = int(most_gap) + 1;
  to.align(2);
  if (form != nnc::decode_entries)
    value_code.write_counts(to);
  if (form == nnc::decode_huffman_entries) {
    gap_code.write_counts(to);
    for (std::uint32_t gap = 0; gap <= most_gap; ++gap)
      to.number(gap, 1);
  }
  to.align(4);
  const std::size_t places = to.bytes.size();
  const int blocks = nnc::decode_blocks(s);
  to.bytes.resize(places + 4 * std::size_t(blocks));
  for (int i = 0; i < blocks; ++i) {
    to.used = 0;
    for (std::size_t byte = 0; byte < 4; ++byte)
      to.bytes[places + 4 * std::size_t(i) + byte] =
          static_cast<unsigned char>(to.bytes.size() >> (8 * byte));
    if (!is_entry) {
      for (int k = i * block; k < std::min((i + 1) * block, s.elements); ++k)
        value_code.write(to, place(weights[std::size_t(k)]));
      continue;
    }
    const auto entries = entries_of(i * block);
    s.entries += static_cast<int>(entries.size());
    to.number(static_cast<std::uint32_t>(entries.size()), 2);
    for (const auto &entry : entries)
      write_entry(entry.first, entry.second);
  }
  to.bytes.insert(to.bytes.end(), std::size_t(nnc::decode_behind), 0);
  return to;
}

} // namespace nnc_test

#endif // NNC_TEST_STORED_WEIGHTS_H
