//===- ShapeOperands.h - Operands that follow from declared shapes --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_GRAPH_SHAPEOPERANDS_H
#define NNC_FRONTENDS_ONNX_GRAPH_SHAPEOPERANDS_H

#include "frontends/onnx/graph/Node.h"

namespace nnc::onnx {

/// Returns whether an operator has operands that decide the shape of a result.
bool hasShapeOperands(const ::onnx::NodeProto &node);

/// Returns the operands, with the types of the model, of a node for which
/// hasShapeOperands() is true. A shape operand that the network computes
/// becomes a constant if the shapes that the model declares for the node's
/// results determine it, or if all possible values give the same results. For a
/// Reshape the constant is the declared shape.
llvm::SmallVector<mlir::Value> fillShapeOperands(Node &node);

/// Returns all lists of `count` axes whose reduction gives the declared shape
/// of result 0. Lists that differ only in axes of size 1, whose reduction
/// changes no element, are returned once.
llvm::SmallVector<llvm::SmallVector<int64_t>> findReducedAxes(Node &node,
                                                              int64_t count);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_GRAPH_SHAPEOPERANDS_H
