//===- GraphIndex.h - Who computes and who reads each value ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_GRAPHINDEX_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_GRAPHINDEX_H

#include "onnx/onnx_pb.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <string>
#include <vector>

namespace nnc::onnx {

/// An index of the main graph of a model by the names of its values. Changes of
/// nodes or their operands invalidate it; changes of constants do not.
class GraphIndex {
public:
  explicit GraphIndex(::onnx::ModelProto &model);

  ::onnx::GraphProto &getGraph() { return graph; }
  ::onnx::NodeProto &getNode(int node) { return *graph.mutable_node(node); }
  const ::onnx::NodeProto &getNode(int node) const { return graph.node(node); }
  int getNumNodes() const { return graph.node_size(); }

  /// Returns the index of the node that computes `value`, or -1.
  int getProducer(llvm::StringRef value) const;
  /// Returns the indices of the nodes that have `value` as an operand. Nodes
  /// whose subgraphs read it are not included; see isCaptured().
  llvm::ArrayRef<int> getReaders(llvm::StringRef value) const;
  bool isCaptured(llvm::StringRef value) const {
    return captured.contains(value);
  }
  bool isInput(llvm::StringRef value) const { return inputs.contains(value); }
  bool isOutput(llvm::StringRef value) const { return outputs.contains(value); }
  /// Returns the index of the node that reads `value` as a single operand, if
  /// that is the only use; otherwise -1.
  int getOnlyReader(llvm::StringRef value) const;

  /// Returns the tensor of an initializer or of a node Constant; null for other
  /// values.
  ::onnx::TensorProto *getConstant(llvm::StringRef value) const;
  bool isConstant(llvm::StringRef value) const { return getConstant(value); }
  /// Returns the elements of a constant of 32-bit floats.
  std::optional<std::vector<float>> getFloats(llvm::StringRef value) const;

private:
  ::onnx::GraphProto &graph;
  llvm::StringMap<int> producers;
  llvm::StringMap<llvm::SmallVector<int, 2>> readers;
  llvm::StringMap<::onnx::TensorProto *> constants;
  llvm::StringSet<> captured, inputs, outputs;
};

/// A generator of names that no value and no node of a model has.
class FreshNames {
public:
  explicit FreshNames(const ::onnx::ModelProto &model);
  /// Returns a name that no tensor or node of the graph has: `wanted`, with a
  /// number appended if it is taken.
  std::string make(const std::string &wanted);

private:
  void collect(const ::onnx::GraphProto &graph);
  llvm::StringSet<> taken;
};

/// Returns the elements of a tensor of 32-bit floats without external data.
std::vector<float> getFloats(const ::onnx::TensorProto &tensor);
void setFloats(::onnx::TensorProto &tensor, const std::vector<float> &values);

/// Adds an initializer; `data` is in row-major order.
template <class T>
void addInitializer(::onnx::GraphProto &graph, const std::string &name,
                    int32_t dataType, llvm::ArrayRef<int64_t> dims,
                    llvm::ArrayRef<T> data) {
  ::onnx::TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(dataType);
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  tensor.set_raw_data(data.data(), data.size() * sizeof(T));
}

/// Removes the constants among `values` that nothing uses any more.
void removeUnusedConstants(::onnx::ModelProto &model,
                           const llvm::StringSet<> &values);

const ::onnx::AttributeProto *findAttribute(const ::onnx::NodeProto &node,
                                            llvm::StringRef name);
int64_t getInt(const ::onnx::NodeProto &node, llvm::StringRef name,
               int64_t otherwise);
float getFloat(const ::onnx::NodeProto &node, llvm::StringRef name,
               float otherwise);
/// Returns true if the operand is given. Absent optional operands have an empty
/// name.
inline bool hasInput(const ::onnx::NodeProto &node, int input) {
  return input < node.input_size() && !node.input(input).empty();
}

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_GRAPHINDEX_H
