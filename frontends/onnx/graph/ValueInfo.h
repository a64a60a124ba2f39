//===- ValueInfo.h - What an ONNX graph states about its tensors ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_GRAPH_VALUEINFO_H
#define NNC_FRONTENDS_ONNX_GRAPH_VALUEINFO_H

#include "frontends/common/Declarations.h"
#include "frontends/onnx/Import.h"

#include "onnx/onnx_pb.h"

namespace nnc::onnx {

/// Returns the graph's inputs, without those that have initial values. Reports
/// inputs that are not tensors.
std::vector<TensorInfo> getInputs(const ::onnx::GraphProto &graph,
                                  Problems &problems);

/// Removes the initial values of those inputs to which the user gives other
/// values.
void dropInitialValues(::onnx::GraphProto &graph, const GivenValues &values);

/// Returns the types that the graph declares for its outputs, for values
/// between its nodes (`value_info`) and for inputs with initial values. A
/// declared result of an elementwise node with one operand also declares the
/// shape of that operand.
Declarations::Scope getDeclaredTypes(mlir::MLIRContext *context,
                                     const ::onnx::GraphProto &graph);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_GRAPH_VALUEINFO_H
