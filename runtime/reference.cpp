//===- reference.cpp - Every family's portable routine, by name -----------===//

#include "runtime/reference.h"

#include "runtime/routines/attention/portable.h"
#include "runtime/routines/catalogue/shapes.h"
#include "runtime/routines/convolution/conv2d/portable.h"
#include "runtime/routines/convolution/conv_transpose2d/portable.h"
#include "runtime/routines/convolution/expanded_conv2d/portable.h"
#include "runtime/routines/convolution/scaled_conv2d/portable.h"
#include "runtime/routines/convolution/separable_conv2d/portable.h"
#include "runtime/routines/learned/couple_probabilities/portable.h"
#include "runtime/routines/learned/squared_distance/portable.h"
#include "runtime/routines/learned/tree_ensemble/portable.h"
#include "runtime/routines/lengths/distinct/portable.h"
#include "runtime/routines/lengths/nonzero/portable.h"
#include "runtime/routines/lengths/offset/portable.h"
#include "runtime/routines/lengths/range/portable.h"
#include "runtime/routines/lengths/suppress/portable.h"
#include "runtime/routines/matrix/det/portable.h"
#include "runtime/routines/matrix/matmul/portable.h"
#include "runtime/routines/moves/adapt/portable.h"
#include "runtime/routines/moves/copy/portable.h"
#include "runtime/routines/moves/gather/portable.h"
#include "runtime/routines/moves/pack/portable.h"
#include "runtime/routines/moves/pad/portable.h"
#include "runtime/routines/moves/scatter/portable.h"
#include "runtime/routines/normalization/integer_softmax/portable.h"
#include "runtime/routines/normalization/layer_norm/portable.h"
#include "runtime/routines/normalization/softmax/portable.h"
#include "runtime/routines/normalization/table_softmax/portable.h"
#include "runtime/routines/ordering/argmax/portable.h"
#include "runtime/routines/ordering/top_k/portable.h"
#include "runtime/routines/pooling/max_pool_index/portable.h"
#include "runtime/routines/pooling/pool2d/portable.h"
#include "runtime/routines/recurrent/enqueue/portable.h"
#include "runtime/routines/recurrent/full_lstm/portable.h"
#include "runtime/routines/recurrent/integer_lstm/portable.h"
#include "runtime/routines/recurrent/lstm/portable.h"
#include "runtime/routines/recurrent/recurrent/portable.h"
#include "runtime/routines/reduction/reduce/portable.h"
#include "runtime/routines/reduction/scan/portable.h"
#include "runtime/routines/regions/max_roi_pool/portable.h"
#include "runtime/routines/regions/roi_align/portable.h"
#include "runtime/routines/resampling/fixed_resize/portable.h"
#include "runtime/routines/resampling/grid_sample/portable.h"
#include "runtime/routines/resampling/resize/portable.h"
#include "runtime/routines/signal/dft/portable.h"
#include "runtime/routines/signal/filter/portable.h"
#include "runtime/routines/stored_weights/block_matmul/portable.h"
#include "runtime/routines/stored_weights/decode/codes.h"
#include "runtime/routines/stored_weights/decode/entries.h"
#include "runtime/routines/stored_weights/decode/huffman.h"
#include "runtime/routines/stored_weights/decode/literals.h"
#include "runtime/routines/stored_weights/decode/pattern.h"
#include "runtime/routines/stored_weights/stored_conv2d/plan.h"
#include "runtime/routines/stored_weights/stored_matmul/plan.h"
#include "runtime/simd/bfloat.h"

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace {
using namespace nnc;

/// The tensors that one call reads and writes.
struct operands {
  const nnc_tensor *in;
  int inputs;
  nnc_tensor *out;
  template <class T> const T *x(int i) const {
    return static_cast<const T *>(in[i].data);
  }
  template <class T> T *y() const { return static_cast<T *>(out[0].data); }
  int type(int i) const { return i < inputs ? in[i].dtype : -1; }
};

/// Calls f with a value of the C++ type of `dtype`. with_float accepts f32 and
/// f64, and with_number all types but 16-bit floats; for other types they
/// return NNC_REFERENCE_NO_TYPE.
template <class F> int with_float(int dtype, F f) {
  if (dtype == NNC_F32)
    return f(float());
  return dtype == NNC_F64 ? f(double()) : int(NNC_REFERENCE_NO_TYPE);
}
template <class F> int with_number(int dtype, F f) {
  switch (dtype) {
  case NNC_I8:
    return f(std::int8_t());
  case NNC_I16:
    return f(std::int16_t());
  case NNC_I32:
    return f(std::int32_t());
  case NNC_I64:
    return f(std::int64_t());
  case NNC_BOOL:
  case NNC_U8:
    return f(std::uint8_t());
  case NNC_U16:
    return f(std::uint16_t());
  case NNC_U32:
    return f(std::uint32_t());
  case NNC_U64:
    return f(std::uint64_t());
  default:
    return with_float(dtype, f);
  }
}
/// Calls f with an unsigned integer of the size of `dtype`, for routines that
/// only move elements.
template <class F> int with_size(int dtype, F f) {
  switch (dtype) {
  case NNC_BOOL:
  case NNC_I8:
  case NNC_U8:
    return f(std::uint8_t());
  case NNC_I16:
  case NNC_U16:
    return f(std::uint16_t());
  case NNC_F32:
  case NNC_I32:
  case NNC_U32:
    return f(std::uint32_t());
  default:
    return f(std::uint64_t());
  }
}

template <class R, class S, class... A> int run_all(const S &s, A... args) {
  R::run(s, args..., none{}, 0, R::units(s));
  return NNC_REFERENCE_OK;
}

//===----------------------------------------------------------------------===//
// One function for each family: call_<family>
//===----------------------------------------------------------------------===//

template <template <class, class, class> class R, class S>
int call_float_pair(const S &s, const operands &o) {
  if (o.type(0) != o.type(1))
    return NNC_REFERENCE_NO_TYPE;
  return with_float(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_all<R<T, S, none>>(s, o.x<T>(0), o.x<T>(1), o.y<T>());
  });
}
/// Returns the elements of a tensor of integers of at most 32 bits, converted
/// to the type I, int32_t or int64_t; an empty vector for a tensor of another
/// type.
template <class I> std::vector<I> to_integers(const nnc_tensor &tensor) {
  std::vector<I> values;
  with_number(tensor.dtype, [&](auto t) {
    using T = decltype(t);
    if constexpr (std::is_integral<T>::value && sizeof(T) <= 4) {
      const T *data = static_cast<const T *>(tensor.data);
      values.assign(data, data + tensor.elements);
    }
    return int(NNC_REFERENCE_OK);
  });
  return values;
}
/// Returns true if the result has the type `sum` and is a sum of products of
/// narrower integers.
bool sums_in(int sum, const operands &o) {
  return o.out[0].dtype == sum && (o.type(0) != sum || o.type(1) != sum);
}
/// Runs the routine R on integers of any two types, with sums of type I.
template <class I, class R, class S>
int call_in(const S &s, const operands &o) {
  const std::vector<I> x = to_integers<I>(o.in[0]), w = to_integers<I>(o.in[1]);
  if (x.empty() || w.empty())
    return NNC_REFERENCE_NO_TYPE;
  return run_all<R>(s, x.data(), w.data(), o.y<I>());
}
int call_conv2d(const conv2d_shape &s, const operands &o) {
  if (o.out[0].dtype == NNC_I32)
    return call_in<std::int32_t, conv2d_i32_portable<conv2d_shape, none>>(s, o);
  if (o.out[0].dtype == NNC_I64)
    return call_in<std::int64_t, conv2d_i64_portable<conv2d_shape, none>>(s, o);
  return call_float_pair<conv2d_portable>(s, o);
}
int call_scaled_conv2d(const scaled_conv2d_shape &s, const operands &o) {
  using R = scaled_conv2d_f32_portable<scaled_conv2d_shape, none>;
  for (int i = 0; i < 4; ++i)
    if (o.type(i) != NNC_F32)
      return NNC_REFERENCE_NO_TYPE;
  return run_all<R>(s, o.x<float>(0), o.x<float>(1), o.x<float>(2),
                    o.x<float>(3), o.y<float>());
}
/// Runs a layer of two convolutions with `between` floats of scratch for the
/// value between them.
template <template <class, class> class R, class S>
int call_pair(const S &s, const operands &o, std::size_t between) {
  using routine = R<S, none>;
  for (int i = 0; i < 4; ++i)
    if (o.type(i) != NNC_F32)
      return NNC_REFERENCE_NO_TYPE;
  std::vector<float> scratch(between);
  routine::run(s, o.x<float>(0), o.x<float>(1), o.x<float>(2), o.x<float>(3),
               o.y<float>(), reinterpret_cast<unsigned char *>(scratch.data()),
               none{}, 0, routine::units(s));
  return NNC_REFERENCE_OK;
}
int call_separable_conv2d(const separable_conv2d_shape &s, const operands &o) {
  return call_pair<separable_conv2d_f32_portable>(
      s, o, std::size_t(s.n) * s.c * s.oh * s.ow);
}
int call_expanded_conv2d(const expanded_conv2d_shape &s, const operands &o) {
  return call_pair<expanded_conv2d_f32_portable>(
      s, o, std::size_t(s.n) * s.k * s.h * s.w);
}
int call_conv_transpose2d(const conv_transpose2d_shape &s, const operands &o) {
  using S = conv_transpose2d_shape;
  if (o.out[0].dtype == NNC_I32)
    return call_in<std::int32_t, conv_transpose2d_i32_portable<S, none>>(s, o);
  if (o.out[0].dtype == NNC_I64)
    return call_in<std::int64_t, conv_transpose2d_i64_portable<S, none>>(s, o);
  return call_float_pair<conv_transpose2d_portable>(s, o);
}
int call_avg_pool2d(const pool2d_shape &s, const operands &o) {
  if (o.type(0) != o.out[0].dtype) {
    const auto x = to_integers<std::int32_t>(o.in[0]);
    if (x.empty())
      return NNC_REFERENCE_NO_TYPE;
    if (o.out[0].dtype == NNC_I32)
      return run_all<avg_pool2d_rounded_portable<pool2d_shape, none>>(
          s, x.data(), o.y<std::int32_t>());
    if (o.out[0].dtype != NNC_F32)
      return NNC_REFERENCE_NO_TYPE;
    return run_all<avg_pool2d_i32_portable<pool2d_shape, none>>(s, x.data(),
                                                                o.y<float>());
  }
  return with_float(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_all<avg_pool2d_portable<T, T, pool2d_shape, none>>(s, o.x<T>(0),
                                                                  o.y<T>());
  });
}
int call_matmul(const matmul_shape &s, const operands &o) {
  if (sums_in(NNC_I32, o))
    return call_in<std::int32_t, matmul_i32_portable<matmul_shape, none>>(s, o);
  if (sums_in(NNC_I64, o))
    return call_in<std::int64_t, matmul_i64_portable<matmul_shape, none>>(s, o);
  if (o.type(0) != o.type(1))
    return NNC_REFERENCE_NO_TYPE;
  return with_number(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_all<matmul_portable<matmul_shape, none>>(s, o.x<T>(0), o.x<T>(1),
                                                        o.y<T>());
  });
}
int call_block_matmul(const block_matmul_shape &s, const operands &o) {
  if (o.type(0) != NNC_F32 || o.type(1) != NNC_U8 || o.type(2) != NNC_F32 ||
      o.type(3) != NNC_U8)
    return NNC_REFERENCE_NO_TYPE;
  return run_all<block_matmul_portable<block_matmul_shape, none>>(
      s, o.x<float>(0), o.x<std::uint8_t>(1), o.x<float>(2),
      o.x<std::uint8_t>(3), o.y<float>());
}
int call_integer_softmax(const integer_softmax_shape &s, const operands &o) {
  if (o.type(1) != NNC_I32)
    return NNC_REFERENCE_NO_TYPE;
  const auto to = [&](const auto *x) {
    using R = integer_softmax_portable<integer_softmax_shape, none>;
    const std::int32_t *table = o.x<std::int32_t>(1);
    switch (o.out[0].dtype) {
    case NNC_I8:
      return run_all<R>(s, x, table, o.y<std::int8_t>());
    case NNC_U8:
      return run_all<R>(s, x, table, o.y<std::uint8_t>());
    case NNC_I16:
      return run_all<R>(s, x, table, o.y<std::int16_t>());
    default:
      return int(NNC_REFERENCE_NO_TYPE);
    }
  };
  if (o.type(0) == NNC_I8)
    return to(o.x<std::int8_t>(0));
  return o.type(0) == NNC_U8 ? to(o.x<std::uint8_t>(0))
                             : int(NNC_REFERENCE_NO_TYPE);
}
int call_lstm(const lstm_shape &s, const operands &o) {
  return with_float(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_all<lstm_portable<lstm_shape, none>>(
        s, o.x<T>(0), o.x<T>(1), o.x<T>(2), o.x<T>(3), o.x<T>(4), o.x<T>(5),
        o.y<T>());
  });
}
int call_recurrent(const recurrent_shape &s, const operands &o) {
  return with_float(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_all<recurrent_portable<recurrent_shape, none>>(
        s, o.x<T>(0), o.x<T>(1), o.x<T>(2), o.x<T>(3), o.x<T>(4),
        o.x<std::int64_t>(5), o.y<T>());
  });
}
int call_integer_lstm(const integer_lstm_shape &s, const operands &o) {
  using i8 = std::int8_t;
  using i16 = std::int16_t;
  using i32 = std::int32_t;
  using i64 = std::int64_t;
  if (o.type(0) == NNC_I16)
    return run_all<integer_lstm_portable<integer_lstm_shape, none>>(
        s, o.x<i16>(0), o.x<i8>(1), o.x<i8>(2), o.x<i64>(3), o.x<i64>(4),
        o.x<i32>(5), o.x<std::uint16_t>(6), o.x<i16>(7), o.x<i16>(8),
        o.y<i16>());
  return run_all<integer_lstm_portable<integer_lstm_shape, none>>(
      s, o.x<i8>(0), o.x<i8>(1), o.x<i8>(2), o.x<i32>(3), o.x<i32>(4),
      o.x<i32>(5), o.x<std::uint16_t>(6), o.x<i8>(7), o.x<i8>(8), o.y<i8>());
}
int call_full_lstm(const full_lstm_shape &s, const operands &o) {
  using R = full_lstm_portable<full_lstm_shape, none>;
  for (int i = 0; i < 7; ++i)
    if (o.type(i) != NNC_F32)
      return NNC_REFERENCE_NO_TYPE;
  std::vector<float> scratch(std::size_t(5) * s.units);
  R::run(s, o.x<float>(0), o.x<float>(1), o.x<float>(2), o.x<float>(3),
         o.x<float>(4), o.x<float>(5), o.x<float>(6), o.y<float>(),
         reinterpret_cast<unsigned char *>(scratch.data()), none{}, 0,
         R::units(s));
  return NNC_REFERENCE_OK;
}
int call_table_softmax(const table_softmax_shape &s, const operands &o) {
  using R = table_softmax_portable<table_softmax_shape, none>;
  using i16 = std::int16_t;
  return run_all<R>(s, o.x<i16>(0), o.x<i16>(1), o.x<i16>(2), o.y<i16>());
}
int call_fixed_resize(const fixed_resize_shape &s, const operands &o) {
  using R = fixed_resize_portable<fixed_resize_shape, none>;
  switch (o.type(0)) {
  case NNC_I8:
    return run_all<R>(s, o.x<std::int8_t>(0), o.y<std::int8_t>());
  case NNC_U8:
    return run_all<R>(s, o.x<std::uint8_t>(0), o.y<std::uint8_t>());
  case NNC_I16:
    return run_all<R>(s, o.x<std::int16_t>(0), o.y<std::int16_t>());
  default:
    return NNC_REFERENCE_NO_TYPE;
  }
}
int call_enqueue(const enqueue_shape &s, const operands &o) {
  return with_size(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_all<enqueue_portable<enqueue_shape, none>>(s, o.x<T>(0),
                                                          o.x<T>(1), o.y<T>());
  });
}
int call_attention(const attention_shape &s, const operands &o) {
  using R = attention_portable<attention_shape, none>;
  if (o.inputs < 3 || o.inputs > 4)
    return NNC_REFERENCE_NO_TYPE;
  return with_float(o.type(0), [&](auto t) {
    using T = decltype(t);
    if (o.inputs == 3)
      return run_all<R>(s, o.x<T>(0), o.x<T>(1), o.x<T>(2), o.y<T>());
    return run_all<R>(s, o.x<T>(0), o.x<T>(1), o.x<T>(2), o.x<T>(3), o.y<T>());
  });
}
int call_layer_norm(const layer_norm_shape &s, const operands &o) {
  if (o.type(0) != o.out[0].dtype) {
    const auto x = to_integers<std::int32_t>(o.in[0]);
    if (x.empty() || o.out[0].dtype != NNC_F32 || o.type(1) != NNC_F32 ||
        o.type(2) != NNC_F32)
      return NNC_REFERENCE_NO_TYPE;
    return run_all<layer_norm_i32_portable<layer_norm_shape, none>>(
        s, x.data(), o.x<float>(1), o.x<float>(2), o.y<float>());
  }
  return with_float(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_all<layer_norm_portable<layer_norm_shape, none>>(
        s, o.x<T>(0), o.x<T>(1), o.x<T>(2), o.y<T>());
  });
}
int call_gather(const gather_shape &s, const operands &o) {
  using R = gather_portable<gather_shape, none>;
  return with_size(o.type(0), [&](auto t) {
    using T = decltype(t);
    if (o.type(1) == NNC_I32)
      return run_all<R>(s, o.x<T>(0), o.x<std::int32_t>(1), o.y<T>());
    if (o.type(1) == NNC_I64)
      return run_all<R>(s, o.x<T>(0), o.x<std::int64_t>(1), o.y<T>());
    return int(NNC_REFERENCE_NO_TYPE);
  });
}
/// The rows of all inputs are moved as bytes: join_portable takes a number of
/// inputs that is known when compiling.
int call_join(const join_shape &s, const operands &o) {
  if (o.inputs > max_joined)
    return NNC_REFERENCE_NO_TYPE;
  return with_size(o.type(0), [&](auto t) {
    using T = decltype(t);
    T *to = o.y<T>();
    for (int row = 0; row < s.rows; ++row)
      for (int i = 0; i < o.inputs; ++i) {
        const T *from = o.x<T>(i) + std::ptrdiff_t(row) * s.widths[i];
        std::memcpy(to, from, std::size_t(s.widths[i]) * sizeof(T));
        to += s.widths[i];
      }
    return int(NNC_REFERENCE_OK);
  });
}
int call_resize(const resize_shape &s, const operands &o) {
  return with_number(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_all<resize_portable<resize_shape, none>>(s, o.x<T>(0), o.y<T>());
  });
}

