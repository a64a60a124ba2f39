//===- Ops.h - The TensorFlow operators that nnc knows ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_OPS_H
#define NNC_FRONTENDS_TENSORFLOW_OPS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace nnc::tensorflow {
class Layer;

/// The properties of an operator that the importer uses besides its converter.
enum class OpKind {
  pure,    ///< its results follow from its operands
  passing, ///< it takes and gives on what is no tensor, such as variables
  acting   ///< it also changes variables, so that it runs where nobody reads it
};

/// An operator that nnc supports.
struct OpInfo {
  llvm::StringLiteral name; ///< TensorFlow's: "Conv2D"
  /// The least and the largest number of inputs.
  unsigned minInputs, maxInputs;
  OpKind kind;
  /// The names of its results if there are several, separated by spaces;
  /// functions refer to results by name. A list of results counts as one.
  llvm::StringLiteral results;
  llvm::StringLiteral limits;
  /// Builds the operator's first result.
  mlir::Value (*convert)(Layer &layer);
};

/// Returns all supported operators, sorted by name.
llvm::ArrayRef<OpInfo> getOps();

/// Returns the entry of an operator, or null if it has none.
const OpInfo *findOp(llvm::StringRef name);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_OPS_H
