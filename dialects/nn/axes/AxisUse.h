//===- AxisUse.h - How an op treats an axis ---------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_AXES_AXISUSE_H
#define NNC_DIALECTS_NN_AXES_AXISUSE_H

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace nnc::nn {

/// The kinds of dependence of a result's elements, along one of its axes, on
/// elements of the operands.
enum class AxisKind {
  /// Each element may depend on all elements of the operands. This holds for
  /// every op.
  mixed,
  /// If the axes of the result and of the operands are divided into the same
  /// number of equal parts, each part of the result depends on the same part of
  /// the operands, as the samples of a batch do.
  apart,
  /// Element i depends on element i of the operands. Its parts are apart, too.
  elements,
  /// Element i depends on element i - `before` of the operand, which lies
  /// between `before` and `after` elements of padding.
  padded,
  /// Element i depends on a window of elements, which begins at element
  /// i * `stride` - `before` of the operand.
  windows,
};

/// The windows of a convolution or a pool along an axis, or windows of one
/// element if the axis is only padded.
struct AxisWindows {
  int64_t kernel = 1, stride = 1, dilation = 1;
  /// Numbers of elements of padding. They are negative where elements are
  /// removed.
  int64_t before = 0, after = 0;
  /// Whether the padding repeats elements of the operand.
  bool repeatsElements = false;

  int64_t getExtent() const { return (kernel - 1) * dilation + 1; }
  bool hasPadding() const { return before != 0 || after != 0; }
};

/// How an op computes its result along one axis of the result.
struct AxisUse {
  AxisKind kind = AxisKind::mixed;
  /// For each operand, the axis that `kind` relates to the axis of the result.
  /// It is -1 if each element of the result may depend on the whole operand.
  /// The list is empty if `kind` is `mixed`.
  llvm::SmallVector<int64_t> axes = {};
  /// The windows of an axis that is `padded` or has `windows`.
  AxisWindows windows = {};

  /// Returns true if equal parts of the axis are computed apart.
  bool isApart() const {
    return kind == AxisKind::apart || kind == AxisKind::elements;
  }
  /// Returns true if each element depends on one element or a window of the
  /// operands that have the axis.
  bool isLocal() const { return kind == AxisKind::elements || hasWindows(); }
  bool hasWindows() const {
    return kind == AxisKind::padded || kind == AxisKind::windows;
  }

  /// Returns a use of axis `own` of the first operand of `op`. All other
  /// operands are read whole.
  static AxisUse ofFirst(mlir::Operation *op, AxisKind kind, int64_t own);
  static AxisUse elements(mlir::Operation *op, int64_t own) {
    return ofFirst(op, AxisKind::elements, own);
  }
  /// Returns the use of axis `axis` by an op that computes the samples of a
  /// batch one by one: the first axis of the first operand is apart, and other
  /// axes are mixed.
  static AxisUse samples(mlir::Operation *op, int64_t axis);
};

/// Returns how `op` computes axis `axis` of its result. The axis is mixed if
/// the op does not implement AxisOpInterface or its result has no such axis.
AxisUse getAxisUse(mlir::Operation *op, int64_t axis);

/// Returns the axis of the result of `op` whose elements depend on single
/// elements, or on windows, along axis `own` of operand number `operand`;
/// nullopt if there is none.
std::optional<int64_t> findResultAxis(mlir::Operation *op, unsigned operand,
                                      int64_t own);

/// Returns how an op that broadcasts its operands as NumPy does, and computes
/// each element of its result from one element of each, treats axis `axis` of
/// the result. Operands that are repeated along the axis are read whole.
AxisUse getElementwiseUse(mlir::Operation *op, int64_t axis);

/// The trait by which an elementwise op answers AxisOpInterface.
template <class Op>
struct ElementwiseAxes : mlir::OpTrait::TraitBase<Op, ElementwiseAxes> {
  AxisUse getAxisUse(int64_t axis) {
    return getElementwiseUse(this->getOperation(), axis);
  }
};

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_AXES_AXISUSE_H