/// Defines call_<family> for families with one input and one output of its
/// type.
#define NNC_CALL_UNARY(family, types)                                          \
  int call_##family(const family##_shape &s, const operands &o) {              \
    return types(o.type(0), [&](auto t) {                                      \
      using T = decltype(t);                                                   \
      return run_all<family##_portable<family##_shape, none>>(s, o.x<T>(0),    \
                                                              o.y<T>());       \
    });                                                                        \
  }
NNC_CALL_UNARY(adapt, with_size)
NNC_CALL_UNARY(copy, with_size)
NNC_CALL_UNARY(cumprod, with_number)
NNC_CALL_UNARY(cumsum, with_number)
NNC_CALL_UNARY(max_pool2d, with_number)
NNC_CALL_UNARY(offset, with_number)
NNC_CALL_UNARY(pack, with_size)
NNC_CALL_UNARY(pad, with_number)
NNC_CALL_UNARY(reduce_l1, with_number)
NNC_CALL_UNARY(reduce_l2, with_number)
NNC_CALL_UNARY(reduce_log_sum, with_number)
NNC_CALL_UNARY(reduce_log_sum_exp, with_float)
NNC_CALL_UNARY(reduce_max, with_number)
NNC_CALL_UNARY(reduce_mean, with_number)
NNC_CALL_UNARY(reduce_min, with_number)
NNC_CALL_UNARY(reduce_prod, with_number)
NNC_CALL_UNARY(reduce_sum, with_number)
NNC_CALL_UNARY(reduce_sum_square, with_number)
NNC_CALL_UNARY(softmax, with_float)
NNC_CALL_UNARY(range, with_number)
#undef NNC_CALL_UNARY

