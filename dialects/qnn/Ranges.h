//===- Ranges.h - Ranges of float values, as calibration found them -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// nnc-calibrate records the range of a float value as an attribute of the op or
// argument that gives it; nnc-quantize derives scales from it.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_QNN_RANGES_H
#define NNC_DIALECTS_QNN_RANGES_H

#include "dialects/qnn/Qnn.h"

#include <optional>

namespace nnc::qnn {

/// The form of a range in kRangeAttr, as messages describe it. Quantization
/// covers the values from LOW to HIGH.
inline constexpr llvm::StringLiteral kRangeForm =
    "array<f64: LOW, HIGH> of finite numbers with LOW <= 0 <= HIGH";

/// The bounds that kRangeAttr holds.
struct ValueRange {
  double low, high;
};

/// Returns the values of a function that may have ranges, in a fixed order: its
/// arguments, then the results of its ops with one result. nnc-calibrate
/// identifies values by their positions in this list.
llvm::SmallVector<mlir::Value> listValues(mlir::func::FuncOp function);

/// Returns the bounds that an attribute holds, or nullopt if it is null or not
/// of the form that kRangeForm names.
std::optional<ValueRange> readRange(mlir::Attribute attribute);

/// Returns the range of a value of listValues(), or nullopt where it has none.
std::optional<ValueRange> getRange(mlir::Value value);
void setRange(mlir::Value value, ValueRange range);
/// Removes the ranges of all values of the function.
void dropRanges(mlir::func::FuncOp function);

/// Checks the form of all ranges of the function; emits an error for each that
/// is wrong.
mlir::LogicalResult verifyRanges(mlir::func::FuncOp function);

} // namespace nnc::qnn

#endif // NNC_DIALECTS_QNN_RANGES_H
