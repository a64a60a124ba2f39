//===- Ops.h - The ONNX operators that nnc knows --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_OPS_H
#define NNC_FRONTENDS_ONNX_OPS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <utility>

namespace nnc::onnx {
class Node;

/// A line of Ops.inc.
struct OpInfo {
  llvm::StringLiteral name;
  /// What is left out; empty where the whole definition is supported.
  llvm::StringLiteral limits;
  /// Builds the node's first result (and sets others); null where that failed,
  /// which it has reported. Itself null for functions.
  mlir::Value (*convert)(Node &);

  /// First and last operator set with it.
  std::pair<int, int> getOpsets() const;
};

/// All of them, by name.
llvm::ArrayRef<OpInfo> getOps();

/// The operator's line, or null. All are of ONNX's default domain.
const OpInfo *findOp(llvm::StringRef domain, llvm::StringRef name);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_OPS_H