int call_scatter(const scatter_shape &s, const operands &o) {
  if (o.type(0) != o.type(2) || o.type(1) != NNC_I64)
    return NNC_REFERENCE_NO_TYPE;
  return with_number(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_all<scatter_portable<scatter_shape, none>>(
        s, o.x<T>(0), o.x<std::int64_t>(1), o.x<T>(2), o.y<T>());
  });
}
int call_grid_sample(const grid_sample_shape &s, const operands &o) {
  if (o.type(0) != o.type(1))
    return NNC_REFERENCE_NO_TYPE;
  return with_float(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_all<grid_sample_portable<grid_sample_shape, none>>(
        s, o.x<T>(0), o.x<T>(1), o.y<T>());
  });
}
int call_filter(const filter_shape &s, const operands &o) {
  if (o.type(0) != o.type(2) || o.type(1) != NNC_I64)
    return NNC_REFERENCE_NO_TYPE;
  return with_float(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_all<filter_portable<filter_shape, none>>(
        s, o.x<T>(0), o.x<std::int64_t>(1), o.x<T>(2), o.y<T>());
  });
}
int call_roi_align(const roi_align_shape &s, const operands &o) {
  if (o.type(0) != o.type(1) || o.type(2) != NNC_I64)
    return NNC_REFERENCE_NO_TYPE;
  return with_float(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_all<roi_align_portable<roi_align_shape, none>>(
        s, o.x<T>(0), o.x<T>(1), o.x<std::int64_t>(2), o.y<T>());
  });
}
int call_max_roi_pool(const max_roi_pool_shape &s, const operands &o) {
  if (o.type(0) != o.type(1))
    return NNC_REFERENCE_NO_TYPE;
  return with_float(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_all<max_roi_pool_portable<max_roi_pool_shape, none>>(
        s, o.x<T>(0), o.x<T>(1), o.y<T>());
  });
}
/// Runs the routine R with `size` bytes of scratch.
template <class R, class S, class... A>
int run_with_scratch(const S &s, std::size_t size, A... args) {
  std::vector<std::uint64_t> scratch(size / 8 + 1);
  return run_all<R>(s, args...,
                    reinterpret_cast<unsigned char *>(scratch.data()));
}
/// Decodes a compressed weight. Values are copied as integers of the size of
/// the result's elements.
int call_decode(const decode_shape &s, const operands &o) {
  if (o.type(0) != NNC_U8)
    return NNC_REFERENCE_NO_TYPE;
  const std::size_t scratch = static_cast<std::size_t>(decode_scratch(s));
  return with_size(o.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    const unsigned char *x = o.x<unsigned char>(0);
    switch (s.form) {
    case decode_codes:
      return run_all<decode_codes_portable<decode_shape, none>>(s, x, o.y<T>());
    case decode_entries:
      return run_all<decode_entries_portable<decode_shape, none>>(s, x,
                                                                  o.y<T>());
    case decode_literals:
      return run_all<decode_literals_portable<decode_shape, none>>(s, x,
                                                                   o.y<T>());
    case decode_pattern:
      return run_all<decode_pattern_portable<decode_shape, none>>(s, x,
                                                                  o.y<T>());
    case decode_huffman:
      return run_with_scratch<decode_huffman_portable<decode_shape, none>>(
          s, scratch, x, o.y<T>());
    default:
      return run_with_scratch<
          decode_huffman_entries_portable<decode_shape, none>>(s, scratch, x,
                                                               o.y<T>());
    }
  });
}
/// Returns the decoded weights of operand 1, which is compressed.
template <class W>
std::vector<W> decode_stored(const decode_shape &s, const operands &o) {
  std::vector<W> weights(static_cast<std::size_t>(s.elements));
  nnc_tensor decoded{};
  decoded.dtype = is_same<W, float>::value ? NNC_F32 : NNC_I8;
  decoded.data = weights.data();
  call_decode(s, {o.in + 1, 1, &decoded});
  return weights;
}
/// Runs a convolution with compressed filters: decodes them, and puts their
/// weights into row-major order.
template <class X, class W, class Sum>
int convolve_stored(const stored_conv2d_shape &s, const operands &o) {
  const std::vector<W> weights = decode_stored<W>(s, o);
  const std::size_t filter = static_cast<std::size_t>(s.kh) *
                             static_cast<std::size_t>(s.kw) *
                             static_cast<std::size_t>(s.c);
  std::vector<W> filters;
  filters.reserve(filter * static_cast<std::size_t>(s.k));
  for (int k = 0; k < s.k; ++k)
    for (int c = 0; c < s.c; ++c)
      for (int i = 0; i < s.kh; ++i)
        for (int j = 0; j < s.kw; ++j)
          filters.push_back(weights[static_cast<std::size_t>(
              stored_filter_place(s, k, i, j, c))]);
  return run_all<conv2d_portable<Sum, conv2d_shape, none>>(
      static_cast<const conv2d_shape &>(s), o.x<X>(0),
      static_cast<const W *>(filters.data()), o.y<Sum>());
}
int call_stored_conv2d(const stored_conv2d_shape &s, const operands &o) {
  if (o.type(1) != NNC_U8)
    return NNC_REFERENCE_NO_TYPE;
  if (o.type(0) == NNC_F32 && o.out[0].dtype == NNC_F32)
    return convolve_stored<float, float, float>(s, o);
  if (o.type(0) == NNC_I8 && sums_in(NNC_I32, o))
    return convolve_stored<std::int8_t, std::int8_t, std::int32_t>(s, o);
  if (o.type(0) == NNC_U8 && sums_in(NNC_I32, o))
    return convolve_stored<std::uint8_t, std::int8_t, std::int32_t>(s, o);
  return NNC_REFERENCE_NO_TYPE;
}
/// Runs a matrix product with compressed weights, which are decoded first.
template <class X, class W, class Sum>
int multiply_stored(const stored_matmul_shape &s, const operands &o) {
  decode_shape stored{};
  stored.form = s.form, stored.elements = s.elements, stored.block = s.block;
  stored.values = s.values, stored.value_bits = s.value_bits;
  stored.gaps = s.gaps, stored.gap_bits = s.gap_bits;
  stored.entries = s.entries;
  const std::vector<W> weights = decode_stored<W>(stored, o);
  const X *x = o.x<X>(0);
  Sum *y = o.y<Sum>();
  for (std::ptrdiff_t row = 0; row < s.m; ++row)
    for (std::ptrdiff_t n = 0; n < s.n; ++n) {
      Sum sum = 0;
      for (std::ptrdiff_t k = 0; k < s.k; ++k)
        sum = plus(sum, times(static_cast<Sum>(x[row * s.k + k]),
                              static_cast<Sum>(weights[static_cast<std::size_t>(
                                  stored_place(s, n, k))])));
      y[row * s.n + n] = sum;
    }
  return NNC_REFERENCE_OK;
}
int call_stored_matmul(const stored_matmul_shape &s, const operands &o) {
  if (o.type(1) != NNC_U8)
    return NNC_REFERENCE_NO_TYPE;
  if (o.type(0) == NNC_F32 && o.out[0].dtype == NNC_F32)
    return multiply_stored<float, float, float>(s, o);
  if (o.type(0) == NNC_I8 && sums_in(NNC_I32, o))
    return multiply_stored<std::int8_t, std::int8_t, std::int32_t>(s, o);
  if (o.type(0) == NNC_U8 && sums_in(NNC_I32, o))
    return multiply_stored<std::uint8_t, std::int8_t, std::int32_t>(s, o);
  return NNC_REFERENCE_NO_TYPE;
}
int call_dft(const dft_shape &s, const operands &o) {
  if (o.type(0) != o.type(1) || o.type(0) != o.type(2))
    return NNC_REFERENCE_NO_TYPE;
  return with_float(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_with_scratch<dft_portable<dft_shape, none>>(
        s, 32 * std::size_t(s.length), o.x<T>(0), o.x<T>(1), o.x<T>(2),
        o.y<T>());
  });
}
int call_det(const det_shape &s, const operands &o) {
  return with_float(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_with_scratch<det_portable<det_shape, none>>(
        s, 8 * std::size_t(s.n) * std::size_t(s.n), o.x<T>(0), o.y<T>());
  });
}

