//===- middle.h - What a separable convolution does between its parts -----===//
#ifndef NNC_ROUTINES_SEPARABLE_CONV2D_MIDDLE_H
#define NNC_ROUTINES_SEPARABLE_CONV2D_MIDDLE_H

#include "runtime/epilogue.h"
#include "runtime/simd/arithmetic.h"

namespace nnc {

/// The depthwise part's epilogue, as shape.h says.
template <class S, class T> struct separable_middle {
  const S *shape;
  channel_of<T> bias;

  template <class V, class P> NNC_INLINE V operator()(V v, P pos) const {
    const S &s = *shape;
    v = v + bias.template get<V>(pos);
    switch (s.activation) {
    case 1:
      return relu(v);
    case 2:
      return clip(v, V(s.low), V(s.high));
    case 3:
      return hard_swish(v);
    default:
      return v;
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_SEPARABLE_CONV2D_MIDDLE_H
