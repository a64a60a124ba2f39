//===- plan.h - How convolutions read stored weights ----------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_PLAN_H
#define NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_PLAN_H

#include "runtime/counts.h"
#include "runtime/functions.h"
#include "runtime/routines/microcontrollers/dsp_plan.h"
#include "runtime/routines/microcontrollers/helium_plan.h"
#include "runtime/routines/stored_weights/decode/plan.h"
#include "runtime/routines/stored_weights/stored_conv2d/shape.h"

namespace nnc {

/// Returns true if the weights have a form that stored_conv2d/strips.h decodes.
template <class S> NNC_FN constexpr bool stored_strips_have_form(const S &s) {
  return s.form == decode_codes || s.form == decode_huffman ||
         s.form == decode_entries || s.form == decode_huffman_entries ||
         s.form == decode_literals;
}

/// Returns true if stored_conv2d/strips.h supports the convolution with filters
/// in the order `order`: each strip of filters is a block, or all codes have
/// one table and each strip begins at a byte.
template <class S>
NNC_FN constexpr bool stored_strips_apply(const S &s, int order) {
  const ptrdiff_t strip = ptrdiff_t(s.strip) * stored_filter(s);
  return stored_strips_have_form(s) && s.groups == 1 && s.order == order &&
         (s.c > 1 || order != stored_krsc2k4c) && s.strip > 0 &&
         s.strip % stored_filters_together(order) == 0 &&
         s.elements == stored_filters_elements(s) &&
         (s.form == decode_codes ? s.block == s.elements && strip % 8 == 0
                                 : s.block == strip);
}

/// Bytes of a strip of filters, of weights of `size` bytes.
template <class S>
NNC_FN constexpr ptrdiff_t stored_strip_bytes(const S &s, int size) {
  return whole_lines(ptrdiff_t(size) * s.strip * stored_filter(s));
}
/// Bytes of scratch in front of that of the convolution: a strip of filters,
/// and tables of Huffman codes.
template <class S>
NNC_FN constexpr ptrdiff_t stored_strip_scratch(const S &s, int size) {
  const bool huffman =
      s.form == decode_huffman || s.form == decode_huffman_entries;
  return stored_strip_bytes(s, size) + (huffman ? decode_scratch(s) : 0);
}
/// Bytes of scratch of each thread with Arm's DSP extension:
/// stored_strip_scratch, and the columns and sums of the convolution with a
/// strip.
template <class S> constexpr ptrdiff_t stored_strip_dsp_scratch(const S &s) {
  const int filters = smaller(s.strip, s.k);
  return stored_strip_scratch(s, 1) +
         whole_lines(plan_conv2d_dsp(s, filters).scratch());
}
/// Bytes of scratch of each thread with M-profile vectors.
template <class S> constexpr ptrdiff_t stored_strip_helium_scratch(const S &s) {
  return stored_strip_scratch(s, 1) +
         whole_lines(plan_conv2d_helium(s, smaller(s.strip, s.k)).scratch());
}

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_PLAN_H
