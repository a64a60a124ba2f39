//===- Fused.cpp - The fused operators of MXNet's oneDNN backend ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Quantizing for CPUs, and MXNet's graphs for oneDNN, replace a layer and the
// operators behind it by one operator, which has them as its subgraph. A
// quantized one still has weights that are floats: MXNet folds the batch
// normalization into them and rounds them, for each filter by itself, when it
// first runs the network. That is done here.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/convolution/Convolution.h"
#include "frontends/mxnet/matrix/Matrix.h"
#include "frontends/mxnet/qnn/Quantized.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {
namespace {
/// A fused operator and its parts.
struct Fusion {
  Layer &layer;
  const Symbol &graph;
  SmallVector<Value> inputs;        ///< what the variables stand for
  const SymbolNode *main = nullptr; ///< the layer with weights
  const SymbolNode *norm = nullptr; ///< the batch normalization, or null

  /// Returns the input of the operator that input `i` of one of its nodes is;
  /// null after an error.
  Value getOperand(const SymbolNode &node, size_t i) const;
  uint32_t getNumber(const SymbolNode &node) const {
    return uint32_t(&node - graph.nodes.data());
  }
};

/// Weights and biases of floats.
struct Weights {
  TensorData w;
  std::vector<float> factors; ///< by which each filter is multiplied, or none
  std::vector<float> bias;    ///< one for each filter, or none
};
} // namespace

/// Returns the subgraph of the node; null after an error.
static const Symbol *getGraph(Layer &layer) {
  if (layer.getNode().subgraphs.size() == 1)
    return &layer.getNode().subgraphs[0];
  layer.broken("has " + Twine(layer.getNode().subgraphs.size()) +
               " subgraphs; it needs one");
  return nullptr;
}

Value Fusion::getOperand(const SymbolNode &node, size_t i) const {
  size_t place = 0;
  if (i < node.inputs.size() && graph.nodes[node.inputs[i].node].isVariable()) {
    for (uint32_t n = 0; n < node.inputs[i].node; ++n)
      place += graph.nodes[n].isVariable();
    return inputs[place];
  }
  return layer.broken("has a subgraph in which an operand of " +
                      Twine(node.op) + " is computed");
}

/// Reads the fused operator of a graph whose layer with weights is `op`.
/// Returns nullopt after an error.
static std::optional<Fusion> readFusion(Layer &layer, StringRef op) {
  const Symbol *graph = getGraph(layer);
  if (!graph)
    return std::nullopt;
  Fusion fusion = {layer, *graph, {}};
  size_t variables = 0;
  for (const SymbolNode &node : graph->nodes) {
    variables += node.isVariable();
    if (node.op == op)
      fusion.main = &node;
    if (node.op == "BatchNorm")
      fusion.norm = &node;
  }
  if (!fusion.main || variables < 2 || layer.getNumInputs() < variables) {
    layer.broken("has " + Twine(layer.getNumInputs()) + " inputs for " +
                 Twine(variables) + " variables of a subgraph with " +
                 Twine(fusion.main ? "" : "no ") + op);
    return std::nullopt;
  }
  fusion.inputs = llvm::to_vector(layer.getInputs().take_front(variables));
  return fusion;
}

/// Returns the elements of a parameter of floats; nullopt after an error.
static std::optional<TensorData> readFloats(Layer &layer, Value value) {
  auto data = value ? TensorData::get(value) : std::nullopt;
  if (value && !data)
    layer.needsKnown(value, "weights that are quantized");
  if (data && !data->getElementType().isF32()) {
    layer.broken("has weights that are not float32");
    return std::nullopt;
  }
  return data;
}

/// Folds the batch normalization into the weights. Returns false after an
/// error.
static bool foldNorm(const Fusion &fusion, Weights &weights) {
  Layer &layer = fusion.layer;
  Layer norm(layer.getImporter(), *fusion.norm, {}, layer.getLoc());
  std::optional<TensorData> parts[4]; // scale, bias, mean, variance
  int64_t filters = weights.w.getShape()[0];
  for (int i = 0; i < 4; ++i) {
    Value part = fusion.getOperand(*fusion.norm, i + 1);
    parts[i] = readFloats(layer, part);
    if (!parts[i])
      return false;
    if (parts[i]->getNumElements() != filters) {
      layer.broken("has a batch normalization of shape " +
                   toString(getShape(part)) + " for " + Twine(filters) +
                   " filters");
      return false;
    }
  }
  auto epsilon = float(norm.getReal("eps", 1e-3));
  bool isFixed = norm.getBool("fix_gamma", true);
  weights.bias.resize(filters, 0);
  for (int64_t i = 0; i < filters; ++i) {
    auto get = [&](int part) { return parts[part]->getAs<float>()[i]; };
    float factor = (isFixed ? 1 : get(0)) / std::sqrt(get(3) + epsilon);
    weights.factors.push_back(factor);
    weights.bias[i] = get(1) + factor * (weights.bias[i] - get(2));
  }
  return !norm.hasFailed();
}

