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

/// Returns the MLIR type of elements in memory; null for types that nnc does
/// not support. Integers of 4 and 2 bits keep their widths; only constants may
/// have such types.
mlir::Type getElementType(mlir::MLIRContext *context, fb::TensorType type);
/// Returns true if elements of this type are integers of 4 or 2 bits, which are
/// packed into bytes.
bool isPacked(mlir::Type element);

/// Returns TFLite's name of an element type: "INT8".
std::string getTypeName(fb::TensorType type);
/// Returns TFLite's name of an MLIR element type, for messages.
std::string getTypeName(mlir::Type element);

/// The quantization parameters of a tensor: an integer x represents (x - zero
/// point) * scale. There is one scale and zero point, or one of each for every
/// index of `axis`. Plain integers have no scales. The scales are f32 numbers.
struct Quantization {
  llvm::SmallVector<double, 1> scales;
  llvm::SmallVector<int64_t, 1> zeroPoints;
  int64_t axis = -1; ///< -1 if there is at most one scale

  explicit operator bool() const { return !scales.empty(); }
  double getScale() const { return scales[0]; }
  int64_t getZeroPoint() const { return zeroPoints[0]; }
};

/// Reads the quantization that a tensor states into `result`. Returns a
/// description of what is not valid, as the end of a sentence, or an empty
/// string.
std::string readQuantization(const fb::Tensor &tensor, Quantization &result);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_GRAPH_TYPES_H
