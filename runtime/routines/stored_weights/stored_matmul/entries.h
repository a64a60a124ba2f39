//===- entries.h - Product of a few rows and weights most of which are zero ==//
//
// y[m][n] = epi(sum over k of x[m][k] * w[n][k]), where w is stored as entries
// (decode/entries.h, decode/literals.h): the weights that are not zero, each
// with the number of zeros in front of it. The product reads the entries
// directly: it takes a multiply-add for each entry, and decodes no weights to
// memory.
//
// The position of an entry depends on the entry before it. Several blocks of
// entries are read in turn, so that the processor need not wait for any of
// them. Each reader loads a word at its position in the stream and takes the
// number of entries that always fit in a word.
//
// A row of x with an infinite element or a NaN has no finite result, as if
// zeros were multiplied by that element, too.
//
// With W = 1 one row of x is multiplied at a time; otherwise W rows are, which
// each thread has transposed in its scratch. A unit is stored_unit rows of w.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_ENTRIES_H
#define NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_ENTRIES_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/stored_weights/decode/huffman_table.h"
#include "runtime/routines/stored_weights/stored_matmul/plan.h"
#include "runtime/routines/stored_weights/stored_matmul/skipped.h"
#include "runtime/simd/wrap.h"

namespace nnc {

/// Returns the bits of a stream from bit `at` on, at least stored_window of
/// them.
NNC_INLINE size_t stored_bits(const unsigned char *stream, size_t at) {
  const unsigned char *from = stream + at / 8;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  size_t word;
  __builtin_memcpy(&word, from, sizeof word);
#else
  size_t word = 0;
  for (size_t byte = 0; byte < sizeof word; ++byte)
    word |= static_cast<size_t>(from[byte]) << (8 * byte);
#endif
  return word >> (at % 8);
}
constexpr int stored_window = 8 * static_cast<int>(sizeof(size_t)) - 7;

/// The position of the next entry of a block in a stream of bits, and the
/// number of entries of the block.
struct stored_cursor {
  size_t bit;
  int entries;
};

/// The first entry of a block, whose values have `size` bytes.
template <class S>
NNC_FN stored_cursor stored_first_entry(const S &s, const unsigned char *w,
                                        int block, int size) {
  const size_t from =
      read_four_bytes(w + decode_places(s, size).blocks + ptrdiff_t(4) * block);
  return {8 * (from + 2), read_two_bytes(w + from)};
}

/// A reader of entries of fixed length from the low end of a word.
template <class S, class T> struct stored_plain_entries {
  using cursor = stored_cursor;
  const S &s;
  const T *values;

  NNC_FN stored_plain_entries(const S &shape, const unsigned char *w,
                              unsigned char *)
      : s(shape), values(static_cast<const T *>(static_cast<const void *>(w))) {
  }
  NNC_FN static constexpr ptrdiff_t scratch(const S &) { return 0; }
  /// The largest number of bits of an entry in the stream.
  NNC_FN static constexpr int bits(const S &s) {
    return s.gap_bits + s.value_bits;
  }
  NNC_INLINE cursor first(const unsigned char *w, int block) const {
    return stored_first_entry(s, w, block, static_cast<int>(sizeof(T)));
  }
  /// Returns the value; `gap` is the number of zeros in front of it.
  NNC_INLINE T take(size_t &word, cursor &at, size_t &gap) const {
    const size_t entry = word & ((size_t(1) << bits(s)) - 1);
    word >>= bits(s);
    at.bit += static_cast<size_t>(bits(s));
    gap = entry & ((size_t(1) << s.gap_bits) - 1);
    return values[entry >> s.gap_bits];
  }
};

/// A reader of entries whose gaps and values have Huffman codes. Tables hold
/// the gap and the value of each code, so that the position of the next entry
/// depends only on the lengths of codes.
template <class S, class T> struct stored_huffman_entries {
  using cursor = stored_cursor;
  const S &s;
  huffman_step *gap_steps, *value_steps;
  T *values;

  NNC_FN stored_huffman_entries(const S &shape, const unsigned char *w,
                                unsigned char *scratch)
      : s(shape) {
    const decode_places at(s, static_cast<int>(sizeof(T)));
    gap_steps = static_cast<huffman_step *>(static_cast<void *>(scratch));
    value_steps = gap_steps + (ptrdiff_t(1) << s.gap_bits);
    values = static_cast<T *>(
        static_cast<void *>(value_steps + (ptrdiff_t(1) << s.value_bits)));
    fill_huffman_table(gap_steps, w + at.gap_counts, s.gap_bits, false);
    fill_huffman_table(value_steps, w + at.value_counts, s.value_bits, false);
    for (int i = 0; i < 1 << s.gap_bits; ++i)
      gap_steps[i].first = w[at.gaps + gap_steps[i].first];
    const T *table = static_cast<const T *>(static_cast<const void *>(w));
    for (int i = 0; i < 1 << s.value_bits; ++i)
      values[i] = table[value_steps[i].first];
  }
  NNC_FN static constexpr ptrdiff_t scratch(const S &s) {
    return stored_huffman_scratch(s);
  }
  NNC_FN static constexpr int bits(const S &s) {
    return s.gap_bits + s.value_bits;
  }
  NNC_INLINE cursor first(const unsigned char *w, int block) const {
    return stored_first_entry(s, w, block, static_cast<int>(sizeof(T)));
  }
  NNC_INLINE T take(size_t &word, cursor &at, size_t &gap) const {
    const huffman_step skip = gap_steps[word & ((size_t(1) << s.gap_bits) - 1)];
    word >>= skip.bits;
    const size_t code = word & ((size_t(1) << s.value_bits) - 1);
    const size_t length = value_steps[code].bits;
    word >>= length;
    at.bit += skip.bits + length;
    gap = skip.first;
    return values[code];
  }
};

/// A reader of entries whose gaps are at the low end of a word and whose values
/// are stored separately.
template <class S, class T> struct stored_literal_entries {
  struct cursor {
    size_t bit;
    int entries;
    const T *value;
  };
  const S &s;

  NNC_FN stored_literal_entries(const S &shape, const unsigned char *,
                                unsigned char *)
      : s(shape) {}
  NNC_FN static constexpr ptrdiff_t scratch(const S &) { return 0; }
  NNC_FN static constexpr int bits(const S &s) { return s.gap_bits; }
  NNC_INLINE cursor first(const unsigned char *w, int block) const {
    const decode_literal_places at(s, static_cast<int>(sizeof(T)));
    const unsigned char *counts = w + at.counts + ptrdiff_t(4) * block;
    const uint32_t from = read_four_bytes(counts);
    return {8 * static_cast<size_t>(at.gaps) +
                static_cast<size_t>(from) * static_cast<size_t>(s.gap_bits),
            static_cast<int>(read_four_bytes(counts + 4) - from),
            static_cast<const T *>(static_cast<const void *>(w + at.values)) +
                from};
  }
  NNC_INLINE T take(size_t &word, cursor &at, size_t &gap) const {
    gap = word & ((size_t(1) << s.gap_bits) - 1);
    word >>= s.gap_bits;
    at.bit += static_cast<size_t>(s.gap_bits);
    return *at.value++;
  }
};

/// The sums of W rows of x, one in each lane.
template <class X, int W> struct stored_lanes {
  using sum = f32x<W>;
  static NNC_INLINE sum zero() { return sum(0.f); }
  static NNC_INLINE void add(sum &to, float value, const float *x) {
    to = fma(sum(value), sum::load(x), to);
  }
};
/// The sum of one row.
template <class X> struct stored_lanes<X, 1> {
  using sum = conditional_t<is_same<X, float>::value, float, int32_t>;
  static NNC_INLINE sum zero() { return 0; }
  template <class T> static NNC_INLINE void add(sum &to, T value, const X *x) {
    to = plus(to, times(static_cast<sum>(value), static_cast<sum>(*x)));
  }
};

template <template <class, class> class Entries, int W, class S, class Epi>
struct stored_matmul_entries_t {
  NNC_FN static constexpr int units(const S &s) {
    return ceil_div(s.n, rows_of_unit(s));
  }

