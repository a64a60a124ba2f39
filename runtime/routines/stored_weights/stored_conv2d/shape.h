//===- shape.h - The shape of stored_conv2d routines ----------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_SHAPE_H
#define NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_SHAPE_H

#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/stored_weights/decode/shape.h"

#include <stddef.h>

namespace nnc {

/// The order in which the weights of filters are stored.
enum stored_filters {
  stored_krsc,     ///< w[k][kh][kw][c]
  stored_krsc2k4c, ///< w[k / 2][kh][kw][c / 4][2][4]
  stored_krsc4k,   ///< w[k / 4][kh][kw][c][4]
  stored_krsc8k,   ///< w[k / 8][kh][kw][c][8]
  stored_kcrs,     ///< w[k][c][kh][kw]
  stored_kcrs4k,   ///< w[k / 4][c][kh][kw][4]
  stored_kcrs8k    ///< w[k / 8][c][kh][kw][8]
};
/// Number of values of stored_filters.
constexpr int stored_filters_count = 7;

/// Number of filters whose weights are interleaved. Filters behind the last one
/// are zeros.
NNC_FN constexpr int stored_filters_together(int order) {
  switch (order) {
  case stored_krsc2k4c:
    return 2;
  case stored_krsc4k:
  case stored_kcrs4k:
    return 4;
  case stored_krsc8k:
  case stored_kcrs8k:
    return 8;
  default:
    return 1;
  }
}
/// Number of stored channels of a tap.
template <class S>
NNC_FN constexpr ptrdiff_t stored_filter_channels(const S &s) {
  return s.order == stored_krsc2k4c ? (s.c + 3) / 4 * 4 : s.c;
}
/// Number of stored weights of a filter.
template <class S> NNC_FN constexpr ptrdiff_t stored_filter(const S &s) {
  return s.kh * s.kw * stored_filter_channels(s);
}
/// Number of stored weights of all filters.
template <class S>
NNC_FN constexpr ptrdiff_t stored_filters_elements(const S &s) {
  const int together = stored_filters_together(s.order);
  return ptrdiff_t(s.k + together - 1) / together * together * stored_filter(s);
}
/// Index of the weight of filter k for tap (i, j) of channel c.
template <class S>
NNC_FN constexpr ptrdiff_t stored_filter_place(const S &s, int k, int i, int j,
                                               int c) {
  const int together = stored_filters_together(s.order);
  const int run = s.order == stored_krsc2k4c ? 4 : 1; // channels side by side
  const ptrdiff_t first = ptrdiff_t(k / together) * together * stored_filter(s);
  const ptrdiff_t channels = stored_filter_channels(s);
  const ptrdiff_t channel = s.order < stored_kcrs
                                ? (ptrdiff_t(i) * s.kw + j) * channels + c
                                : (ptrdiff_t(c) * s.kh + i) * s.kw + j;
  return first + channel / run * run * together + k % together * run +
         channel % run;
}

/// Convolution with compressed weights, which are decoded `strip` filters at a
/// time. The fields of decode_shape describe their form; its elements are those
/// of all filters, in the order `order`.
struct stored_conv2d_shape : conv2d_shape, decode_shape {
  int order; ///< a stored_filters
  int strip;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    conv2d_shape::visit(f);
    decode_shape::visit(f);
    f("order", order);
    f("strip", strip);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_SHAPE_H
