//===- helium_plan.h - Working memory of the routines of helium -----------===//
#ifndef NNC_ROUTINES_MICROCONTROLLERS_HELIUM_PLAN_H
#define NNC_ROUTINES_MICROCONTROLLERS_HELIUM_PLAN_H

#include "runtime/meta.h"

namespace nnc {

/// The sizes of the parts of a thread's scratch: `rows` sums for each of two
/// pixels, then a copy of the window of each, of `taps` bytes. If all windows
/// are contiguous in the image, there are no copies.
struct helium_plan {
  int rows, taps;
  bool copies;
  constexpr int scratch() const {
    return 2 * 4 * rows + (copies ? (2 * taps + 7) / 8 * 8 : 0);
  }
};

/// Plan for `filters` filters at a time.
template <class S>
constexpr helium_plan plan_conv2d_helium(const S &s, int filters) {
  const bool is_inside = s.pt == 0 && s.pl == 0 &&
                         (s.oh - 1) * s.sh + s.kh <= s.h &&
                         (s.ow - 1) * s.sw + s.kw <= s.w;
  const bool is_run = s.kh == 1 && (s.kw == 1 || s.dw == 1);
  return {(filters + 1) / 2 * 2, s.kh * s.kw * s.c, !(is_inside && is_run)};
}
template <class S> constexpr helium_plan plan_conv2d_helium(const S &s) {
  return plan_conv2d_helium(s, s.k);
}

/// Returns true if the sizes of a convolution fit in the 16-bit fields of a
/// helium_layer.
template <class S> constexpr bool fits_helium_layer(const S &s) {
  constexpr int most = 32767;
  return s.h <= most && s.w <= most && s.c <= most && s.k <= most &&
         s.kh <= most && s.kw <= most && s.sh <= most && s.sw <= most &&
         s.dh <= most && s.dw <= most && s.pt <= most && s.pl <= most &&
         s.oh <= most && s.ow <= most;
}

/// Bytes of the sums of a pixel of a depthwise convolution, sixteen channels at
/// a time.
template <class S> constexpr int depthwise_helium_scratch(const S &s) {
  return (s.k + 15) / 16 * 16 * 4;
}

} // namespace nnc

#endif // NNC_ROUTINES_MICROCONTROLLERS_HELIUM_PLAN_H
