//===- Padding.h - Elements added at the ends of axes ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_PADDING_H
#define NNC_FRONTENDS_COMMON_PADDING_H

#include "frontends/common/LayerBuilder.h"

namespace nnc::frontends {

/// Returns the numbers of elements to add in front of every axis of `x`, then
/// those behind every axis, from `rows`, the operand of TensorFlow's and
/// TFLite's operators, which has a row of two numbers for each axis. Returns
/// nullopt after an error if they are not known or do not fit.
std::optional<llvm::SmallVector<int64_t>>
readPads(LayerBuilder &layer, mlir::Value x, mlir::Value rows);

/// Returns `x` padded with the constant `value`. `pads` has the padding in
/// front of every axis, then the padding behind every axis, in elements.
mlir::Value padWith(LayerBuilder &layer, mlir::Value x,
                    llvm::ArrayRef<int64_t> pads, double value);

/// Returns `x` padded with its mirror images at both ends of each axis: a b c
/// padded by 2 is b a a b c c b if `repeatsBorder` is true, and c b a b c b a
/// otherwise. `pads` has the numbers of elements in the order of padWith().
/// Returns null after an error if a mirror image has fewer elements.
mlir::Value padMirrored(LayerBuilder &layer, mlir::Value x,
                        llvm::ArrayRef<int64_t> pads, bool repeatsBorder);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_PADDING_H
