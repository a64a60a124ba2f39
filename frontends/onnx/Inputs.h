//===- Inputs.h - Shapes of the network's inputs --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_INPUTS_H
#define NNC_FRONTENDS_ONNX_INPUTS_H

#include "frontends/onnx/Problems.h"

#include "mlir/IR/BuiltinTypes.h"
#include "onnx/onnx_pb.h"

namespace nnc::onnx {

/// A tensor that the user passes in.
struct Input {
  std::string name;
  mlir::RankedTensorType type; ///< null where it is not known
  bool isRebound; ///< the user gave sizes that the model leaves open
};

/// The graph's inputs without its initializers, their open dimensions bound by
/// the user's shapes. What stays open is reported with the flag to pass. An
/// open dimension that has a name is bound wherever that name stands.
std::vector<Input>
bindInputs(const ::onnx::GraphProto &graph,
           const std::map<std::string, std::vector<int64_t>> &shapes,
           Problems &problems);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_INPUTS_H
