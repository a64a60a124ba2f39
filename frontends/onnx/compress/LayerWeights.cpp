//===- LayerWeights.cpp - The constants that layers multiply by -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/compress/LayerWeights.h"

#include "frontends/onnx/file/Check.h"

using namespace nnc::onnx;
using namespace nnc::compression;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

static std::vector<int64_t> getDims(const TensorProto &tensor) {
  return {tensor.dims().begin(), tensor.dims().end()};
}

std::vector<float> LayerWeights::getMatrix(const TensorProto &tensor) const {
  if (!scales)
    return form.toMatrix(getFloats(tensor));
  std::vector<float> values;
  for (int integer : getIntegers(tensor))
    values.push_back(static_cast<float>(integer - scales->zeroPoint));
  return form.toMatrix(values);
}

std::vector<float> LayerWeights::getScaleMatrix() const {
  if (!scales)
    return {};
  return form.toMatrix(scales->getElementScales());
}

void LayerWeights::store(llvm::ArrayRef<float> matrix,
                         TensorProto &tensor) const {
  std::vector<float> values = form.fromMatrix(matrix);
  if (!scales)
    return setFloats(tensor, values);
  std::vector<int> integers;
  integers.reserve(values.size());
  for (float value : values)
    integers.push_back(static_cast<int>(value) + scales->zeroPoint);
  setIntegers(tensor, integers);
}

namespace {

class WeightFinder {
public:
  WeightFinder(const GraphIndex &index, const std::set<std::string> &exclude,
               std::vector<LeftSummary> &left)
      : index(index), exclude(exclude), left(left) {}

  std::vector<LayerWeights> run();

private:
  bool is(int node, const char *op) const {
    return node >= 0 && index.getNode(node).op_type() == op &&
           index.getNode(node).domain().empty();
  }
  void visit(const NodeProto &layer, int operand);
  /// The functions below return the reason why the constant is not compressed,
  /// or "".
  std::string addUses(const std::string &value, int dequantize);
  std::string addScales(int node, int operand);
  std::string addReader(int node, int operand, int dequantize);
  std::string checkElements(bool &isFinite) const;

  const GraphIndex &index;
  const std::set<std::string> &exclude;
  std::vector<LeftSummary> &left;
  std::vector<LayerWeights> weights;
  llvm::StringSet<> seen;
  /// The current constant, its known properties, and the node from which its
  /// scales were read.
  const TensorProto *tensor = nullptr;
  LayerWeights *current = nullptr;
  int scaledBy = -1;
};

} // namespace

std::string WeightFinder::addScales(int node, int operand) {
  if (!isOfBytes(*tensor))
    return "";
  WeightScales scales;
  std::string reason =
      readScales(index, index.getNode(node), operand, getDims(*tensor), scales);
  if (!reason.empty())
    return reason;
  if (current->scales && !(*current->scales == scales))
    return "nodes '" + getNodeName(index.getNode(scaledBy)).str() + "' and '" +
           getNodeName(index.getNode(node)).str() +
           "' read it with different scales or zero points";
  current->scales = std::move(scales);
  scaledBy = node;
  return "";
}

/// Adds the use of the constant, or of the result of the node `dequantize`, by
/// a node.
std::string WeightFinder::addReader(int number, int operand, int dequantize) {
  const NodeProto &node = index.getNode(number);
  if (dequantize < 0 && operand == 0 && is(number, "DequantizeLinear")) {
    std::string reason = addUses(node.output(0), number);
    return reason.empty() ? addScales(number, operand) : reason;
  }
  if (!getMatrixForm(node, operand, getDims(*tensor)))
    return "node '" + getNodeName(node).str() + "' (" + node.op_type() +
           ") reads it, too, as something else than weights";
  current->uses.push_back({number, operand, dequantize});
  return dequantize < 0 ? addScales(number, operand) : "";
}

std::string WeightFinder::addUses(const std::string &value, int dequantize) {
  for (int number : index.getReaders(value)) {
    const NodeProto &node = index.getNode(number);
    for (int i = 0; i < node.input_size(); ++i)
      if (node.input(i) == value)
        if (std::string reason = addReader(number, i, dequantize);
            !reason.empty())
          return reason;
    if (exclude.count(getNodeName(node).str()))
      return "excluded by the command line";
  }
  if (index.isOutput(value) || index.isCaptured(value))
    return "an output or a branch of the model reads it, too";
  return "";
}

std::string WeightFinder::checkElements(bool &isFinite) const {
  if (tensor->data_type() == TensorProto::FLOAT) {
    isFinite = nnc::stored::areFinite(getFloats(*tensor));
    return isFinite ? "" : "holds values that are not finite";
  }
  if (isOfBytes(*tensor))
    return "";
  auto type = static_cast<TensorProto::DataType>(tensor->data_type());
  bool isOtherFloat = type == TensorProto::FLOAT16 ||
                      type == TensorProto::BFLOAT16 ||
                      type == TensorProto::DOUBLE;
  return "has elements of type " + TensorProto::DataType_Name(type) +
         ", neither 32-bit floats nor integers of 8 bits" +
         (isOtherFloat ? "; convert the model to 32-bit floats before" : "");
}

/// Visits an operand of a layer and finds all uses of the constant that it is
/// or is dequantized from.
void WeightFinder::visit(const NodeProto &layer, int operand) {
  std::string name = layer.input(operand);
  int dequantize = index.getProducer(name);
  if (is(dequantize, "DequantizeLinear"))
    name = index.getNode(dequantize).input(0);
  int quantize = index.getProducer(name);
  bool isQuantized = is(quantize, "QuantizeLinear");
  if (isQuantized)
    name = index.getNode(quantize).input(0);
  tensor = index.getConstant(name);
  auto form =
      tensor ? getMatrixForm(layer, operand, getDims(*tensor)) : std::nullopt;
  if (!form || !seen.insert(name).second)
    return;
  LayerWeights found{name, {}, *form, std::nullopt};
  current = &found;
  bool isFinite = true;
  std::string reason;
  if (isQuantized)
    reason = "node '" + getNodeName(index.getNode(quantize)).str() +
             "' (QuantizeLinear) makes integers of it when the model runs; "
             "store these instead";
  if (reason.empty())
    reason = addUses(name, -1);
  if (reason.empty())
    reason = checkElements(isFinite);
  if (reason.empty())
    weights.push_back(std::move(found));
  else
    left.push_back(
        {name, getNodeName(layer).str(), layer.op_type(), reason, isFinite});
}

std::vector<LayerWeights> WeightFinder::run() {
  for (int number = 0; number < index.getNumNodes(); ++number) {
    const NodeProto &node = index.getNode(number);
    for (int i = 0; i < node.input_size(); ++i)
      visit(node, i);
  }
  return std::move(weights);
}

std::vector<LayerWeights>
nnc::onnx::findWeights(const GraphIndex &index,
                       const std::set<std::string> &exclude,
                       std::vector<LeftSummary> &left) {
  return WeightFinder(index, exclude, left).run();
}
