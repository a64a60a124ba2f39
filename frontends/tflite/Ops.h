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
  int32_t code;             ///< TFLite's code; -1 for a custom operator
  llvm::StringLiteral limits;
  /// The least and the largest number of inputs. Those behind the least number
  /// may be absent.
  unsigned minInputs, maxInputs;
  /// The operand whose type decides whether the results are quantized integers;
  /// -1 if there is none.
  int activations;
  /// Builds the operator's first result.
  mlir::Value (*convert)(Layer &layer);

  /// Returns true if the operator has no result: ASSIGN_VARIABLE and CALL_ONCE.
  bool lacksResults() const { return code == 144 || code == 129; }
  /// Returns true if the operator runs subgraphs, which may return handles of
  /// variables or nothing: CALL, IF and WHILE.
  bool runsSubgraphs() const {
    return code == 31 || code == 118 || code == 119;
  }
  /// Returns true if the result is the handle of a variable instead of a
  /// tensor: VAR_HANDLE.
  bool givesHandle() const { return code == 142; }
};

/// Returns all supported operators, sorted by name.
llvm::ArrayRef<OpInfo> getOps();

/// Returns the entry of an operator, or null if it has none.
const OpInfo *findOp(const fb::OperatorCode &code);

/// Returns the name by which --custom refers to an operator: the name of a
/// custom operator, or TFLite's name of a builtin operator.
std::string getBareName(const fb::OperatorCode &code);

/// Returns the name of an operator for messages, whether nnc knows it or not.
std::string getOpName(const fb::OperatorCode &code);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_OPS_H
