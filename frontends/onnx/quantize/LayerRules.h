//===- LayerRules.h - How each kind of node is quantized ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_LAYERRULES_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_LAYERRULES_H

#include "frontends/onnx/quantize/Plan.h"

namespace nnc::onnx {

/// The kinds of nodes that are quantized in different ways.
enum class Kind {
  linear,  ///< products with weights, or of two activations
  join,    ///< reads several quantized tensors
  concat,  ///< a join that only moves elements
  clip,    ///< Relu and Clip, alone or behind another layer
  average, ///< reads one quantized tensor; the result has its own range
  move,    ///< moves elements of operand 0 without changing their range
  table,   ///< reads rows of a constant table; only the table is quantized
};

/// Returns the kind of a node, or nullopt for a node that is never quantized.
std::optional<Kind> getKind(const ::onnx::NodeProto &node);

/// Sets `layer` to the description of its node, which is of Kind::linear.
/// Returns the reason why the node cannot be quantized, or "".
std::string describeLinear(GraphIndex &index, PlannedLayer &layer);

/// Sets `layer` to the description of its node, which is of Kind::table.
/// Returns the reason why its table cannot be quantized, or "".
std::string describeTable(GraphIndex &index, PlannedLayer &layer);

/// Sets `layer` to the description of its node, which is of any other kind.
/// `isQuantized` tells whether a tensor is quantized. Returns the reason why
/// the node cannot be quantized, or "".
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
