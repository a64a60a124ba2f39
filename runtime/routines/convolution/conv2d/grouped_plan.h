//===- grouped_plan.h - Groups and weights of grouped.cuh -----------------===//
//
// Convolutions whose groups have as many filters as channels, their width.
// Groups that are narrower than a panel of 32 filters are merged, up to 32
// channels, by weights that are zero for the channels of other groups: a panel
// takes as long, whether all of its filters and terms are used or not, and 32
// channels are whole chunks of 16 bytes.
//
// Weights are packed for each merged group: those of halves and of bytes in the
// order of fragments (implicit_gemm_plan.h), those of floats in panels
// (float_gemm_plan.h).
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_GROUPED_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_GROUPED_PLAN_H

#include "runtime/counts.h"
#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/float_gemm_plan.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"

namespace nnc {

/// Returns how many groups of `width` channels, of `channels` in all, are
/// computed as one.
NNC_FN constexpr int merged_count(int width, int channels) {
  return width < gemm_panel && gemm_panel % width == 0 &&
                 channels % gemm_panel == 0
             ? gemm_panel / width
             : 1;
}

/// The shape of a convolution with merged groups.
template <class S> struct merged_groups : S {
  int groups;
  NNC_FN explicit constexpr merged_groups(const S &s)
      : S(s), groups(s.groups / merged_count(s.c / s.groups, s.c)) {}
};
template <class S> NNC_FN constexpr merged_groups<S> merge_groups(const S &s) {
  return merged_groups<S>(s);
}

/// True if shapes of this type are merged_groups.
template <class S> constexpr bool has_groups = false;
template <class S> constexpr bool has_groups<merged_groups<S>> = true;

/// True if the kernels can compute the convolution with chunks of `elements`
/// channels. Groups of one channel have kernels of their own.
template <class S> constexpr bool grouped_applies(const S &s, int elements) {
  return s.groups > 1 && s.c == s.k && s.c > s.groups && s.groups < (1 << 16) &&
         s.c / merge_groups(s).groups % elements == 0;
}

/// The weights of a merged group as those of a product.
struct grouped_weights {
  int width, filters, taps, merged;

  /// `filters` filters of `width` channels and `taps` taps, of all groups.
  constexpr grouped_weights(int width, int filters, int taps)
      : width(width), filters(filters), taps(taps),
        merged(merged_count(width, filters)) {}

  /// Filters of a merged group, which are as many as its channels.
  constexpr int merged_width() const { return width * merged; }
  constexpr int merged_groups() const {
    return ceil_div(filters, merged_width());
  }
  constexpr matmul_as_conv2d product() const {
    return matmul_as_conv2d(1, merged_width(), taps * merged_width());
  }
  /// Number of elements of `bytes` bytes that are stored for a merged group.
  constexpr int stored_elements(int bytes) const {
    return gemm_panels(product()) * packed_panel_elements(product(), bytes);
  }

  /// Calls visit(filter, tap, channel) for each stored element in turn.
  /// `filter` counts those of all groups, and is -1 for an element that is
  /// zero.
  template <class F> void visit(int bytes, F visit) const {
    for (int group = 0; group < merged_groups(); ++group)
      visit_packed_product(product(), bytes, [&](int column, int term) {
        const int channel = term % merged_width();
        const bool used = column >= 0 && column / width == channel / width;
        visit(used ? group * merged_width() + column : -1,
              term / merged_width(), channel % width);
      });
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_GROUPED_PLAN_H
