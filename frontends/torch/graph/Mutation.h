//===- Mutation.h - Views, and operators that work in place ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A program may change tensors in place (add_, copy_), and views of a tensor
// (slice, transpose) share its elements. The importer keeps the newest value of
// each tensor. A view knows its base: a change of the base makes the view be
// built anew when it is read, and a change of the view is written back into the
// base.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_GRAPH_MUTATION_H
#define NNC_FRONTENDS_TORCH_GRAPH_MUTATION_H

#include "frontends/torch/file/Program.h"

#include "mlir/IR/Value.h"

#include <set>

namespace nnc::torch {

class Node;

/// Returns the functional form of an operator that works in place: "add.Tensor"
/// for "add_.Tensor"; empty for others.
std::string getFunctionalName(llvm::StringRef op);
/// Returns true if an operator changes the shape of its operand in place.
bool changesShape(llvm::StringRef op);
/// Returns true if the results of a node of `graph` share the elements of its
/// first argument.
bool isView(const json::Object &node, const json::Object &graph);

/// Returns the name of the tensor that is the first argument of a node; empty
/// if that is no tensor.
llvm::StringRef getFirstTensor(const json::Object &node);

/// Returns the value of `base` after its view `result` of `node` has got the
/// value `view`. Returns null after an error if that cannot be followed.
mlir::Value writeThroughView(Node &node, size_t result, mlir::Value base,
                             mlir::Value view);

/// Returns the names of the tensors of a graph that its nodes change, also
/// through views of them.
std::set<std::string> findChanged(const json::Object &graph);

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_GRAPH_MUTATION_H