/// Returns the weights as floats that were rounded to 8 bits, each filter or
/// all of them by their largest number.
static Value roundWeights(Layer &layer, const Weights &weights, bool isByFilter,
                          StringRef name) {
  RankedTensorType type = weights.w.getType();
  ArrayRef<float> from = weights.w.getAs<float>();
  int64_t filters = type.getShape()[0],
          size = filters ? int64_t(from.size()) / filters : 0;
  auto get = [&](int64_t i, int64_t k) {
    float factor = weights.factors.empty() ? 1 : weights.factors[i];
    return from[i * size + k] * factor;
  };
  std::vector<float> largest(filters, 0);
  for (int64_t i = 0; i < filters; ++i)
    for (int64_t k = 0; k < size; ++k)
      largest[i] = std::max(largest[i], std::abs(get(i, k)));
  if (!isByFilter && filters)
    largest.assign(filters, *llvm::max_element(largest));
  qnn::Parameters parameters;
  parameters.axis = 0;
  parameters.min = -128;
  parameters.max = 127;
  IntegerType byte = layer.getBuilder().getIntegerType(8);
  TensorData to =
      TensorData::allocate(RankedTensorType::get(type.getShape(), byte));
  auto steps = float(countSteps(layer, true));
  for (int64_t i = 0; i < filters; ++i) {
    if (!std::isfinite(largest[i]))
      return layer.broken("has weights that are not finite");
    float scale = largest[i] > 0 ? steps / largest[i] : 1;
    parameters.scales.push_back(1.0 / scale);
    parameters.zeroPoints.push_back(0);
    for (int64_t k = 0; k < size; ++k)
      to.getMutable<int8_t>()[i * size + k] =
          int8_t(std::clamp(std::nearbyint(get(i, k) * scale), -128.f, 127.f));
  }
  Value q = layer.createAs<qnn::ReinterpretOp>(
      qnn::makeType(type.getShape(), byte, parameters),
      layer.constant(to.toAttribute(name)));
  return layer.createAs<qnn::DequantizeOp>(type, q);
}

/// Returns the weights and the bias of the layer as numbers; nulls after an
/// error.
static std::pair<Value, Value> makeWeights(const Fusion &fusion, bool hasBias,
                                           bool isByFilter) {
  Layer &layer = fusion.layer;
  Weights weights;
  auto w = readFloats(layer, fusion.getOperand(*fusion.main, 1));
  if (!w)
    return {};
  if (w->getShape().size() < 2)
    return {layer.broken("has weights of shape " + toString(w->getShape())),
            Value()};
  weights.w = *w;
  if (hasBias) {
    auto bias = readFloats(layer, fusion.getOperand(*fusion.main, 2));
    if (!bias)
      return {};
    if (bias->getNumElements() != w->getShape()[0])
      return {layer.broken("has a bias of shape " + toString(bias->getShape()) +
                           " for " + Twine(w->getShape()[0]) + " filters"),
              Value()};
    weights.bias = std::vector<float>(bias->getAs<float>());
  }
  if (fusion.norm && !foldNorm(fusion, weights))
    return {};
  Value rounded =
      roundWeights(layer, weights, isByFilter, layer.getNode().name);
  if (weights.bias.empty())
    return {rounded, Value()};
  auto type =
      RankedTensorType::get({int64_t(weights.bias.size())}, layer.getF32());
  TensorData bias = TensorData::allocate(type);
  llvm::copy(weights.bias, bias.getMutable<float>());
  return {rounded,
          layer.constant(bias.toAttribute(layer.getNode().name + "_bias"))};
}

/// Returns whether the results of a fused operator are uint8: where the
/// operator behind all others gives no negative numbers.
static bool givesUnsigned(const Fusion &fusion) {
  const SymbolNode &last = fusion.graph.nodes[fusion.graph.heads[0].node];
  Layer act(fusion.layer.getImporter(), last, {}, fusion.layer.getLoc());
  if (last.op == "Activation") {
    StringRef kind = act.getText("act_type");
    return kind == "relu" || kind == "sigmoid" || kind == "softrelu";
  }
  if (last.op == "clip")
    return act.getReal("a_min", -1) == 0;
  return last.op == "abs" || last.op == "exp" || last.op == "square" ||
         last.op == "sqrt";
}

