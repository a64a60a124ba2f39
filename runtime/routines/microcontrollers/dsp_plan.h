//===- dsp_plan.h - Working memory of the routines of armdsp --------------===//
#ifndef NNC_ROUTINES_MICROCONTROLLERS_DSP_PLAN_H
#define NNC_ROUTINES_MICROCONTROLLERS_DSP_PLAN_H

#include "runtime/meta.h"

namespace nnc {

/// The sizes of the parts of a thread's scratch: `columns` columns of pairs,
/// each for `words` words of weights, then `rows` sums for each column.
struct dsp_plan {
  int columns, words, rows;
  constexpr int column_bytes() const { return 8 * words; }
  constexpr int scratch() const {
    return columns * (column_bytes() + 4 * rows);
  }
};

/// Returns true if the sizes of a convolution fit in the 16-bit fields of a
/// dsp_layer. Pixels of three channels are read as 4-byte words, so that an
/// image of a single pixel is too short.
template <class S> constexpr bool fits_dsp_window(const S &s) {
  constexpr int most = 32767;
  return (s.c != 3 || s.h > 1 || s.w > 1) && s.h <= most && s.w <= most &&
         s.c <= most && s.k <= most && s.kh <= most && s.kw <= most &&
         s.dh <= most && s.dw <= most && s.sh <= most && s.sw <= most &&
         s.pt <= most && s.pl <= most && s.oh <= most && s.ow <= most;
}

/// Returns true if dsp_threes.h can compute a depthwise convolution: windows of
/// 3 x 3 taps, strides of 1 or 2, with at most one column of padding on the
/// left and s.sw columns on the right.
template <class S> constexpr bool are_dsp_threes(const S &s) {
  return s.kh == 3 && s.kw == 3 && s.dh == 1 && s.dw == 1 && s.h >= 3 &&
         s.w >= 3 && s.sw <= 2 && s.pl <= 1 && s.pl >= 0 &&
         (s.ow - 1) * s.sw - s.pl + 3 - s.w <= s.sw;
}

/// Plan for the window of a convolution with `filters` filters at a time. The
/// channels, or the columns of a single channel, are padded to multiples of
/// four.
template <class S> constexpr dsp_plan plan_conv2d_dsp(const S &s, int filters) {
  const int across = s.c == 1 ? (s.kw + 3) / 4 : s.kw * ((s.c + 3) / 4);
  return {2, s.kh * across, (filters + 1) / 2 * 2};
}
template <class S> constexpr dsp_plan plan_conv2d_dsp(const S &s) {
  return plan_conv2d_dsp(s, s.k);
}
/// Plan for the sums of a pixel of a depthwise convolution.
template <class S> constexpr dsp_plan plan_depthwise_dsp(const S &s) {
  return {1, 0, s.k};
}
} // namespace nnc

#endif // NNC_ROUTINES_MICROCONTROLLERS_DSP_PLAN_H
