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

/// Returns `x` padded with mirrored elements at both ends of each axis; those
/// next to the border repeat it if `repeatsBorder` is true. `pads` is as
/// above. Returns null after an error if there are not as many elements.
mlir::Value padMirrored(LayerBuilder &layer, mlir::Value x,
                        llvm::ArrayRef<int64_t> pads, bool repeatsBorder);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_PADDING_H
