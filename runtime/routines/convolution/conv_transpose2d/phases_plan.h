//===- phases_plan.h - Phases and weights of phases.cuh -------------------===//
//
// A transposed convolution of stride 2 has four phases, one for each parity of
// the row and the column of its outputs. The outputs of a phase are those of a
// convolution of stride 1 with every second tap, in reverse order: output row
// 2 i + y of the layer reads input rows i + q, i + q - 1, ... for taps r, r +
// 2,
// ..., where r = (y + pt) % 2 and q = (y + pt) / 2.
//
// Weights are packed for each parity of taps, (r % 2) * 2 + t % 2 in order:
// those of halves in the order of fragments (implicit_gemm_plan.h), those of
// floats in panels (float_gemm_plan.h). A term is (row * columns + column) * c
// + channel of the taps of that parity.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_PHASES_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_PHASES_PLAN_H

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/float_gemm_plan.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"

#include <stddef.h>

namespace nnc {

constexpr int phase_stride = 2;
constexpr int phase_count = phase_stride * phase_stride;

/// Number of the `taps` taps that have this parity.
NNC_FN constexpr int taps_of_parity(int taps, int parity) {
  return (taps - parity + 1) / phase_stride;
}

/// A phase as a convolution, and which outputs of the layer are its own. Phase
/// 2 y + x has the outputs of rows 2 i + y and columns 2 j + x.
struct phase_shape {
  static constexpr int sh = 1, sw = 1, dh = -1, dw = -1, groups = 1, fill = 0;
  int n, c, h, w, k, kh, kw, pt, pl, oh, ow;
  int first_row, first_column; ///< of the outputs
  int rows, columns;           ///< of all outputs of the layer
  int taps;                    ///< the parities of taps, r % 2 * 2 + t % 2

  template <class S>
  NNC_FN constexpr phase_shape(const S &s, int phase)
      : n(s.n), c(s.c), h(s.h), w(s.w), k(s.k), kh(0), kw(0), pt(0), pl(0),
        oh(0), ow(0), first_row(phase / phase_stride),
        first_column(phase % phase_stride), rows(s.oh), columns(s.ow), taps(0) {
    const int down = first_row + s.pt, right = first_column + s.pl;
    kh = taps_of_parity(s.kh, down % phase_stride);
    kw = taps_of_parity(s.kw, right % phase_stride);
    pt = -(down / phase_stride);
    pl = -(right / phase_stride);
    oh = (rows - first_row + 1) / phase_stride;
    ow = (columns - first_column + 1) / phase_stride;
    taps = down % phase_stride * phase_stride + right % phase_stride;
  }

  /// Returns which row of the layer's outputs, counted over images, rows and
  /// columns, is row `row` of the phase.
  NNC_FN constexpr int output_row(int row) const {
    const int line = row / ow;
    return ((line / oh) * rows + first_row + line % oh * phase_stride) *
               columns +
           first_column + row % ow * phase_stride;
  }
};

/// True if the kernels can compute the layer: its stride is 2 and each phase
/// has a tap.
template <class S> constexpr bool phases_apply(const S &s) {
  constexpr long long most = 1ll << 31;
  const long long rows = static_cast<long long>(s.n) * s.oh * s.ow;
  return s.groups == 1 && s.sh == phase_stride && s.sw == phase_stride &&
         s.dh == 1 && s.dw == 1 && s.kh > 1 && s.kw > 1 && s.pt >= 0 &&
         s.pl >= 0 && rows * ceil_div(s.k, 8) < most - (1 << 16);
}

/// The largest phase, whose grid is that of all.
template <class S> NNC_FN constexpr phase_shape first_phase(const S &s) {
  return phase_shape(s, 0);
}

template <class S>
constexpr launch_size phases_launch(const S &s, int rows, int columns,
                                    int depth_bytes, int warp_rows,
                                    int warp_columns, int stages) {
  launch_size size = gemm_launch(first_phase(s), rows, columns, depth_bytes,
                                 warp_rows, warp_columns, stages, 1);
  size.grid.z = phase_count;
  return size;
}

/// The weights of the phases.
struct phase_weights {
  int channels, filters, kh, kw;

  /// The product with the weights of the taps of these parities.
  NNC_FN constexpr matmul_as_conv2d product(int parities) const {
    return matmul_as_conv2d(1, filters,
                            taps_of_parity(kh, parities / phase_stride) *
                                taps_of_parity(kw, parities % phase_stride) *
                                channels);
  }
  /// Number of elements of `bytes` bytes that are stored before those of these
  /// parities.
  NNC_FN constexpr ptrdiff_t first_element(int parities, int bytes) const {
    ptrdiff_t count = 0;
    for (int i = 0; i < parities; ++i)
      count += ptrdiff_t(gemm_panels(product(i))) *
               packed_panel_elements(product(i), bytes);
    return count;
  }
  /// Calls visit(filter, tap row, tap column, channel) for each stored element
  /// of `bytes` bytes in turn. `filter` is -1 for an element that is zero.
  template <class F> void visit(int bytes, F visit) const {
    for (int parities = 0; parities < phase_count; ++parities) {
      const int down = parities / phase_stride, right = parities % phase_stride;
      const int across = taps_of_parity(kw, right);
      visit_packed_product(product(parities), bytes, [&](int column, int term) {
        const int tap = term / channels;
        visit(column, down + tap / across * phase_stride,
              right + tap % across * phase_stride, term % channels);
      });
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_PHASES_PLAN_H
