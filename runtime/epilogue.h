//===- epilogue.h - The work on each value before it is stored ------------===//
//
// A routine computes v, a float, a vector of floats or an integer, and stores
// epi(v, pos). An epilogue is either none or fused<F, operands...>, where F is
// pure arithmetic,
//
//   struct conv1_epilogue {
//     template <class V> V operator()(V x, V bias, V residual) const {
//       return nnc::relu(nnc::add(nnc::add(x, bias), residual));
//     }
//   };
//
// and the operands say where F's further arguments come from:
//
//   fused<conv1_epilogue, channel_of<float>, full_of<float>>{bias, residual}
//
// For an integer, such as the sum of a quantized convolution, F has the types
// of the expression: it takes the sum and operands of their own types, and
// returns what is stored.
//
//   struct conv2_epilogue {
//     uint8_t operator()(int32_t v, float scale) const {
//       return nnc::cast<uint8_t>(
//           nnc::round(nnc::mul(nnc::cast<float>(v), scale)));
//     }
//   };
//
// With runtime/simd/bytes.h, such an F may be a template, too, and then serves
// vectors of integers: template <class V> auto operator()(V v, like<V, float>
// scale) const.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_EPILOGUE_H
#define NNC_EPILOGUE_H

#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/simd/operands.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec.h"

