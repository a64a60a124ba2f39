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

/// Returns the kind of an op, or nullopt for an op that is never quantized.
std::optional<Kind> getKind(mlir::Operation *op);

/// Completes the description of a layer whose op and kind are set.
/// `isQuantized` tells whether a value is quantized. Returns the reason why the
/// op cannot be quantized, or "".
std::string describeLayer(PlannedLayer &layer,
                          llvm::function_ref<bool(mlir::Value)> isQuantized);

/// Returns true if `add` adds a constant bias to `sums`, the result of
/// `anchor`, with one value for each channel or a single one.
bool isBiasAdd(mlir::Operation *add, mlir::Operation *anchor, mlir::Value sums);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_LAYERRULES_H
