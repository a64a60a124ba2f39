//===- integers_plan.h - Weights of 24 bits and their scales --------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_INTEGERS_PLAN_H
#define NNC_ROUTINES_MATRIX_MATMUL_INTEGERS_PLAN_H

#include "runtime/counts.h"

namespace nnc {

/// Length of a group: consecutive weights of a column that share a scale.
constexpr int integers_group = 512;

/// Weights as integers of 24 bits, and how they are packed in a panel of W
/// columns.
struct integers {
  static constexpr int bits = 24;

  /// The largest integer, to which the largest magnitude of a group is scaled.
  static constexpr int most = (1 << (bits - 1)) - 1;

  /// Factor by which an integer is multiplied when f32x<W> loads it.
  static constexpr float unit = float(1 << (32 - bits));

  /// Bytes of an integer, the lowest first.
  static constexpr int bytes = bits / 8;

  /// Value of the integer 1 in a group whose largest magnitude is `largest`. It
  /// is 0, and so are all weights of the group, where it would be close to the
  /// end of the normal range.
  static constexpr float scale(float largest) {
    const float scale = largest / float(most);
    return scale < 0x1p-100f ? 0.0f : scale;
  }

  /// Bytes of a group of k rows of W columns, without its scales.
  static constexpr ptrdiff_t group(int k, int W) {
    return ptrdiff_t(k) * bytes * W;
  }

  /// Bytes of a panel of W columns of k weights: its groups, each followed by
  /// its W scales, divided by `unit`.
  static constexpr ptrdiff_t panel(int k, int W) {
    return group(k, W) + ptrdiff_t(ceil_div(k, integers_group)) * 4 * W;
  }

  /// Root mean square of the rounding errors of normally distributed weights,
  /// relative to their standard deviation. The largest of a group is taken to
  /// be 3.5 times that deviation, and errors to be uniform up to half an
  /// integer.
  static constexpr double error = 3.5 / most * 0.2887;
};

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_INTEGERS_PLAN_H
