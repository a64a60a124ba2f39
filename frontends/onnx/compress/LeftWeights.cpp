//===- LeftWeights.cpp - Weights that nnc does not compress ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/compress/LeftWeights.h"

#include "frontends/onnx/compress/FoldViews.h"
#include "frontends/onnx/file/Check.h"

using namespace nnc::onnx;
using namespace nnc::compression;
using llvm::StringRef;
using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

static bool isFloat(const TensorProto &tensor) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
  case TensorProto::DOUBLE:
    return true;
  default:
    return false;
  }
}

static int64_t getNumElements(const TensorProto &tensor) {
  return getProduct({tensor.dims().data(), size_t(tensor.dims_size())});
}

/// Returns true if a tensor has at least two axes longer than 1, unlike biases
/// and per-channel factors.
static bool isTable(const TensorProto &tensor) {
  return llvm::count_if(tensor.dims(), [](int64_t size) { return size > 1; }) >
         1;
}

/// Returns the words for a node in a sentence.
static std::string describe(const NodeProto &node) {
  return "node '" + getNodeName(node).str() + "' (" + node.op_type() + ")";
}

static bool hasSubgraph(const NodeProto &node) {
  return llvm::any_of(node.attribute(), [](const AttributeProto &a) {
    return a.has_g() || a.graphs_size() != 0;
  });
}

namespace {

class LeftFinder {
public:
  LeftFinder(const GraphIndex &index, const std::set<std::string> &exclude,
             std::vector<LeftSummary> &left)
      : index(index), exclude(exclude), left(left) {}
  void run();

private:
  void trace(const NodeProto &node);
  void visitOperand(const NodeProto &layer, const std::string &operand);
  void visitOther(const NodeProto &node);
  void visitBodies(const NodeProto &node, const NodeProto &outer);
  void visitBody(const GraphProto &body, const NodeProto &outer);
  void add(const std::string &name, const NodeProto &node,
           const std::string &reason);

  const GraphIndex &index;
  const std::set<std::string> &exclude;
  std::vector<LeftSummary> &left;
  /// For each value that does not depend on an input: the largest constant from
  /// which it is computed, or "" if none of these constants can be weights.
  llvm::StringMap<std::string> sources;
};

} // namespace

void LeftFinder::add(const std::string &name, const NodeProto &node,
                     const std::string &reason) {
  bool isKnown = llvm::any_of(
      left, [&](const LeftSummary &each) { return each.name == name; });
  if (isKnown)
    return;
  bool isExcluded = exclude.count(getNodeName(node).str());
  left.push_back({name, getNodeName(node).str(), node.op_type(),
                  isExcluded ? "excluded by the command line" : reason});
}

/// Records whether a node computes values that do not depend on inputs.
void LeftFinder::trace(const NodeProto &node) {
  if (hasSubgraph(node) ||
      (node.input_size() == 0 && node.op_type() != "Constant"))
    return;
  std::string source;
  int64_t most = 1;
  for (const std::string &input : node.input()) {
    if (input.empty())
      continue;
    auto computed = sources.find(input);
    const TensorProto *tensor =
        index.getConstant(computed == sources.end() ? input : computed->second);
    if (!tensor && computed == sources.end())
      return;
    if (!tensor || (!isFloat(*tensor) && !isOfBytes(*tensor)) ||
        getNumElements(*tensor) <= most)
      continue;
    most = getNumElements(*tensor);
    source = computed == sources.end() ? input : computed->second;
  }
  for (const std::string &output : node.output())
    if (!output.empty() && !index.isConstant(output))
      sources[output] = source;
}

/// Visits an operand of a layer that would be its weights if it were constant.
void LeftFinder::visitOperand(const NodeProto &layer,
                              const std::string &operand) {
  std::string value = operand;
  for (const char *op : {"DequantizeLinear", "QuantizeLinear"})
    if (int node = index.getProducer(value);
        node >= 0 && index.getNode(node).op_type() == op)
      value = index.getNode(node).input(0);
  auto computed = sources.find(value);
  if (computed == sources.end() || computed->second.empty())
    return;
  const std::string &source = computed->second;
  const NodeProto &node = index.getNode(index.getProducer(value));
  for (int number = index.getProducer(value); number >= 0;) {
    const NodeProto &behind = index.getNode(number);
    if (exclude.count(getNodeName(behind).str()))
      return add(source, behind, "");
    number = behind.input_size() ? index.getProducer(behind.input(0)) : -1;
  }
  for (int reader : index.getReaders(source))
    if (node.input(0) == source && &index.getNode(reader) != &node)
      return add(source, layer,
                 describe(index.getNode(reader)) + " reads it, too, beside " +
                     describe(node) + ", whose result the layer multiplies by");
  add(source, layer,
      describe(node) + " computes from it what the layer multiplies by; store "
                       "the result in the model, as a simplifier of ONNX "
                       "models does");
}

/// Visits constants by which a node of any other operator may multiply.
void LeftFinder::visitOther(const NodeProto &node) {
  StringRef op = node.op_type();
  if (node.domain().empty() && op != "Einsum" && op != "DeformConv" &&
      op != "Gather")
    return;
  for (const std::string &input : node.input())
    if (const TensorProto *tensor = index.getConstant(input);
        tensor && isFloat(*tensor) && isTable(*tensor))
      add(input, node,
          "nnc compresses the weights of Conv, ConvTranspose, Gemm, MatMul, "
          "LSTM, GRU and RNN");
}

void LeftFinder::visitBody(const GraphProto &body, const NodeProto &outer) {
  llvm::StringSet<> constants;
  // Views and scalings, by the names of their results.
  llvm::StringMap<const NodeProto *> producers;
  for (const TensorProto &tensor : body.initializer())
    if (isFloat(tensor) || isOfBytes(tensor))
      constants.insert(tensor.name());
  for (const NodeProto &node : body.node()) {
    for (int i = 0; i < node.input_size(); ++i) {
      if (!canBeWeights(node, i))
        continue;
      std::string value = node.input(i);
      while (const NodeProto *producer = producers.lookup(value))
        value = producer->input(0);
      auto computed = sources.find(value);
      if (computed != sources.end() && !computed->second.empty())
        value = computed->second;
      if (constants.contains(value) || index.isConstant(value))
        add(value, node,
            "a body of " + describe(outer) +
                " reads it; nnc compresses weights of the main graph alone");
    }
    if (node.op_type() == "Constant" && node.output_size() == 1)
      constants.insert(node.output(0));
    else if (node.input_size() != 0 && node.output_size() != 0 &&
             (isView(node) || node.op_type() == "DequantizeLinear" ||
              node.op_type() == "Cast"))
      producers[node.output(0)] = &node;
    visitBodies(node, outer);
  }
}

void LeftFinder::visitBodies(const NodeProto &node, const NodeProto &outer) {
  for (const AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g())
      visitBody(attribute.g(), outer);
    for (const GraphProto &body : attribute.graphs())
      visitBody(body, outer);
  }
}

void LeftFinder::run() {
  for (int number = 0; number < index.getNumNodes(); ++number) {
    const NodeProto &node = index.getNode(number);
    for (int i = 0; i < node.input_size(); ++i)
      if (canBeWeights(node, i))
        visitOperand(node, node.input(i));
    visitOther(node);
    visitBodies(node, node);
    trace(node);
  }
}

void nnc::onnx::findLeftWeights(const GraphIndex &index,
                                const std::set<std::string> &exclude,
                                std::vector<LeftSummary> &left) {
  LeftFinder(index, exclude, left).run();
}
