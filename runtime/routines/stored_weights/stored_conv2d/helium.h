//===- helium.h - Strips of decoded filters with M-profile vectors --------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_HELIUM_H
#define NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_HELIUM_H

#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/helium.h"
#include "runtime/routines/stored_weights/stored_conv2d/strips.h"

namespace nnc {

/// Stores the sums of `count` of the `all` channels of a pixel with the output
/// `out`.
template <class Out> struct helium_channels {
  const Out &out;
  int first, count, all;

  void store(const int32_t *sums, int, int, ptrdiff_t at) const {
    out.store(sums, first, count, at / count * all + first);
  }
};

/// conv2d_i32_nhwc_helium for some of the filters.
template <class S, class Epi>
struct conv2d_some_helium : conv2d_i32_nhwc_helium<S, Epi> {
  template <class Y>
  static NNC_INLINE void run_filters(const S &s, const int8_t *x,
                                     const int8_t *w, Y *y,
                                     unsigned char *scratch, const Epi &epi,
                                     int begin, int end, filter_range filters) {
    helium_layer layer = make_helium_layer(s);
    layer.k = static_cast<int16_t>(filters.count);
    constexpr bool is_whole =
        has_whole_vectors(&S::k) && has_whole_vectors(&S::strip);
    const auto out = make_helium_output<is_whole>(epi, y);
    const helium_channels<decltype(out)> some = {out, filters.first,
                                                 filters.count, s.k};
    helium_convolve(layer, x, w, scratch, begin * s.ow, end * s.ow, some);
  }
};

template <class S, class Epi>
using stored_conv2d_i32_nhwc_helium =
    stored_conv2d_strips<conv2d_some_helium<S, Epi>, int8_t, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_HELIUM_H
