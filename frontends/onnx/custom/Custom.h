//===- Custom.h - ONNX operators that the user's functions compute --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_CUSTOM_CUSTOM_H
#define NNC_FRONTENDS_ONNX_CUSTOM_CUSTOM_H

#include "frontends/common/Customs.h"
#include "frontends/onnx/graph/Graph.h"

namespace nnc::onnx {

/// Returns the names by which --custom can refer to a node's operator:
/// DOMAIN::TYPE and TYPE.
std::vector<std::string> getCustomNames(const ::onnx::NodeProto &node);

/// Returns true if one of `functions` is for the operator of `node`.
bool isCustom(const ::onnx::NodeProto &node,
              const std::vector<CustomFunction> &functions);

/// Removes from `shapes` the shapes that the user gives for results of custom
/// operators instead of inputs, and returns them.
GivenShapes takeCustomShapes(const ::onnx::GraphProto &graph,
                             const ImportOptions &options, GivenShapes &shapes);

/// Imports a node as a call of the user's C function `custom` and returns its
/// results, or an empty list after an error. `scope` declares the types of the
/// results, or `shapes` has the shapes that the user gives for them; `symbols`
/// maps the names of dimensions to sizes.
llvm::SmallVector<mlir::Value>
convertCustom(const ::onnx::NodeProto &node, const Scope &scope,
              llvm::ArrayRef<mlir::Value> operands, LayerBuilder &layer,
              Customs &customs, const CustomFunction &function,
              const llvm::StringMap<int64_t> &symbols,
              const GivenShapes &shapes);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_CUSTOM_CUSTOM_H