/// Imports the operators behind the node `before`, whose result is `y`, and
/// gives the results of the quantized operator.
static Value finish(const Fusion &fusion, const SymbolNode &before, Value y) {
  Layer &layer = fusion.layer;
  SmallVector<Value> results;
  if (!y || !layer.getImporter().importSubgraph(
                layer, fusion.graph, fusion.inputs, results,
                {{fusion.getNumber(before), y}}))
    return {};
  if (results.size() != 1)
    return layer.broken("has a subgraph of " + Twine(results.size()) +
                        " results");
  if (layer.getBool("enable_float_output", false))
    return results[0];
  if (auto range = readCalibrated(layer)) {
    bool isSigned = !givesUnsigned(fusion);
    if (!isSigned)
      *range = {0, range->getLargest()};
    return quantize(layer, results[0], *range, isSigned);
  }
  return giveNumbers(layer, results[0]);
}

/// Imports a fused operator of floats.
static Value importFloat(Layer &layer) {
  const Symbol *graph = getGraph(layer);
  SmallVector<Value> results;
  if (!graph || !layer.getImporter().importSubgraph(layer, *graph,
                                                    layer.getInputs(), results))
    return {};
  for (auto [i, result] : llvm::enumerate(results))
    layer.setResult(i, result);
  return results[0];
}

/// Converts _sg_mkldnn_conv: a convolution, batch normalization, a sum with
/// another tensor and activations. The inputs of a quantized one are those of
/// the subgraph, of which the last may be the other tensor, and the ranges of
/// the data and of that tensor.
Value convertFusedConv(Layer &layer) {
  if (!layer.getBool("quantized", false))
    return importFloat(layer);
  auto fusion = readFusion(layer, "Convolution");
  if (!fusion)
    return {};
  size_t variables = fusion->inputs.size();
  bool hasSum = layer.getBool("with_sum", false);
  if (layer.getNumInputs() != variables + (hasSum ? 4 : 2))
    return layer.unsupported("has " + Twine(layer.getNumInputs()) +
                             " inputs for a subgraph of " + Twine(variables) +
                             " variables");
  fusion->inputs[0] = asNumbers(layer, fusion->inputs[0], variables);
  if (hasSum)
    fusion->inputs.back() =
        asNumbers(layer, fusion->inputs.back(), variables + 2);
  Layer conv(layer.getImporter(), *fusion->main, {}, layer.getLoc());
  auto [w, bias] = makeWeights(*fusion, !conv.getBool("no_bias", false),
                               layer.getBool("weight_channelwise_scale", true));
  if (!w || !fusion->inputs[0] || conv.hasFailed())
    return {};
  Value y = convolve(conv, fusion->inputs[0], w, bias);
  return finish(*fusion, fusion->norm ? *fusion->norm : *fusion->main, y);
}

/// Converts _sg_mkldnn_fully_connected: a fully connected layer and an
/// elementwise operator. The weights of a quantized one are integers with a
/// range each, or floats with `channel_wise_quantize`.
Value convertFusedFullyConnected(Layer &layer) {
  if (!layer.getBool("quantized", false))
    return importFloat(layer);
  auto fusion = readFusion(layer, "FullyConnected");
  if (!fusion)
    return {};
  Layer main(layer.getImporter(), *fusion->main, {}, layer.getLoc());
  bool hasBias = !main.getBool("no_bias", false),
       isByFilter = layer.getBool("channel_wise_quantize", false);
  size_t variables = fusion->inputs.size();
  if (variables != (hasBias ? 3 : 2) ||
      layer.getNumInputs() != (isByFilter ? variables + 2 : 3 * variables))
    return layer.unsupported("has " + Twine(layer.getNumInputs()) +
                             " inputs for a subgraph of " + Twine(variables) +
                             " variables");
  Value x = asNumbers(layer, fusion->inputs[0], variables), w, bias;
  if (isByFilter) {
    std::tie(w, bias) = makeWeights(*fusion, hasBias, true);
  } else {
    w = asNumbers(layer, fusion->inputs[1], variables + 2);
    if (hasBias)
      bias = asNumbers(layer, fusion->inputs[2], variables + 4);
  }
  if (!x || !w || (hasBias && !bias) || main.hasFailed())
    return {};
  return finish(*fusion, *fusion->main, connect(main, x, w, bias));
}

} // namespace nnc::mxnet
