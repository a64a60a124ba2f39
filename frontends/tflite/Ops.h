//===- Ops.h - The TFLite operators that nnc knows ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_OPS_H
#define NNC_FRONTENDS_TFLITE_OPS_H

#include "frontends/tflite/schema_generated.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace nnc::tflite {
class Layer;

/// An operator that nnc supports.
struct OpInfo {
  llvm::StringLiteral name; ///< TFLite's: "CONV_2D"
  int32_t code;             ///< TFLite's number of it; -1 for a custom operator
  llvm::StringLiteral limits;
  /// The least and the largest number of inputs.
  unsigned minInputs, maxInputs;
  /// Builds the operator's first result.
  mlir::Value (*convert)(Layer &layer);
};

/// Returns all supported operators, sorted by name.
llvm::ArrayRef<OpInfo> getOps();

/// Returns the entry of an operator, or null if it has none.
const OpInfo *findOp(const fb::OperatorCode &code);

/// Returns the name of an operator for messages, whether nnc knows it or not.
std::string getOpName(const fb::OperatorCode &code);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_OPS_H