  template <class X, class Y>
  NNC_FN static void run(const S &s, const X *x, const unsigned char *w, Y *y,
                         unsigned char *scratch, const Epi &epi, int begin,
                         int end) {
    using T = conditional_t<is_same<X, float>::value, float, int8_t>;
    using L = stored_lanes<X, W>;
    const Entries<S, T> entries(s, w, scratch);
    const int step = rows_of_unit(s);
    const int last = smaller(end * step, s.n);
    for (int row = 0; row < s.m; row += W) {
      const int count = smaller(W, s.m - row);
      const X *from = x + ptrdiff_t(row) * s.k;
      conditional_t<is_same<X, float>::value, float, int32_t>
          skipped[static_cast<size_t>(W)] = {};
      for (int i = 0; i < count; ++i)
        skipped[i] = skipped_products(from + ptrdiff_t(i) * s.k, s.k);
      if constexpr (W > 1)
        from = transpose(s, from, count, scratch + Entries<S, T>::scratch(s));
      for (int n = begin * step; n < last; n += step) {
        const int rows = smaller(step, last - n);
        if (stored_block_rows(s) > 1) {
          add_block<L>(s, entries, w, from, n, rows,
                       [&](typename L::sum sum, int i) {
                         store<W>(s, sum, skipped, y, epi, row, count, n + i);
                       });
          continue;
        }
        typename L::sum sums[stored_unit];
        add_rows<L>(s, entries, w, from, n, rows, sums);
        for (int i = 0; i < rows; ++i)
          store<W>(s, sums[i], skipped, y, epi, row, count, n + i);
      }
    }
  }

