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

/// Plans what to quantize of a function by the ranges that its values have
/// (dialects/qnn/Ranges.h): values without one, or with one that no scale fits,
/// stay float, and so does what reads and computes them.
Plan planByRanges(mlir::func::FuncOp function, const PlanOptions &options);

/// Derives the parameters of the plan's values from their ranges. Results of
/// layers that only move elements have the scale of their operand. The operands
/// and the result of an nn.concat have one scale, if none of them loses more
/// than one bit by it.
llvm::DenseMap<mlir::Value, Parameters> assignScales(const Plan &plan,
                                                     Storage storage);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_SCALES_H
