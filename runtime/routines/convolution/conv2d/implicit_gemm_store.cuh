//===- implicit_gemm_store.cuh - What implicit_gemm.cuh does with sums ----===//
//
// An output has a function store(b, s, v, row, channel, count): v are the sums
// of eight consecutive channels of an output pixel, from `channel` on, of which
// the first `count` exist. If the channels of a group are whole eights, it
// stores them with instructions of up to 16 bytes, and loads the epilogue's
// operands in the same way; these, but for scalars, are 16-byte aligned.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_IMPLICIT_GEMM_STORE_CUH
#define NNC_ROUTINES_CONVOLUTION_CONV2D_IMPLICIT_GEMM_STORE_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"
#include "runtime/simd/bfloat.h"
#include "runtime/simd/half.h"
#include "runtime/simd/unroll.h"

namespace nnc {

/// True if all eights of channels exist, and are aligned.
template <class S> NNC_INLINE bool stores_eights(const S &s) {
  return s.k / s.groups % 8 == 0;
}

/// N elements, or as many of them as one instruction moves.
template <class T, int N = 8>
struct alignas(smaller(16, N *int(sizeof(T)))) gemm_part {
  static constexpr int length = smaller(16 / int(sizeof(T)), N);
  T element[length];
};

/// Stores values as elements of type T: N of them, aligned, or one. N is four
/// or eight.
template <class T> struct gemm_elements { // of 4 bytes, or integers
  template <class B, class V, size_t N>
  static NNC_INLINE void store_all(B &b, T *y, const V (&v)[N]) {
    using part = gemm_part<T, int(N)>;
    NNC_UNROLL
    for (int i = 0; i < int(N); i += part::length) {
      part p;
      NNC_UNROLL
      for (int j = 0; j < part::length; ++j)
        p.element[j] = T(v[i + j]);
      b.store_global(reinterpret_cast<part *>(y + i), p);
    }
  }
  template <class B, class V>
  static NNC_INLINE void store_one(B &b, T *y, V v) {
    b.store_global(y, T(v));
  }
};
template <> struct gemm_elements<f16> {
  template <class B, size_t N>
  static NNC_INLINE void store_all(B &b, f16 *y, const float (&v)[N]) {
    gemm_part<uint32_t, int(N / 2)> words;
    NNC_UNROLL
    for (int i = 0; i < int(N); i += 2)
      words.element[i / 2] = b.halves(v[i], v[i + 1]);
    b.store_global(reinterpret_cast<decltype(words) *>(y), words);
  }
  template <class B> static NNC_INLINE void store_one(B &b, f16 *y, float v) {
    b.store_global(reinterpret_cast<uint16_t *>(y), uint16_t(b.halves(v, 0)));
  }
};
template <> struct gemm_elements<bf16> {
  template <class B, size_t N>
  static NNC_INLINE void store_all(B &b, bf16 *y, const float (&v)[N]) {
    gemm_part<uint32_t, int(N / 2)> words;
    NNC_UNROLL
    for (int i = 0; i < int(N); i += 2)
      words.element[i / 2] = b.bfloats(v[i], v[i + 1]);
    b.store_global(reinterpret_cast<decltype(words) *>(y), words);
  }
  template <class B> static NNC_INLINE void store_one(B &b, bf16 *y, float v) {
    b.store_global(reinterpret_cast<uint16_t *>(y), uint16_t(b.bfloats(v, 0)));
  }
};

/// An operand of an epilogue for values of type V in N consecutive channels of
/// an output pixel.
template <class V, class Operand, int N> struct gemm_operand {
  using type = operand_type<V, typename Operand::element>;
  type value[N];

  template <class B>
  NNC_INLINE gemm_operand(B &b, const full_of<typename Operand::element> &o,
                          ptrdiff_t at, int) {
    load(b, o.data + at);
  }
  template <class B>
  NNC_INLINE gemm_operand(B &b, const channel_of<typename Operand::element> &o,
                          ptrdiff_t, int channel) {
    load(b, o.data + channel);
  }
  template <class B>
  NNC_INLINE gemm_operand(B &, const scalar_of<typename Operand::element> &o,
                          ptrdiff_t at, int channel) {
    NNC_UNROLL
    for (int i = 0; i < N; ++i)
      value[i] = o.template get<V>(position<true>{at, channel});
  }

private:
  template <class B, class T> NNC_INLINE void load(B &b, const T *from) {
    using part = gemm_part<T, N>;
    NNC_UNROLL
    for (int i = 0; i < N; i += part::length) {
      const part p = b.load_global(reinterpret_cast<const part *>(from + i));
      NNC_UNROLL
      for (int j = 0; j < part::length; ++j)
        value[i + j] = operand_beside<V, T>::repeat(&p.element[j]);
    }
  }
};

/// An epilogue applied to N values: loads its operands in turn, then calls
/// F for each value.
template <class Epi> struct gemm_epilogue;
template <> struct gemm_epilogue<none> {
  template <class B, class V, size_t N>
  static NNC_INLINE void apply(B &, const none &, const V (&v)[N], V (&r)[N],
                               ptrdiff_t, int) {
    NNC_UNROLL
    for (int i = 0; i < int(N); ++i)
      r[i] = v[i];
  }
};
template <class F, class... Operands>
struct gemm_epilogue<fused<F, Operands...>> {
  template <class B, class V, class R, size_t N>
  static NNC_INLINE void apply(B &b, const fused<F, Operands...> &epi,
                               const V (&v)[N], R (&r)[N], ptrdiff_t at,
                               int channel) {
    load(b, epi.operands, v, r, at, channel);
  }

private:
  template <class B, class V, class R, size_t N, class Head, class... Tail,
            class... Loaded>
  static NNC_INLINE void load(B &b, const operand_list<Head, Tail...> &list,
                              const V (&v)[N], R (&r)[N], ptrdiff_t at,
                              int channel, const Loaded &...loaded) {
    const gemm_operand<V, Head, int(N)> first(b, list.head, at, channel);
    load(b, list.tail, v, r, at, channel, loaded..., first);
  }
  template <class B, class V, class R, size_t N, class... Loaded>
  static NNC_INLINE void load(B &, const operand_list<> &, const V (&v)[N],
                              R (&r)[N], ptrdiff_t, int,
                              const Loaded &...loaded) {
    NNC_UNROLL
    for (int i = 0; i < int(N); ++i)
      r[i] = F{}(v[i], loaded.value[i]...);
  }
};

/// Stores epi(sum) to y[row][channel].
template <class T, class Epi> struct finished_sums {
  T *y;
  Epi epi;

  template <class B, class S, class Sum>
  NNC_INLINE void store(B &b, const S &s, const Sum (&v)[8], int row,
                        int channel, int count) const {
    const ptrdiff_t at = ptrdiff_t(row) * s.k + channel;
    using result = decltype(epi(v[0], position<true>{at, channel}));
    if (stores_eights(s)) {
      result r[8];
      gemm_epilogue<Epi>::apply(b, epi, v, r, at, channel);
      gemm_elements<T>::store_all(b, y + at, r);
    } else {
      NNC_UNROLL
      for (int i = 0; i < 8; ++i)
        if (i < count)
          gemm_elements<T>::store_one(
              b, y + at + i, epi(v[i], position<true>{at + i, channel + i}));
    }
  }
};

/// Stores the sums of slice z to partial[z][row][channel].
template <class Sum> struct slice_sums {
  Sum *partial;

  template <class B, class S>
  NNC_INLINE void store(B &b, const S &s, const Sum (&v)[8], int row,
                        int channel, int count) const {
    const ptrdiff_t slice = ptrdiff_t(b.block_z()) * gemm_rows(s);
    finished_sums<Sum, none>{partial + slice * s.k, {}}.store(b, s, v, row,
                                                              channel, count);
  }
};

/// The output of sums that are divided into slices: where each block stores
/// those of its slice, the counter of each tile, and the output of their
/// totals.
template <class Sum, class Output> struct sliced_sums {
  slice_sums<Sum> of_slice;
  uint32_t *counters;
  Output total;
};
template <class Output> constexpr bool is_sliced = false;
template <class Sum, class Output>
constexpr bool is_sliced<sliced_sums<Sum, Output>> = true;

/// Adds the sums of all slices of a tile in their order, and passes them on.
/// Each thread of the block takes eight filters of a pixel at a time. Rows from
/// `end_row` on are none of the tile's.
template <class Tile, class B, class S, class Sum, class Output>
NNC_INLINE void
add_slices(B &b, const S &s, const sliced_sums<Sum, Output> &output, int slices,
           int first_row, int end_row, int first_column, int group) {
  constexpr int eights = Tile::columns / 8;
  const int filters = s.k / s.groups;
  NNC_KEEP_LOOP
  for (int unit = b.thread(); unit < Tile::rows * eights;
       unit += Tile::threads) {
    const int row = first_row + unit / eights;
    const int filter = first_column + unit % eights * 8;
    if (row >= end_row || filter >= filters)
      continue;
    const int channel = group * filters + filter;
    const int count = smaller(8, filters - filter);
    Sum v[8] = {};
    for (int z = 0; z < slices; ++z) {
      const Sum *from = output.of_slice.partial +
                        ((ptrdiff_t(z) * gemm_rows(s) + row) * s.k + channel);
      if (stores_eights(s)) {
        NNC_UNROLL
        for (int i = 0; i < 8; i += 4) {
          const auto four =
              b.load_global(reinterpret_cast<const gemm_part<Sum> *>(from + i));
          NNC_UNROLL
          for (int j = 0; j < 4; ++j)
            v[i + j] += four.element[j];
        }
      } else {
        NNC_UNROLL
        for (int i = 0; i < 8; ++i)
          if (i < count)
            v[i] += b.load_global(from + i);
      }
    }
    output.total.store(b, s, v, row, channel, count);
  }
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_IMPLICIT_GEMM_STORE_CUH