  /// Runs a form that needs no scratch.
  template <class X, class Y>
  NNC_FN static void run(const S &s, const X *x, const unsigned char *w, Y *y,
                         const Epi &epi, int begin, int end) {
    run(s, x, w, y, nullptr, epi, begin, end);
  }

private:
  NNC_FN static constexpr int rows_of_unit(const S &s) {
    return stored_block_rows(s) > 1 ? stored_block_rows(s) : stored_unit;
  }

  /// Computes the sums of the rows of one block, of which row n is the first,
  /// and calls done(sum, i) for each in turn.
  template <class L, class E, class X, class F>
  NNC_FN static void add_block(const S &s, const E &entries,
                               const unsigned char *w, const X *x, int n,
                               int rows, F done) {
    const int in_word = stored_window / E::bits(s);
    typename E::cursor at = entries.first(w, n / stored_block_rows(s));
    typename L::sum sum = L::zero();
    int place = 0, row = 0;
    NNC_KEEP_LOOP for (int left = at.entries; left > 0; left -= in_word) {
      size_t word = stored_bits(w, at.bit);
      for (int entry = smaller(left, in_word); entry > 0; --entry) {
        size_t gap;
        const auto value = entries.take(word, at, gap);
        place += static_cast<int>(gap);
        for (; place >= s.k; place -= s.k, sum = L::zero())
          done(sum, row++);
        L::add(sum, value, x + ptrdiff_t(place) * W);
        ++place;
      }
    }
    for (; row < rows; sum = L::zero())
      done(sum, row++);
  }

  /// Copies `count` rows of x to `to` as [k][W]. Missing rows are zeros.
  NNC_FN static const float *transpose(const S &s, const float *x, int count,
                                       unsigned char *scratch) {
    auto *to = static_cast<float *>(static_cast<void *>(scratch));
    for (int k = 0; k < s.k; ++k)
      for (int i = 0; i < W; ++i)
        to[ptrdiff_t(k) * W + i] = i < count ? x[ptrdiff_t(i) * s.k + k] : 0.f;
    return to;
  }

  template <int N, class Sum, class Skipped, class Y>
  NNC_FN static void store(const S &s, Sum sum, const Skipped *skipped, Y *y,
                           const Epi &epi, int row, int count, int n) {
    const ptrdiff_t at = ptrdiff_t(row) * s.n + n;
    if constexpr (N == 1) {
      y[at] = epi(plus(sum, *skipped), position<true>{at, n});
    } else {
      alignas(64) float each[static_cast<size_t>(N)];
      sum.store(each);
      for (int i = 0; i < count; ++i)
        y[at + ptrdiff_t(i) * s.n] = epi(
            each[i] + skipped[i], position<true>{at + ptrdiff_t(i) * s.n, n});
    }
  }

