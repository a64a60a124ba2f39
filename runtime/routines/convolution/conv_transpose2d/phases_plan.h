//===- phases_plan.h - Phases and weights of phases.cuh -------------------===//
//
// A transposed convolution of stride s has s x s phases, one for each remainder
// of the row and of the column of its outputs, divided by s. The outputs of a
// phase are those of a convolution of stride 1 with every s-th tap, in reverse
// order: output row s i + y of the layer reads input rows i + q, i + q - 1, ...
// for taps r, r + s, ..., where r = (y + pt) % s and q = (y + pt) / s.
//
// Weights are packed for each phase of taps, (r % s) * s + t % s in order:
// those of halves in the order of fragments (implicit_gemm_plan.h), those of
// floats in panels (float_gemm_plan.h). A term is (row * columns + column) * c
// + channel of the taps of that phase.
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

/// Number of taps first, first + stride, first + 2 * stride, ... of `taps`
/// taps.
NNC_FN constexpr int taps_from(int first, int taps, int stride) {
  return (taps - first + stride - 1) / stride;
}

/// A phase as a convolution, and which outputs of the layer are its own. Phase
/// STRIDE y + x has the outputs of rows STRIDE i + y and columns STRIDE j + x.
template <int STRIDE> struct phase_shape {
  static constexpr int sh = 1, sw = 1, dh = -1, dw = -1, groups = 1, fill = 0;
  int n, c, h, w, k, kh, kw, pt, pl, oh, ow;
  int first_row, first_column; ///< of the outputs
  int rows, columns;           ///< of all outputs of the layer
  int taps; ///< the phase of the taps, r % STRIDE * STRIDE + t % STRIDE

  template <class S>
  NNC_FN constexpr phase_shape(const S &s, int phase)
      : n(s.n), c(s.c), h(s.h), w(s.w), k(s.k), kh(0), kw(0), pt(0), pl(0),
        oh(0), ow(0), first_row(phase / STRIDE), first_column(phase % STRIDE),
        rows(s.oh), columns(s.ow), taps(0) {
    const int down = first_row + s.pt, right = first_column + s.pl;
    kh = taps_from(down % STRIDE, s.kh, STRIDE);
    kw = taps_from(right % STRIDE, s.kw, STRIDE);
    pt = -(down / STRIDE);
    pl = -(right / STRIDE);
    oh = (rows - first_row + STRIDE - 1) / STRIDE;
    ow = (columns - first_column + STRIDE - 1) / STRIDE;
    taps = down % STRIDE * STRIDE + right % STRIDE;
  }

  /// Returns which row of the layer's outputs, counted over images, rows and
  /// columns, is row `row` of the phase.
  NNC_FN constexpr int output_row(int row) const {
    const int line = row / ow;
    return ((line / oh) * rows + first_row + line % oh * STRIDE) * columns +
           first_column + row % ow * STRIDE;
  }
};

/// True if the kernels can compute the layer: its strides are STRIDE and each
/// phase has a tap.
template <int STRIDE, class S> constexpr bool phases_apply(const S &s) {
  constexpr long long most = 1ll << 31;
  const long long rows = static_cast<long long>(s.n) * s.oh * s.ow;
  return s.groups == 1 && s.sh == STRIDE && s.sw == STRIDE && s.dh == 1 &&
         s.dw == 1 && s.kh >= STRIDE && s.kw >= STRIDE && s.pt >= 0 &&
         s.pl >= 0 && rows * ceil_div(s.k, 8) < most - (1 << 16);
}

/// The largest phase, whose grid is that of all.
template <int STRIDE, class S>
NNC_FN constexpr phase_shape<STRIDE> first_phase(const S &s) {
  return phase_shape<STRIDE>(s, 0);
}

template <int STRIDE, class S>
constexpr launch_size phases_launch(const S &s, int rows, int columns,
                                    int depth_bytes, int warp_rows,
                                    int warp_columns, int stages) {
  launch_size size =
      gemm_launch(first_phase<STRIDE>(s), rows, columns, depth_bytes, warp_rows,
                  warp_columns, stages, 1);
  size.grid.z = STRIDE * STRIDE;
  return size;
}

/// The weights of the phases.
struct phase_weights {
  int channels, filters, kh, kw, stride;

  NNC_FN constexpr int phases() const { return stride * stride; }
  /// The product with the weights of the taps of this phase.
  NNC_FN constexpr matmul_as_conv2d product(int phase) const {
    return matmul_as_conv2d(1, filters,
                            taps_from(phase / stride, kh, stride) *
                                taps_from(phase % stride, kw, stride) *
                                channels);
  }
  /// Number of elements of `bytes` bytes that are stored before those of this
  /// phase.
  NNC_FN constexpr ptrdiff_t first_element(int phase, int bytes) const {
    ptrdiff_t count = 0;
    for (int i = 0; i < phase; ++i)
      count += ptrdiff_t(gemm_panels(product(i))) *
               packed_panel_elements(product(i), bytes);
    return count;
  }
  /// Calls visit(filter, tap row, tap column, channel) for each stored element
  /// of `bytes` bytes in turn. `filter` is -1 for an element that is zero.
  template <class F> void visit(int bytes, F visit) const {
    for (int phase = 0; phase < phases(); ++phase) {
      const int down = phase / stride, right = phase % stride;
      const int across = taps_from(right, kw, stride);
      visit_packed_product(product(phase), bytes, [&](int column, int term) {
        const int tap = term / channels;
        visit(column, down + tap / across * stride,
              right + tap % across * stride, term % channels);
      });
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_PHASES_PLAN_H