namespace nnc {

/// Position of a value in the output, given for its lane 0. The other lanes
/// follow in memory; LanesAreChannels says whether they are the next channels
/// (as in NHWC or NCHW16c) or all of one channel (as in NCHW).
template <bool LanesAreChannels> struct position {
  static constexpr bool lanes_are_channels = LanesAreChannels;
  ptrdiff_t offset; ///< flat physical index in the output
  int channel;      ///< logical channel (conv, pool: axis 1; matmul: n)
};

/// Position of four points that follow each other in a blocked layout, where
/// each quarter of the lanes has the same channels.
struct position_of_four {
  static constexpr bool lanes_are_channels = true;
  ptrdiff_t offset;
  int channel;
};

/// No epilogue: values are stored as they are.
struct none {
  template <class V, class P> NNC_INLINE V operator()(V v, P) const {
    return v;
  }
  template <class V, class P> NNC_INLINE V operator()(V v, P, int) const {
    return v;
  }
  /// Does nothing, because there are no operands to prefetch.
  NNC_INLINE void fetch(ptrdiff_t) const {}
};

/// An operand with the physical layout of the output.
template <class T> struct full_of {
  using element = T;
  const T *data;
  template <class V, class P> NNC_INLINE operand_type<V, T> get(P pos) const {
    return operand_beside<V, T>::load(data + pos.offset);
  }
  template <class V, class P>
  NNC_INLINE operand_type<V, T> get(P pos, int count) const {
    return operand_beside<V, T>::load(data + pos.offset, count);
  }
  NNC_INLINE void fetch(ptrdiff_t offset) const { NNC_PREFETCH(data + offset); }
};

/// An operand with one value for each channel. Where lanes are channels of a
/// blocked layout, its buffer extends to the end of the last block.
template <class T> struct channel_of {
  using element = T;
  const T *data;
  template <class V, class P> NNC_INLINE operand_type<V, T> get(P pos) const {
    if constexpr (is_same<P, position_of_four>::value)
      return operand_beside<V, T>::load_quarter(data + pos.channel);
    else if constexpr (P::lanes_are_channels)
      return operand_beside<V, T>::load(data + pos.channel);
    else
      return operand_beside<V, T>::repeat(data + pos.channel);
  }
  template <class V, class P>
  NNC_INLINE operand_type<V, T> get(P pos, int count) const {
    if constexpr (P::lanes_are_channels)
      return operand_beside<V, T>::load(data + pos.channel, count);
    else
      return operand_beside<V, T>::repeat(data + pos.channel);
  }
  NNC_INLINE void fetch(ptrdiff_t) const {}
};

/// An operand with one value.
template <class T> struct scalar_of {
  using element = T;
  const T *data;
  template <class V, class P> NNC_INLINE operand_type<V, T> get(P) const {
    return operand_beside<V, T>::repeat(data);
  }
  template <class V, class P> NNC_INLINE operand_type<V, T> get(P, int) const {
    return operand_beside<V, T>::repeat(data);
  }
  NNC_INLINE void fetch(ptrdiff_t) const {}
};

/// A list of operands that loads each in turn and passes them on.
template <class... Operands> struct operand_list {
  template <class F, class V, class P, class... Loaded>
  NNC_INLINE auto apply(const F &f, V v, P, Loaded... loaded) const {
    return f(v, loaded...);
  }
  template <class F, class V, class P, class... Loaded>
  NNC_INLINE auto apply_first(const F &f, V v, P, int, Loaded... loaded) const {
    return f(v, loaded...);
  }
  NNC_INLINE void fetch(ptrdiff_t) const {}
};
template <class Head, class... Tail> struct operand_list<Head, Tail...> {
  Head head;
  operand_list<Tail...> tail;
  template <class H, class... T>
  NNC_FN constexpr operand_list(H h, T... t) : head{h}, tail{t...} {}
  template <class F, class V, class P, class... Loaded>
  NNC_INLINE auto apply(const F &f, V v, P pos, Loaded... loaded) const {
    return tail.apply(f, v, pos, loaded..., head.template get<V>(pos));
  }
  template <class F, class V, class P, class... Loaded>
  NNC_INLINE auto apply_first(const F &f, V v, P pos, int count,
                              Loaded... loaded) const {
    return tail.apply_first(f, v, pos, count, loaded...,
                            head.template get<V>(pos, count));
  }
  NNC_INLINE void fetch(ptrdiff_t offset) const {
    head.fetch(offset);
    tail.fetch(offset);
  }
};

/// The epilogue F(v, operands...). It is constructed from the operands'
/// pointers, in order. epi(v, pos) is for whole vectors; epi(v, pos, count)
/// reads operands only for the first `count` lanes, and the results in other
/// lanes are meaningless.
template <class F, class... Operands> struct fused {
  operand_list<Operands...> operands;
  template <class... Pointers>
  NNC_FN constexpr fused(Pointers... p) : operands{p...} {
    static_assert(sizeof...(Pointers) == sizeof...(Operands),
                  "one pointer for each operand");
  }
  template <class V, class P> NNC_INLINE auto operator()(V v, P pos) const {
    return operands.apply(F{}, v, pos);
  }
  template <class V, class P>
  NNC_INLINE auto operator()(V v, P pos, int count) const {
    return operands.apply_first(F{}, v, pos, count);
  }
  /// Prefetches the operands of the output value at flat index `offset`.
  NNC_INLINE void fetch(ptrdiff_t offset) const { operands.fetch(offset); }
};

/// The constants of an expression that requantizes sums of integers to i8 with
/// TFLite's double rounding: min(max(rescale_double(v + bias, multiplier,
/// shift) + zero, low), high). Its operands are the bias, multiplier and shift
/// of the channel. If F is such an expression, F::requantization is a
/// requantization_of.
template <int Zero, int Low, int High> struct requantization_of {
  static constexpr int zero = Zero, low = Low, high = High;
};

/// True if an epilogue is a requantization (requantization_of) whose operands
/// have one value per channel.
template <class Epi, class = void> struct requantizes {
  static constexpr bool value = false;
};
template <class F>
struct requantizes<
    fused<F, channel_of<int32_t>, channel_of<int32_t>, channel_of<int32_t>>,
    enable_if_t<(F::requantization::low >= -128)>> {
  static constexpr bool value = true;
  using form = typename F::requantization;
};

/// True if an epilogue accepts values of the vector type V.
template <class Epi, class V> constexpr bool takes_vectors = false;
template <class V> constexpr bool takes_vectors<none, V> = true;
template <class F, class... Operands, class V>
constexpr bool takes_vectors<fused<F, Operands...>, V> =
    is_invocable<const F &, V,
                 operand_type<V, typename Operands::element>...>::value;

/// Stores epi(v) at y[at] in a blocked layout. Lane 0 is channel `first`; lanes
/// for channels from `channels` on are stored as zero.
template <int W, class T, class Epi>
NNC_INLINE void store_channels(f32x<W> v, T *y, ptrdiff_t at, int first,
                               int channels, const Epi &epi) {
  v = epi(v, position<true>{at, first});
  if (channels % W != 0 && first + W > channels)
    v = keep_first(v, channels - first);
  store(y + at, v);
}

} // namespace nnc

#endif // NNC_EPILOGUE_H
