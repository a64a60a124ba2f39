//===- Ops.h - The ATen operators that nnc knows --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_OPS_H
#define NNC_FRONTENDS_TORCH_OPS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace nnc::torch {
class Node;

/// An operator that nnc supports.
struct OpInfo {
  llvm::StringLiteral name; ///< with its overload: "add.Tensor"
  llvm::StringLiteral nnOp; ///< nn op that its converter builds, or ""
  llvm::StringLiteral limits;
  /// The entry is for complex operands or results, whose values have a last
  /// axis of two parts.
  bool isComplex;
  /// Builds the operator's first result.
  mlir::Value (*convert)(Node &node);
};

/// Returns all supported operators, sorted by name. Forms that work in place
/// are not among them if the functional form is.
llvm::ArrayRef<OpInfo> getOps();

/// Returns the entry of the operator that a node names in its field `target`;
/// for one that works in place, that of its functional form. Null if there is
/// none. `isComplex` tells that an operand or a result holds complex numbers.
const OpInfo *findOp(llvm::StringRef target, bool isComplex);

/// Returns the name of an operator for messages and tables: that in the
/// program without "torch.ops." and "aten.".
std::string getOpName(llvm::StringRef target);

/// Returns true if an operator computes nothing: an assertion.
bool isIgnored(llvm::StringRef op);

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_OPS_H
