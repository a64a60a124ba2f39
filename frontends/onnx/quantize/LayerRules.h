//===- LayerRules.h - How each kind of node is quantized ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_LAYERRULES_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_LAYERRULES_H

#include "frontends/onnx/quantize/Plan.h"

namespace nnc::onnx {

/// How a kind of node is quantized.
enum class Kind {
  linear,  ///< products with weights, or of two activations
  join,    ///< of several quantized tensors
  concat,  ///< a join that only moves elements
  clip,    ///< Relu and Clip, alone or behind another layer
  average, ///< of one quantized tensor, to a range of its own
  move,    ///< moves elements of operand 0, whose range stays
  table,   ///< reads rows of a table of constants, which alone is quantized
};

/// Returns nullopt for a node that is never quantized.
std::optional<Kind> getKind(const ::onnx::NodeProto &node);

/// Describes a node of Kind::linear as a layer. Returns why it cannot be
/// quantized, or "".
std::string describeLinear(GraphIndex &index, PlannedLayer &layer);

/// Describes a node of Kind::table as a layer. Returns why its table cannot be
/// quantized, or "".
std::string describeTable(GraphIndex &index, PlannedLayer &layer);

/// Describes a node of another kind as a layer. `isQuantized` tells whether a
/// tensor is quantized. Returns why the node cannot be, or "".
std::string
describeOther(GraphIndex &index, Kind kind,
              llvm::function_ref<bool(const std::string &)> isQuantized,
              PlannedLayer &layer);

/// Returns whether the node is an Add of `sums` and a constant bias with one
/// element for each of the `channels` indices of the last axis.
bool isBiasAdd(const GraphIndex &index, const ::onnx::NodeProto &node,
               const std::string &sums, int64_t channels);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_LAYERRULES_H
