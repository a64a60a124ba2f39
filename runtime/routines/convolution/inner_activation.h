//===- inner_activation.h - The activation between two parts of a layer ---===//
//-------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_INNER_ACTIVATION_H
#define NNC_ROUTINES_CONVOLUTION_INNER_ACTIVATION_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/simd/arithmetic.h"
#include "runtime/simd/gates.h"

namespace nnc {

/// The activation of a shape. The cases are the values of inner_activation in
/// shapes/values.h, as numbers, because emitted modules lack that
/// file.
template <class V, class S> NNC_INLINE V activate(const S &s, V v) {
  switch (s.activation) {
  case 1:
    return relu(v);
  case 2:
    return clip(v, V(s.low), V(s.high));
  case 3:
    return hard_swish(v);
  case 4:
    return silu(v);
  default:
    return v;
  }
}

/// The epilogue of the first of two fused parts: a bias for each channel, then
/// the activation of the shape.
template <class S, class T> struct inner_epilogue {
  const S *shape;
  channel_of<T> bias;

  template <class V, class P> NNC_INLINE V operator()(V v, P pos) const {
    return activate(*shape, v + bias.template get<V>(pos));
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_INNER_ACTIVATION_H