int call_suppress(const suppress_shape &s, const operands &o) {
  if (o.type(0) != o.type(1) || o.type(2) != NNC_I64 ||
      o.type(0) != o.type(3) || o.type(0) != o.type(4))
    return NNC_REFERENCE_NO_TYPE;
  return with_float(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_with_scratch<suppress_portable<suppress_shape, none>>(
        s, 4 * std::size_t(s.boxes), o.x<T>(0), o.x<T>(1), o.x<std::int64_t>(2),
        o.x<T>(3), o.x<T>(4), o.y<std::int64_t>());
  });
}
int call_squared_distance(const squared_distance_shape &s, const operands &o) {
  if (o.type(0) != o.type(1))
    return NNC_REFERENCE_NO_TYPE;
  return with_float(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_all<squared_distance_portable<squared_distance_shape, none>>(
        s, o.x<T>(0), o.x<T>(1), o.y<T>());
  });
}
int call_couple_probabilities(const couple_probabilities_shape &s,
                              const operands &o) {
  return with_float(o.type(0), [&](auto t) {
    using T = decltype(t);
    std::vector<T> scratch(2 * static_cast<std::size_t>(s.classes));
    return run_all<
        couple_probabilities_portable<couple_probabilities_shape, none>>(
        s, o.x<T>(0), o.y<T>(),
        reinterpret_cast<unsigned char *>(scratch.data()));
  });
}
/// Runs an ensemble of trees whose nodes have tests and jumps of type I.
template <class I>
int call_trees(const tree_ensemble_shape &s, const operands &o) {
  return with_float(o.type(0), [&](auto t) {
    using T = decltype(t);
    return run_all<tree_ensemble_portable<tree_ensemble_shape, none>>(
        s, o.x<T>(0), o.x<T>(1), o.x<I>(2), o.x<I>(3), o.x<std::int32_t>(4),
        o.x<T>(5), o.y<T>());
  });
}
int call_tree_ensemble(const tree_ensemble_shape &s, const operands &o) {
  if (o.type(0) != o.type(1) || o.type(0) != o.type(5) ||
      o.type(2) != o.type(3) || o.type(4) != NNC_I32)
    return NNC_REFERENCE_NO_TYPE;
  if (o.type(2) == NNC_I16)
    return call_trees<std::int16_t>(s, o);
  return o.type(2) == NNC_I32 ? call_trees<std::int32_t>(s, o)
                              : int(NNC_REFERENCE_NO_TYPE);
}

