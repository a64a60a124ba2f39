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

/// ONNX's domain for classical machine learning.
inline constexpr llvm::StringLiteral kLearnedDomain = "ai.onnx.ml";
/// ONNX's domain for operators on trial.
inline constexpr llvm::StringLiteral kPreviewDomain = "ai.onnx.preview";

/// An ONNX operator that nnc supports: a line of Ops.inc.
struct OpInfo {
  llvm::StringLiteral name;
  /// The unsupported parts of the definition, as a text for users; empty if all
  /// of it is supported.
  llvm::StringLiteral limits;
  /// Converts the node: returns its first result and sets the others. Returns
  /// null after reporting an error. The pointer is null for operators that ONNX
  /// defines as functions, which are expanded instead.
  mlir::Value (*convert)(Node &);

  /// Returns the first and the last operator set of its domain that have the
  /// operator.
  std::pair<int, int> getOpsets(llvm::StringRef domain = "") const;
};

/// Returns the operators of a domain that have a converter or are functions of
/// ONNX's own, sorted by name: ONNX's default domain (""), ai.onnx.ml,
/// ai.onnx.preview and com.microsoft have some.
llvm::ArrayRef<OpInfo> getOps(llvm::StringRef domain = "");

/// Returns the operator's entry in getOps(domain), or null if it has none.
const OpInfo *findOp(llvm::StringRef domain, llvm::StringRef name);

/// Returns what a user can do about an operator that is not supported: the end
/// of a sentence that says so. `name` has the domain in front, unless that is
/// the default one.
llvm::StringRef getAdvice(llvm::StringRef name);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_OPS_H
