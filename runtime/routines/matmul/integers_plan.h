//===- integers_plan.h - Weights of 24 or 20 bits and their scales --------===//
#ifndef NNC_ROUTINES_MATMUL_INTEGERS_PLAN_H
#define NNC_ROUTINES_MATMUL_INTEGERS_PLAN_H

#include "runtime/routines/policy.h"

namespace nnc {

/// So many weights of a column, one below the other, share a scale.
constexpr int integers_group = 512;

/// Integers of so many bits: how they lie in a panel of columns.
template <int Bits> struct integers {
  static_assert(Bits == 24 || Bits == 20, "what f32x loads");

  /// The largest, which the largest magnitude of a group becomes.
  static constexpr int most = (1 << (Bits - 1)) - 1;

  /// What f32x<W> multiplies one by when it loads it.
  static constexpr float unit = float(1 << (32 - Bits));

  /// So many rows lie together, in so many bytes a column. Of 24 bits a row: W
  /// times three bytes, the lowest first. Of 20 bits two: W words, whose lower
  /// half is the upper 16 bits of the first row's integer and whose upper half
  /// is the second's, and W bytes, the lower 4 bits of the first and then those
  /// of the second. The second stands for its integer and a sixteenth of the
  /// lower 4 bits of the first, which it is loaded with.
  static constexpr int rows = Bits == 20 ? 2 : 1;
  static constexpr int bytes = Bits == 20 ? 5 : 3;

  /// Of a group whose largest magnitude is `largest`: what an integer stands
  /// for. Where that would be no normal number, all weights are taken for
  /// zeros.
  static constexpr float scale(float largest) {
    const float scale = largest / float(most);
    return scale < 0x1p-100f ? 0.0f : scale;
  }

  /// Bytes of so many columns of a group of k rows, without their scales.
  static constexpr std::ptrdiff_t group(int k, int W) {
    return std::ptrdiff_t(ceil_div(k, rows)) * bytes * W;
  }

  /// Bytes of a panel of W columns of k weights: its groups, and behind each
  /// of them [W] scales over `unit`.
  static constexpr std::ptrdiff_t panel(int k, int W) {
    return group(k, W) + std::ptrdiff_t(ceil_div(k, integers_group)) * 4 * W;
  }

  /// Root mean square of what rounding does to weights of a normal
  /// distribution, of which the largest of a group is about 3.5 times the
  /// deviation: errors of up to half an integer, evenly distributed.
  static constexpr double error = 3.5 / most * 0.2887;
};

} // namespace nnc

#endif // NNC_ROUTINES_MATMUL_INTEGERS_PLAN_H
