//===- Scales.h - The scale of each quantized value -------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_SCALES_H
#define NNC_COMPILER_QUANTIZE_SCALES_H

#include "compiler/quantize/Plan.h"
#include "compiler/quantize/Range.h"

namespace nnc::quantize {

/// Plans the quantization of a function from the ranges of its values
/// (dialects/qnn/Ranges.h). Values without a range, or with one that no scale
/// fits, stay float, and so do the ops that read and compute them.
Plan planByRanges(mlir::func::FuncOp function, const PlanOptions &options);

/// Returns the parameters of the plan's values, derived from their ranges.
/// Results of layers that only move elements have the scale of their operand.
/// The operands and the result of an nn.concat share a scale if none of them
/// loses more than one bit by that.
llvm::DenseMap<mlir::Value, Parameters> assignScales(const Plan &plan,
                                                     Storage storage);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_SCALES_H
