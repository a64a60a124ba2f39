//===- Qnn.h - Quantized operators ----------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_QNN_QNN_H
#define NNC_DIALECTS_QNN_QNN_H

#include "dialects/nn/Nn.h"

#include "mlir/Dialect/Quant/QuantOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"

#include "dialects/qnn/QnnDialect.h.inc"
#include "dialects/qnn/QnnEnums.h.inc"
#include "dialects/qnn/QnnInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/qnn/QnnAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/qnn/QnnOps.h.inc"

namespace nnc::qnn {

/// The quantized element type of a tensor, or null.
mlir::quant::QuantizedType getQuantizedType(mlir::Type type);

/// The tensor of integers that holds a quantized one.
mlir::RankedTensorType getStorageType(mlir::Type type);

/// Scales and zero points: one of each, or one for each index of `axis`.
struct Parameters {
  llvm::SmallVector<double> scales;
  llvm::SmallVector<int64_t> zeroPoints;
  int64_t axis = -1;
  int64_t min, max; ///< of the storage type
};
Parameters getParameters(mlir::Type type);

/// TFLite's form of a factor: `multiplier * 2^(shift - 31)`, rounded once.
struct FixedPoint {
  int64_t multiplier;
  int shift;
};
FixedPoint toFixedPoint(double factor);

} // namespace nnc::qnn

#endif // NNC_DIALECTS_QNN_QNN_H
