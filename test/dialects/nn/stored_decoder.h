//===- stored_decoder.h - Decodes stored weights in exact memory -*- C++ -*-==//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TEST_DIALECTS_NN_STORED_DECODER_H
#define NNC_TEST_DIALECTS_NN_STORED_DECODER_H

#include "runtime/epilogue.h"
#include "runtime/routines/stored_weights/decode/codes.h"
#include "runtime/routines/stored_weights/decode/entries.h"
#include "runtime/routines/stored_weights/decode/huffman.h"
#include "runtime/routines/stored_weights/decode/literals.h"
#include "runtime/routines/stored_weights/decode/pattern.h"

#include <memory>
#include <random>
#include <vector>

namespace nnc {

/// The number of values of decode_form.
constexpr int kForms = decode_last_form + 1;

template <class R, class T, class... A>
void decodeEachUnit(const decode_shape &s, const uint8_t *x, T *y,
                    A... scratch) {
  for (int unit = R::units(s); unit-- > 0;)
    R::run(s, x, y, scratch..., none{}, unit, unit + 1);
}

/// Decodes one unit after the other, from the last to the first. The bytes, the
/// elements and the scratch have memory of exactly their sizes, so that
/// sanitizers find each access beyond them.
template <class T>
std::vector<T> decodeStored(const decode_shape &s,
                            const std::vector<uint8_t> &bytes) {
  std::unique_ptr<uint8_t[]> x(new uint8_t[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), x.get());
  std::unique_ptr<T[]> y(new T[size_t(s.elements)]);
  std::unique_ptr<uint8_t[]> scratch(new uint8_t[size_t(decode_scratch(s))]);
  switch (s.form) {
  case decode_codes:
    decodeEachUnit<decode_codes_portable<decode_shape, none>>(s, x.get(),
                                                              y.get());
    break;
  case decode_entries:
    decodeEachUnit<decode_entries_portable<decode_shape, none>>(s, x.get(),
                                                                y.get());
    break;
  case decode_literals:
    decodeEachUnit<decode_literals_portable<decode_shape, none>>(s, x.get(),
                                                                 y.get());
    break;
  case decode_pattern:
    decodeEachUnit<decode_pattern_portable<decode_shape, none>>(s, x.get(),
                                                                y.get());
    break;
  case decode_huffman:
    decodeEachUnit<decode_huffman_portable<decode_shape, none>>(
        s, x.get(), y.get(), scratch.get());
    break;
  default:
    decodeEachUnit<decode_huffman_entries_portable<decode_shape, none>>(
        s, x.get(), y.get(), scratch.get());
  }
  return std::vector<T>(y.get(), y.get() + s.elements);
}

/// Returns a random number of elements, often a multiple of the size of a
/// pattern's groups.
inline size_t pickCount(std::mt19937 &random, size_t least, size_t most) {
  size_t count = least + random() % most;
  return random() % 2 ? count : (count + 15) / 16 * 16;
}

/// Returns random elements of a weight: values of a table, mostly its first
/// ones; any values; many zeros; long runs of zeros; or other values in each
/// row.
template <class T>
std::vector<T> makeElements(std::mt19937 &random, size_t count) {
  auto pick = [&](int most) { return int(random() % unsigned(most)); };
  std::vector<T> table(size_t(1 + pick(pick(2) ? 16 : 256)));
  for (T &value : table)
    value = T(random());
  const int zeros = std::vector<int>{0, 0, 50, 90, 99}[size_t(pick(5))];
  const bool isSkewed = pick(2), hasRows = pick(3) == 0, isAny = pick(3) == 0;
  const size_t row = size_t(8 + pick(600));
  std::vector<T> elements(count);
  for (size_t i = 0; i < count; ++i) {
    int place = pick(int(table.size()));
    if (isSkewed)
      place = pick(place + 1);
    elements[i] = pick(100) < zeros ? T(0)
                  : isAny           ? T(random())
                                    : table[size_t(place)];
    if (hasRows && elements[i])
      elements[i] = T(elements[i] + T(i / row));
  }
  // Two of each four elements are zero.
  if (pick(3) == 0)
    for (size_t i = 0; i < count; ++i)
      if (((i / 4 * 2654435761u >> 7) + i) & 2)
        elements[i] = 0;
  if (pick(4) == 0)
    std::fill(elements.begin() + long(count / 4),
              elements.begin() + long(count - count / 4), T(0));
  return elements;
}

} // namespace nnc

#endif // NNC_TEST_DIALECTS_NN_STORED_DECODER_H