  /// Computes the sums of `rows` rows of w from row n on.
  template <class L, class E, class X>
  NNC_FN static void add_rows(const S &s, const E &entries,
                              const unsigned char *w, const X *x, int n,
                              int rows, typename L::sum *sums) {
    const int parts = s.k / s.block;
    NNC_UNROLL for (int i = 0; i < stored_unit; ++i) sums[i] = L::zero();
    if (rows < stored_unit) {
      for (int i = 0; i < rows; ++i)
        for (int part = 0; part < parts; ++part)
          add_blocks<L, 1>(s, entries, w, x + ptrdiff_t(part) * s.block * W,
                           (n + i) * parts + part, parts, sums + i);
      return;
    }
    for (int part = 0; part < parts; ++part)
      add_blocks<L, stored_unit>(s, entries, w,
                                 x + ptrdiff_t(part) * s.block * W,
                                 n * parts + part, parts, sums);
  }

  /// Adds the products of the N blocks `first`, `first` + `step`, ..., which
  /// are all multiplied by the same part of x, to N sums.
  template <class L, int N, class E, class X>
  NNC_FN static NNC_NOINLINE void
  add_blocks(const S &s, const E &entries, const unsigned char *w, const X *x,
             int first, int step, typename L::sum *sums) {
    constexpr auto streams = static_cast<size_t>(N);
    const X *at[streams];
    typename E::cursor next[streams];
    typename L::sum sum[streams];
    int common = 0;
    NNC_UNROLL for (int i = 0; i < N; ++i) {
      next[i] = entries.first(w, first + i * step);
      common = i ? smaller(common, next[i].entries) : next[i].entries;
      at[i] = x;
      sum[i] = sums[i];
    }
    const int in_word = stored_window / E::bits(s);
    const auto take = [&](int i, int count) {
      size_t word = stored_bits(w, next[i].bit);
      for (int entry = 0; entry < count; ++entry) {
        size_t gap;
        const auto value = entries.take(word, next[i], gap);
        at[i] += gap * W;
        L::add(sum[i], value, at[i]);
        at[i] += W;
      }
    };
    NNC_KEEP_LOOP for (int done = in_word; done <= common; done += in_word)
        NNC_UNROLL for (int i = 0; i < N; ++i) take(i, in_word);
    NNC_UNROLL for (int i = 0; i < N; ++i) {
      int rest = next[i].entries - common / in_word * in_word;
      NNC_KEEP_LOOP for (; rest > 0; rest -= in_word)
          take(i, smaller(rest, in_word));
      sums[i] = sum[i];
    }
  }
};

template <class S, class Epi>
using stored_matmul_entries_portable =
    stored_matmul_entries_t<stored_plain_entries, 1, S, Epi>;
template <class S, class Epi>
using stored_matmul_huffman_entries_portable =
    stored_matmul_entries_t<stored_huffman_entries, 1, S, Epi>;
template <class S, class Epi>
using stored_matmul_literals_portable =
    stored_matmul_entries_t<stored_literal_entries, 1, S, Epi>;
template <class S, class Epi>
using stored_matmul_i32_literals_portable =
    stored_matmul_literals_portable<S, Epi>;
template <class S, class Epi>
using stored_matmul_i32_entries_portable =
    stored_matmul_entries_portable<S, Epi>;
template <class S, class Epi>
using stored_matmul_i32_huffman_entries_portable =
    stored_matmul_huffman_entries_portable<S, Epi>;
#define NNC_STORED_ENTRIES(ISA, W)                                             \
  template <class S, class Epi>                                                \
  using stored_matmul_entries_##ISA =                                          \
      stored_matmul_entries_t<stored_plain_entries, W, S, Epi>;                \
  template <class S, class Epi>                                                \
  using stored_matmul_huffman_entries_##ISA =                                  \
      stored_matmul_entries_t<stored_huffman_entries, W, S, Epi>;              \
  template <class S, class Epi>                                                \
  using stored_matmul_literals_##ISA =                                         \
      stored_matmul_entries_t<stored_literal_entries, W, S, Epi>;
NNC_STORED_ENTRIES(avx512, 16)
NNC_STORED_ENTRIES(avx2, 8)
NNC_STORED_ENTRIES(rvv, 8)
NNC_STORED_ENTRIES(neon, 4)
NNC_STORED_ENTRIES(sse4, 4)
#undef NNC_STORED_ENTRIES

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_ENTRIES_H
