//===- LayerRules.h - How each kind of op is quantized ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_LAYERRULES_H
#define NNC_COMPILER_QUANTIZE_LAYERRULES_H

#include "compiler/quantize/Plan.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace nnc::quantize {

/// Returns nullopt for an op that is never quantized.
std::optional<Kind> getKind(mlir::Operation *op);

/// Completes the description of a layer whose op and kind are set.
/// `isQuantized` tells whether a value is quantized. Returns why the op cannot
/// be, or "".
std::string describeLayer(PlannedLayer &layer,
                          llvm::function_ref<bool(mlir::Value)> isQuantized);

/// Returns whether the op adds constants to `sums`, the result of `anchor`: one
/// for each of its channels, or one for all.
bool isBiasAdd(mlir::Operation *add, mlir::Operation *anchor, mlir::Value sums);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_LAYERRULES_H
