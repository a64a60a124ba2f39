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

/// The names by which --custom gives a function for a node's operator:
/// DOMAIN::TYPE and TYPE.
std::vector<std::string> getCustomNames(const ::onnx::NodeProto &node);

/// Whether one of `functions` is for the operator of `node`.
bool isCustom(const ::onnx::NodeProto &node,
              const std::vector<CustomFunction> &functions);

/// Moves the shapes that the user gives for results of custom operators, rather
/// than for inputs, out of `shapes`.
GivenShapes takeCustomShapes(const ::onnx::GraphProto &graph,
                             const ImportOptions &options, GivenShapes &shapes);

/// Imports a node as a call of the user's C function `custom` and returns its
/// results; none, after an error, if that fails. The types of the results are
/// those that `scope` declares, or that `shapes`, given by the user, say;
/// `symbols` maps the names of dimensions to sizes.
llvm::SmallVector<mlir::Value>
convertCustom(const ::onnx::NodeProto &node, const Scope &scope,
              llvm::ArrayRef<mlir::Value> operands, LayerBuilder &layer,
              Customs &customs, const CustomFunction &function,
              const llvm::StringMap<int64_t> &symbols,
              const GivenShapes &shapes);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_CUSTOM_CUSTOM_H
