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

namespace nnc::qnn {
using nn::Rescale;
} // namespace nnc::qnn

#include "dialects/qnn/QnnDialect.h.inc"
#include "dialects/qnn/QnnEnums.h.inc"
#include "dialects/qnn/QnnInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/qnn/QnnAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/qnn/QnnOps.h.inc"

namespace nnc::qnn {

/// The names of the discardable attributes, which QnnDialect.td declares.
inline constexpr llvm::StringLiteral
    kOfFloatsAttr = QnnDialect::OfFloatsAttrHelper::getNameStr(),
    kPortAttr = QnnDialect::PortAttrHelper::getNameStr(),
    kQuantizedAttr = QnnDialect::QuantizedAttrHelper::getNameStr(),
    kRangeAttr = QnnDialect::RangeAttrHelper::getNameStr(),
    kStaysFloatAttr = QnnDialect::StaysFloatAttrHelper::getNameStr();

/// Returns the quantized element type of a tensor type, or null.
mlir::quant::QuantizedType getQuantizedType(mlir::Type type);

/// Returns the tensor type of the integers that a quantized tensor is stored
/// as.
mlir::RankedTensorType getStorageType(mlir::Type type);

/// The quantization parameters of a type: one scale and zero point, or one of
/// each for every index of `axis`.
struct Parameters {
  llvm::SmallVector<double> scales;
  llvm::SmallVector<int64_t> zeroPoints;
  int64_t axis = -1;
  int64_t min, max; ///< range of the storage type
};
Parameters getParameters(mlir::Type type);

/// Returns the quantized tensor type of shape `shape` that expresses f32 and is
/// stored as `storage`: with one scale and zero point, or with one of each for
/// every index of `axis`. The inverse of getParameters() and getStorageType().
mlir::RankedTensorType makeType(llvm::ArrayRef<int64_t> shape,
                                mlir::IntegerType storage,
                                const Parameters &parameters);
/// Returns the same quantized tensor type with the whole range of `storage`.
mlir::RankedTensorType makeType(llvm::ArrayRef<int64_t> shape,
                                mlir::IntegerType storage,
                                llvm::ArrayRef<double> scales,
                                llvm::ArrayRef<int64_t> zeroPoints,
                                int64_t axis);

/// Verifies that `type`, of an operand or result of `op`, is quantized,
/// expresses f32, and has parameters that fit its shape.
mlir::LogicalResult verifyQuantized(mlir::Operation *op, mlir::Type type);

/// Returns true if an op of this dialect is nested in `root`.
bool hasQuantizedOps(mlir::Operation *root);

/// Creates ops that subtract the zero points from the integers of a quantized
/// value. The differences have the stored width if they are known to fit,
/// otherwise twice that width.
mlir::Value centre(mlir::OpBuilder &builder, mlir::Location location,
                   mlir::Value x);

/// A factor in TFLite's fixed-point form, `multiplier * 2^(shift - 31)`,
/// rounded once from a double.
struct FixedPoint {
  int64_t multiplier;
  int shift;
};
FixedPoint toFixedPoint(double factor);

} // namespace nnc::qnn

#endif // NNC_DIALECTS_QNN_QNN_H
