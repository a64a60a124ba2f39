//===- integers_depthwise_rows_plan.h - Rows that a depthwise layer copies ===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_DEPTHWISE_ROWS_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_DEPTHWISE_ROWS_PLAN_H

#include "runtime/counts.h"

namespace nnc {

/// The scratch of a thread: taps of 16 bits, each twice for all channels of a
/// block; the places of the rows that an output row reads; these rows, of
/// bytes; and a row of padding.
struct integers_depthwise_rows_plan {
  int columns;         ///< pixels of a row that taps read, with padding
  int reach;           ///< rows from the first to the last that an output reads
  ptrdiff_t line;      ///< bytes of a row, with room for reads beyond its end
  ptrdiff_t tap_bytes; ///< bytes of the taps
  ptrdiff_t place_bytes; ///< bytes of the places of rows

  constexpr ptrdiff_t scratch(int threads) const {
    return whole_lines(tap_bytes + place_bytes + line * (reach + 1)) * threads;
  }
};

/// Plan for blocks of W channels.
template <class S>
constexpr integers_depthwise_rows_plan plan_integers_depthwise_rows(const S &s,
                                                                    int W) {
  integers_depthwise_rows_plan p{};
  p.columns = (s.ow - 1) * s.sw + (s.kw - 1) * s.dw + 1;
  p.reach = (s.kh - 1) * s.dh + 1;
  p.line = whole_lines(ptrdiff_t(p.columns + 3) * W);
  p.tap_bytes = whole_lines(ptrdiff_t(s.kh) * s.kw * 2 * W * 2);
  p.place_bytes = whole_lines(ptrdiff_t(s.kh) * 4);
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_DEPTHWISE_ROWS_PLAN_H
