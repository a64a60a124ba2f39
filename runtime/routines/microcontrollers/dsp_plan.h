//===- dsp_plan.h - Working memory of the routines of armdsp --------------===//
#ifndef NNC_ROUTINES_MICROCONTROLLERS_DSP_PLAN_H
#define NNC_ROUTINES_MICROCONTROLLERS_DSP_PLAN_H

#include "runtime/meta.h"

namespace nnc {

/// Sizes of the parts of a thread's working memory: `columns` columns of pairs,
/// of `words` words of weights each, then `rows` sums for each column.
struct dsp_plan {
  int columns, words, rows;
  constexpr int column_bytes() const { return 8 * words; }
  constexpr int scratch() const {
    return columns * (column_bytes() + 4 * rows);
  }
};

/// Whether the sizes of a convolution fit in a dsp_window, in 16 bits. Pixels
/// of three channels are read as words, for which one pixel alone is too short.
template <class S> constexpr bool fits_dsp_window(const S &s) {
  constexpr int most = 32767;
  return (s.c != 3 || s.h > 1 || s.w > 1) && s.h <= most && s.w <= most &&
         s.c <= most && s.k <= most && s.kh <= most && s.kw <= most &&
         s.dh <= most && s.dw <= most;
}

/// The window of a convolution, whose channels, or the columns of the only one,
/// are padded to fours, for so many filters at a time.
template <class S> constexpr dsp_plan plan_conv2d_dsp(const S &s, int filters) {
  const int across = s.c == 1 ? (s.kw + 3) / 4 : s.kw * ((s.c + 3) / 4);
  return {2, s.kh * across, (filters + 1) / 2 * 2};
}
template <class S> constexpr dsp_plan plan_conv2d_dsp(const S &s) {
  return plan_conv2d_dsp(s, s.k);
}
/// The sums of a pixel of a depthwise convolution.
template <class S> constexpr dsp_plan plan_depthwise_dsp(const S &s) {
  return {1, 0, s.k};
}
} // namespace nnc

#endif // NNC_ROUTINES_MICROCONTROLLERS_DSP_PLAN_H
