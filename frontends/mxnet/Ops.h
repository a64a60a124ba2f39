//===- Ops.h - The MXNet operators that nnc knows ---------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_MXNET_OPS_H
#define NNC_FRONTENDS_MXNET_OPS_H

#include "frontends/mxnet/file/Symbol.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnc::mxnet {
class Layer;

/// An operator that nnc supports.
struct OpInfo {
  llvm::StringLiteral name; ///< as in symbols: "Convolution"
  llvm::StringLiteral limits;
  /// The least and the largest number of inputs.
  unsigned minInputs, maxInputs;
  /// The number of inputs that inference reads; the others, such as labels, are
  /// dropped.
  unsigned readInputs;
  /// Builds the node's first result.
  mlir::Value (*convert)(Layer &layer);

  size_t countReads(const SymbolNode &node) const {
    return std::min<size_t>(readInputs, node.inputs.size());
  }
};

/// Returns all supported operators, sorted by name.
llvm::ArrayRef<OpInfo> getOps();

/// Returns the entry of an operator, or null if it has none.
const OpInfo *findOp(llvm::StringRef name);

} // namespace nnc::mxnet

#endif // NNC_FRONTENDS_MXNET_OPS_H
