//===- BiasCorrection.cpp - Biases that compensate weight errors ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/BiasCorrection.h"

#include "compiler/patterns/Constants.h"
#include "compiler/quantize/LinearLayers.h"
#include "compiler/quantize/Results.h"
#include "dialects/nn/attributes/ModelName.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::quantize;

static std::vector<float> getConstantFloats(Value constant) {
  TensorData data = *TensorData::get(constant);
  ArrayRef<float> floats = data.getAs<float>();
  return {floats.begin(), floats.end()};
}

Value quantize::getBias(const PlannedLayer &layer) {
  Value sums = layer.op->getResult(0);
  return layer.biasAdd->getOperand(0) == sums ? layer.biasAdd->getOperand(1)
                                              : layer.biasAdd->getOperand(0);
}

std::vector<float> quantize::getChannelBiases(const PlannedLayer &layer) {
  if (!layer.biasAdd || layer.weights != 1)
    return {};
  std::vector<float> biases = getConstantFloats(getBias(layer));
  auto anchor = cast<nn::RoutineOpInterface>(layer.op);
  auto type = cast<RankedTensorType>(layer.op->getResult(0).getType());
  int64_t channels = type.getDimSize(unsigned(*anchor.getChannelAxis()));
  return int64_t(biases.size()) == channels ? biases : std::vector<float>();
}

std::vector<int>
quantize::quantizePlanned(const Plan &plan,
                          const DenseMap<Value, Parameters> &scales,
                          const quantize::WeightPrecision &precision,
                          std::vector<PlannedWeights> &all) {
  std::vector<int> entries;
  DenseMap<std::pair<Value, int64_t>, int> known;
  for (const PlannedLayer &layer : plan.layers) {
    entries.push_back(-1);
    if (layer.weights < 0)
      continue;
    Value floats = layer.op->getOperand(layer.weights);
    int64_t axis = precision.perChannel ? layer.axis : -1;
    auto [entry, isNew] = known.try_emplace({floats, axis}, all.size());
    entries.back() = entry->second;
    if (isNew) {
      auto dims = cast<RankedTensorType>(floats.getType()).getShape().vec();
      ChannelShape shape = ChannelShape::get(dims, axis);
      all.push_back({floats, axis, shape, std::vector<double>(shape.channels)});
    }
    std::vector<float> biases = getChannelBiases(layer);
    if (biases.empty())
      continue;
    std::vector<double> &least = all[entries.back()].leastScales;
    std::vector<double> more = getLeastScales(
        biases, int64_t(least.size()), scales.at(layer.inputs.front()).scale);
    for (auto [own, other] : llvm::zip(least, more))
      own = std::max(own, other);
  }
  for (PlannedWeights &each : all)
    each.quantized =
        quantize::quantizeWeights(getConstantFloats(each.floats), each.shape,
                                  each.leastScales, precision.getLargest());
  return entries;
}

OwningOpRef<ModuleOp>
quantize::makeWeightErrors(ModuleOp module, const Plan &plan,
                           const DenseMap<Value, Parameters> &scales,
                           const quantize::WeightPrecision &precision,
                           std::vector<WeightError> &errors) {
  std::vector<PlannedWeights> weights;
  std::vector<int> entries = quantizePlanned(plan, scales, precision, weights);
  IRMapping mapping;
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone(mapping));
  auto main = copy->lookupSymbol<func::FuncOp>("main");
  OpBuilder builder(main.getBody().front().getTerminator());
  SmallVector<Value> values;
  std::vector<std::string> names;
  for (auto [layer, entry] : llvm::zip(plan.layers, entries)) {
    auto known = LinearLayer::get(layer.op);
    if (layer.weights != 1 || !known || !known->biasAdd)
      continue;
    const PlannedWeights &own = weights[entry];
    std::vector<float> reals = own.quantized.getReals(own.shape);
    auto data =
        TensorData::allocate(cast<RankedTensorType>(own.floats.getType()));
    for (size_t i = 0; i < reals.size(); ++i)
      data.getMutable<float>()[i] = reals[i] - known->weights[i];
    IRMapping changes = mapping;
    changes.map(own.floats, createConstant(builder, layer.op->getLoc(), data,
                                           "weight_error"));
    values.push_back(builder.clone(*layer.op, changes)->getResult(0));
    names.push_back("nnc.error." + std::to_string(names.size()));
    auto anchor = cast<nn::RoutineOpInterface>(layer.op);
    errors.push_back({layer.op, names.back(), *anchor.getChannelAxis()});
  }
  addResults(main, values, names);
  return copy;
}

void quantize::giveBiases(const Plan &plan) {
  for (const PlannedLayer &planned : plan.layers)
    if (auto layer = LinearLayer::get(planned.op);
        layer && planned.weights == 1) {
      layer->bias.resize(layer->outputs);
      layer->store();
    }
}

/// Returns the constant that is the bias of a layer.
static nn::ConstantOp getBiasConstant(Operation *layer) {
  return LinearLayer::get(layer)->getBias().getDefiningOp<nn::ConstantOp>();
}

ElementsAttr quantize::correctBias(Operation *op,
                                   const std::vector<double> &means) {
  auto constant = getBiasConstant(op);
  ElementsAttr before = constant.getValue();
  TensorData own = *TensorData::get(before);
  auto data = TensorData::allocate(cast<RankedTensorType>(before.getType()));
  for (size_t c = 0; c < means.size(); ++c)
    data.getMutable<float>()[c] =
        own.getAs<float>()[c] - static_cast<float>(means[c]);
  setBias(op,
          data.toAttribute(nn::getModelName(constant.getLoc(), "corrected")));
  return before;
}

void quantize::setBias(Operation *layer, ElementsAttr bias) {
  getBiasConstant(layer).setValueAttr(bias);
}

void ChannelMeans::add(const ChannelShape &shape, ArrayRef<float> values) {
  sums.resize(shape.channels);
  for (size_t e = 0; e < values.size(); ++e)
    sums[shape.getChannel(int64_t(e))] += values[e];
  count += double(values.size()) / double(shape.channels);
}

std::vector<double> ChannelMeans::get() const {
  std::vector<double> means = sums;
  for (double &mean : means)
    mean /= std::max(count, 1.0);
  return means;
}
