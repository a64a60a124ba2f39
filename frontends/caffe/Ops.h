//===- Ops.h - The layers of Caffe that nnc knows ---------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_CAFFE_OPS_H
#define NNC_FRONTENDS_CAFFE_OPS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnc::caffe {
class Layer;

/// The part that a layer has in a network that runs.
enum class Role {
  computes, ///< its converter builds its tops from its bottoms
  loss,     ///< its converter builds its top from the first bottom alone
  input,    ///< its tops are inputs of the network
  dropped,  ///< only training needs it
};

/// A type of layers that nnc knows.
struct OpInfo {
  llvm::StringLiteral name; ///< Caffe's: "InnerProduct"
  Role role;
  llvm::StringLiteral limits;
  /// The least and the largest number of bottoms.
  int minBottoms, maxBottoms;
  /// Builds the first top, and sets the others. Null for layers that compute
  /// nothing.
  mlir::Value (*convert)(Layer &layer);
};

/// Returns all types, sorted by name.
llvm::ArrayRef<OpInfo> getOps();

/// Returns the entry of a type, or null if nnc does not know it.
const OpInfo *findOp(llvm::StringRef type);

} // namespace nnc::caffe

#endif // NNC_FRONTENDS_CAFFE_OPS_H
