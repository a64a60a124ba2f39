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
/// bodies so that each stands behind the nodes whose results it reads. ONNX
/// wants models to be sorted, but many tools write and run others. Nodes that
/// are in order keep it. Where nodes form a cycle, an error names them, and the
/// result is false.
bool sortNodes(::onnx::ModelProto &model, Problems &problems);

/// Calls `use` with every name that the node or a subgraph of it reads, without
/// those that a subgraph computes for itself.
void collectUses(const ::onnx::NodeProto &node,
                 llvm::function_ref<void(const std::string &)> use);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_GRAPH_SORT_H
