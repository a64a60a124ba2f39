//===- Sequences.h - Lists of tensors while importing -----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// Sequences exist only while a model is imported: a sequence is an
// unrealized_conversion_cast of its elements to a tuple. An optional is
// represented by the value that it holds, or if it is empty by a cast without
// operands to the type none.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_CONTROL_SEQUENCES_H
#define NNC_FRONTENDS_ONNX_CONTROL_SEQUENCES_H

#include "frontends/onnx/graph/Node.h"

namespace nnc::onnx {

/// Returns whether `value` is a tensor, not a sequence or an empty optional.
bool isTensor(mlir::Value value);

/// Returns whether an operator takes sequences or optionals.
bool takesSequences(llvm::StringRef op);

/// Returns a sequence of these values.
mlir::Value makeSequence(Node &node, llvm::ArrayRef<mlir::Value> elements);

/// Returns the elements of a sequence, or nullopt after an error if `value` is
/// not a sequence.
std::optional<llvm::SmallVector<mlir::Value>> getElements(Node &node,
                                                          mlir::Value value);

/// Returns tensors of one type stacked along a new axis.
mlir::Value stack(Node &node, llvm::ArrayRef<mlir::Value> values, int64_t axis);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_CONTROL_SEQUENCES_H
