//===- Types.h - TFLite's element types and quantization ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_GRAPH_TYPES_H
#define NNC_FRONTENDS_TFLITE_GRAPH_TYPES_H

#include "frontends/tflite/schema_generated.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"

#include <string>

namespace nnc::tflite {

/// Returns the MLIR type of elements in memory; null for those that nnc lacks.
/// Integers of 4 and 2 bits have those widths: only constants may be of them.
mlir::Type getElementType(mlir::MLIRContext *context, fb::TensorType type);
/// Whether elements of that type are integers of 4 or 2 bits, several to a
/// byte.
bool isPacked(mlir::Type element);

/// Returns TFLite's name of an element type: "INT8".
std::string getTypeName(fb::TensorType type);
/// Returns TFLite's name of an element type of nnc, for messages.
std::string getTypeName(mlir::Type element);

/// What the integers of a tensor stand for: (x - zero point) * scale, with one
/// of both, or with one for each index of `axis`. No scale stands for plain
/// integers. The scales are f32 numbers.
struct Quantization {
  llvm::SmallVector<double, 1> scales;
  llvm::SmallVector<int64_t, 1> zeroPoints;
  int64_t axis = -1; ///< -1 if there is one scale

  explicit operator bool() const { return !scales.empty(); }
  double getScale() const { return scales[0]; }
  int64_t getZeroPoint() const { return zeroPoints[0]; }
};

/// Returns the quantization that a tensor states, or why it is not sound as the
/// end of a sentence.
std::string readQuantization(const fb::Tensor &tensor, Quantization &result);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_GRAPH_TYPES_H
