//===- Sort.h - Puts nodes in the order they run in -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_GRAPH_SORT_H
#define NNC_FRONTENDS_ONNX_GRAPH_SORT_H

#include "frontends/common/Problems.h"
#include "frontends/onnx/Import.h"

#include "onnx/onnx_pb.h"

namespace nnc::onnx {

/// Sorts the nodes of the main graph, of all subgraphs and of all function
/// bodies topologically. ONNX requires models to be sorted, but many tools
/// write and run unsorted ones. Nodes that are in order keep their order. If
/// nodes form a cycle, emits an error that names them and returns false.
bool sortNodes(::onnx::ModelProto &model, Problems &problems);

/// Calls `use` with every name that the node or one of its subgraphs reads,
/// except names that a subgraph itself defines.
void collectUses(const ::onnx::NodeProto &node,
                 llvm::function_ref<void(const std::string &)> use);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_GRAPH_SORT_H
