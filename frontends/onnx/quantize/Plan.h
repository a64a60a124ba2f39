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

/// A node whose operands and result are quantized, with the nodes behind it
/// that compute on its sums before these are rounded: the Add of a bias to a
/// MatMul, and a Relu or Clip.
struct PlannedLayer {
  int node = -1;
  /// Names of the operands that are activations.
  llvm::SmallVector<std::string, 2> inputs;
  int weights = -1; ///< number of the operand that is weights, or -1; a
                    ///< table is weights, too
  bool isTable = false;
  int64_t axis = -1; ///< of the weights' channels, or -1
  int bias = -1;     ///< number of the operand that is an integer bias, or -1
  int biasAdd = -1;  ///< node that adds the bias to a MatMul, or -1
  std::vector<int> absorbed;
  std::string output;
};

/// A node of a kind that could be quantized, and why it is not.
struct FloatNode {
  int node;
  std::string reason;
  /// Whether it multiplies by weights, or somebody decided that it stays float.
  bool isImportant;
};

struct Plan {
  std::vector<PlannedLayer> layers; ///< in the order of the nodes
  std::vector<FloatNode> floats;
  /// The tensors that are quantized, in the order in which they are computed,
  /// and whether a quantized layer computes them: all else then reads what is
  /// dequantized.
  llvm::MapVector<std::string, bool, std::map<std::string, unsigned>> tensors;
  /// The tensor that another one takes its range from, for layers that only
  /// move elements.
  std::map<std::string, std::string> sameAs;
  std::vector<int> concats; ///< numbers of layers
  /// Those of `tensors` that stay unrounded, because no layer reads them:
  /// results of tables, and if that is wanted those of products.
  std::set<std::string> unrounded;

  bool isQuantized(const std::string &tensor) const {
    return tensors.count(tensor) != 0;
  }
};

/// Plans what to quantize. `unusable` are tensors that cannot be, each with the
/// reason; `kept` are nodes that stay floats, each with the reason.
Plan makePlan(GraphIndex &index, const QuantizeOptions &options,
              const std::map<std::string, std::string> &unusable,
              const std::map<int, std::string> &kept);

/// Returns the name of a node, or if it has none, that of its first result.
std::string getName(const ::onnx::NodeProto &node);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_PLAN_H
