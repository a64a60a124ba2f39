//===- Plan.h - Which nodes and tensors are quantized ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_PLAN_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_PLAN_H

#include "frontends/onnx/quantize/GraphIndex.h"
#include "frontends/onnx/quantize/Quantizer.h"

#include "llvm/ADT/MapVector.h"

#include <map>
#include <set>

namespace nnc::onnx {

/// A node whose operands and result are quantized, together with the following
/// nodes that are applied to its sums before rounding: the Add of a bias to a
/// MatMul, and a Relu or Clip.
struct PlannedLayer {
  int node = -1;
  /// Names of the operands that are activations.
  llvm::SmallVector<std::string, 2> inputs;
  int weights = -1; ///< number of the operand that is weights, or -1; a
                    ///< table is weights, too
  bool isTable = false;
  int64_t axis = -1; ///< axis of the weights' channels, or -1
  int bias = -1;     ///< number of the operand that is an integer bias, or -1
  int biasAdd = -1;  ///< node that adds the bias to a MatMul, or -1
  std::vector<int> absorbed;
  std::string output;
};

/// A node of a kind that can be quantized, and the reason why this one is not.
struct FloatNode {
  int node;
  std::string reason;
  /// True if the node multiplies by weights, or if the user or the search
  /// decided that it stays float.
  bool isImportant;
};

struct Plan {
  std::vector<PlannedLayer> layers; ///< in the order of the nodes
  std::vector<FloatNode> floats;
  /// The tensors that are quantized, in the order in which they are computed,
  /// each with true if a quantized layer computes it. All other readers of such
  /// a tensor then read its dequantized form.
  llvm::MapVector<std::string, bool, std::map<std::string, unsigned>> tensors;
  /// For the result of a layer that only moves elements: the tensor whose range
  /// it has.
  std::map<std::string, std::string> sameAs;
  std::vector<int> concats; ///< indices in `layers`
  /// The tensors in `tensors` that are not rounded because no quantized layer
  /// reads them: results of tables, and with QuantizeOptions::unrounded also
  /// results of products.
  std::set<std::string> unrounded;

  bool isQuantized(const std::string &tensor) const {
    return tensors.count(tensor) != 0;
  }
};

/// Returns the plan of what to quantize. `unusable` are tensors that cannot be
/// quantized, each with the reason; `kept` are nodes that stay float, each with
/// the reason.
Plan makePlan(GraphIndex &index, const QuantizeOptions &options,
              const std::map<std::string, std::string> &unusable,
              const std::map<int, std::string> &kept);

/// Returns the name of a node, or if it has none, that of its first result.
std::string getName(const ::onnx::NodeProto &node);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_PLAN_H