/// Defines call_<family> for families with one input of numbers and an output
/// of int64_t.
#define NNC_CALL_ARG(family)                                                   \
  int call_##family(const family##_shape &s, const operands &o) {              \
    return with_number(o.type(0), [&](auto t) {                                \
      using T = decltype(t);                                                   \
      return run_all<family##_portable<family##_shape, none>>(                 \
          s, o.x<T>(0), o.y<std::int64_t>());                                  \
    });                                                                        \
  }
NNC_CALL_ARG(argmax)
NNC_CALL_ARG(argmin)
NNC_CALL_ARG(distinct)
NNC_CALL_ARG(nonzero)
NNC_CALL_ARG(max_pool_index)
NNC_CALL_ARG(top_k)
#undef NNC_CALL_ARG

/// Returns true for the 16-bit float types, which are computed with 32-bit
/// floats.
bool is_half(int dtype) { return dtype == NNC_F16 || dtype == NNC_BF16; }

/// A copy of a tensor of 16-bit floats as floats, or any other tensor itself.
class as_floats {
public:
  explicit as_floats(const nnc_tensor &tensor) : original(tensor) {
    if (tensor.dtype == NNC_F16)
      read<f16>();
    else if (tensor.dtype == NNC_BF16)
      read<bf16>();
  }
  nnc_tensor get() {
    if (!is_half(original.dtype))
      return original;
    return {floats.data(), NNC_F32, original.elements};
  }
  void round_back() const {
    if (original.dtype == NNC_F16)
      write<f16>();
    else if (original.dtype == NNC_BF16)
      write<bf16>();
  }

private:
  template <class T> void read() {
    const T *values = static_cast<const T *>(original.data);
    floats.assign(values, values + original.elements);
  }
  template <class T> void write() const {
    for (std::size_t i = 0; i < floats.size(); ++i)
      static_cast<T *>(original.data)[i] = floats[i];
  }

