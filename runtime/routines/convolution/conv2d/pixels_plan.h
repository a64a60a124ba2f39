//===- pixels_plan.h - Shapes and weights of pixels.cuh -------------------===//
//
// Convolutions of images with at most four channels, which lie in memory as
// pixels of four, NCHW4c, or as planes, NCHW (planes.cuh). A term of a sum is
// (r * kw + s) * 4 + channel.
// Weights of halves and of bytes are in the order of fragments
// (implicit_gemm_plan.h), those of floats in panels (float_gemm_plan.h); they
// are zero for channels beyond the last one.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_PIXELS_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_PIXELS_PLAN_H

#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/float_gemm_plan.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"

namespace nnc {

/// Channels of a pixel in memory.
constexpr int pixel_channels = 4;

/// The shape of a convolution as one of images with four channels.
template <class S> struct pixel_shape : S {
  static constexpr int c = pixel_channels;
  NNC_FN explicit constexpr pixel_shape(const S &s) : S(s) {}
  /// Number of channels that exist.
  NNC_FN constexpr int channels() const {
    return static_cast<const S &>(*this).c;
  }
};
template <class S> NNC_FN constexpr pixel_shape<S> as_pixels(const S &s) {
  return pixel_shape<S>(s);
}

/// The shape of such a convolution whose image lies in memory as planes of
/// elements of type X.
template <class S, class X> struct plane_shape : pixel_shape<S> {
  NNC_FN explicit constexpr plane_shape(const S &s) : pixel_shape<S>(s) {}
};

/// True if shapes of this type are a pixel_shape.
template <class S> constexpr bool has_pixels = false;
template <class S> constexpr bool has_pixels<pixel_shape<S>> = true;
template <class S, class X> constexpr bool has_pixels<plane_shape<S, X>> = true;

template <class S> constexpr bool pixels_apply(const S &s) {
  return s.groups == 1 && s.c <= pixel_channels;
}
/// Elements are counted up to those of an image beyond the last one, where rows
/// of the last tile may lie.
template <class S> constexpr bool planes_apply(const S &s) {
  return pixels_apply(s) &&
         (static_cast<long long>(s.n) + 1) * s.c * s.h * s.w < 1ll << 31;
}

/// The weights of such a convolution.
struct pixel_weights {
  int channels, filters, taps;

  constexpr matmul_as_conv2d product() const {
    return matmul_as_conv2d(1, filters, taps * pixel_channels);
  }
  /// Calls visit(filter, tap, channel) for each stored element of `bytes` bytes
  /// in turn. `filter` is -1 for an element that is zero.
  template <class F> void visit(int bytes, F visit) const {
    visit_packed_product(product(), bytes, [&](int column, int term) {
      const int channel = term % pixel_channels;
      visit(channel < channels ? column : -1, term / pixel_channels, channel);
    });
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_PIXELS_PLAN_H
