//===- middle.h - What a separable convolution does between its parts -----===//
#ifndef NNC_ROUTINES_SEPARABLE_CONV2D_MIDDLE_H
#define NNC_ROUTINES_SEPARABLE_CONV2D_MIDDLE_H

#include "runtime/epilogue.h"
#include "runtime/routines/middle.h"

namespace nnc {

/// The depthwise part's epilogue, as shape.h says.
template <class S, class T> struct separable_middle {
  const S *shape;
  channel_of<T> bias;

  template <class V, class P> NNC_INLINE V operator()(V v, P pos) const {
    return activate(*shape, v + bias.template get<V>(pos));
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_SEPARABLE_CONV2D_MIDDLE_H
