//===- Equalize.cpp - Cross-layer equalization ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/quantize/Equalize.h"

#include "compiler/quantize/Equalize.h"
#include "frontends/onnx/quantize/LinearLayer.h"

#include <map>

using namespace nnc;
using namespace nnc::onnx;
using namespace nnc::quantize;
using ::onnx::ModelProto;
using ::onnx::NodeProto;

/// Returns the index of the layer that is the only reader of the result of
/// layer `number`, possibly behind a Relu, and reads it as operand 0; -1 if
/// there is none.
static int findNext(GraphIndex &index, int number) {
  std::string value = index.getNode(number).output(0);
  int reader = index.getOnlyReader(value);
  if (reader >= 0 && index.getNode(reader).op_type() == "Relu" &&
      index.getNode(reader).domain().empty()) {
    value = index.getNode(reader).output(0);
    reader = index.getOnlyReader(value);
  }
  return reader >= 0 && index.getNode(reader).input(0) == value ? reader : -1;
}

/// Returns true if the channels of operand 0 and of the result are on the usual
/// axes of the node's kind.
static bool hasPlainChannels(const NodeProto &node) {
  return node.op_type() == "Conv" || node.op_type() == "ConvTranspose" ||
         (node.op_type() == "Gemm" && getInt(node, "transA", 0) == 0);
}

namespace {
/// A pair of layers. The second is the only reader of the first one's result.
struct Pair {
  int first, second;   ///< indices of nodes
  std::string between; ///< value that the second layer reads
};

/// The linear layers of a model and their pairs.
struct Layers {
  std::map<int, nnc::onnx::LinearLayer> all; ///< by their nodes
  std::vector<Pair> pairs;

  explicit Layers(GraphIndex &index) {
    for (int i = 0; i < index.getNumNodes(); ++i)
      if (hasPlainChannels(index.getNode(i)))
        if (auto layer = LinearLayer::get(index, i);
            layer && layer->isBiasKnown)
          all.emplace(i, std::move(*layer));
    for (const auto &[node, layer] : all) {
      int next = findNext(index, node);
      auto found = all.find(next);
      bool isConv = index.getNode(node).op_type() != "Gemm";
      if (found != all.end() && found->second.inputs == layer.outputs &&
          isConv == (index.getNode(next).op_type() != "Gemm"))
        pairs.push_back({node, next, index.getNode(next).input(0)});
    }
  }
};
} // namespace

std::vector<std::string> nnc::onnx::findEqualizable(ModelProto &model) {
  GraphIndex index(model);
  std::vector<std::string> values;
  for (const Pair &pair : Layers(index).pairs)
    values.push_back(pair.between);
  return values;
}

int nnc::onnx::equalize(ModelProto &model, const ChannelRanges &ranges) {
  FreshNames names(model);
  GraphIndex index(model);
  Layers layers(index);
  std::vector<LayerPair> pairs;
  for (const Pair &pair : layers.pairs) {
    LinearLayer &first = layers.all.at(pair.first);
    auto known = ranges.find(pair.between);
    if (known != ranges.end() && int64_t(known->second.size()) == first.outputs)
      pairs.push_back({&first, &layers.all.at(pair.second), known->second});
  }
  int count = quantize::equalize(pairs);
  for (auto &[node, layer] : layers.all) {
    auto isScaled = [&layer = layer](const LayerPair &pair) {
      return pair.isScaled && (pair.first == &layer || pair.second == &layer);
    };
    if (llvm::none_of(pairs, isScaled))
      continue;
    // The index is rebuilt because copies of shared weights change readers.
    GraphIndex current(model);
    layer.store(current, names);
  }
  return count;
}