  nnc_tensor original;
  std::vector<float> floats;
};

} // namespace

int nnc_reference_call(const char *family, const void *shape,
                       const nnc_tensor *in, int inputs, nnc_tensor *out,
                       int outputs, const char *function, const double *scalars,
                       int scalar_count) {
  if (outputs != 1)
    return NNC_REFERENCE_NO_TYPE;
  bool has_halves = is_half(out->dtype);
  for (int i = 0; i < inputs; ++i)
    has_halves = has_halves || is_half(in[i].dtype);
  if (has_halves) {
    std::vector<as_floats> copies(in, in + inputs);
    std::vector<nnc_tensor> tensors;
    for (as_floats &copy : copies)
      tensors.push_back(copy.get());
    as_floats result(*out);
    nnc_tensor target = result.get();
    const int status =
        nnc_reference_call(family, shape, tensors.data(), inputs, &target, 1,
                           function, scalars, scalar_count);
    result.round_back();
    return status;
  }
  const operands o{in, inputs, out};
  auto call_elementwise = [&](const elementwise_shape &s, const operands &) {
    if (!function)
      return int(NNC_REFERENCE_NO_FAMILY);
    return reference_elementwise(function, s, in, inputs, out[0], scalars,
                                 scalar_count);
  };
#define NNC_FAMILY(name, input_count, output_count, channel_axis)              \
  if (std::strcmp(family, #name) == 0) {                                       \
    if (input_count >= 0 && inputs != input_count)                             \
      return NNC_REFERENCE_NO_TYPE;                                            \
    return call_##name(*static_cast<const name##_shape *>(shape), o);          \
  }
#include "runtime/routines/catalogue/routines.inc"
  return NNC_REFERENCE_NO_FAMILY;
}
