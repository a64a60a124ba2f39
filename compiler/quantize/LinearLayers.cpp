//===- LinearLayers.cpp - Layers of a module that can be edited -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/LinearLayers.h"

#include "compiler/patterns/Constants.h"
#include "compiler/quantize/Equalize.h"
#include "compiler/quantize/LayerRules.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/qnn/Ranges.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::quantize;

/// Sets the kind and the sizes of the weights of the layer's op. Returns false
/// if the op or its weights are not of the supported kinds.
static bool setShape(LinearLayer &layer, ArrayRef<int64_t> dims) {
  using Kind = LinearWeights::Kind;
  if (auto conv = dyn_cast<nn::ConvOp>(layer.op))
    return layer.setShape(Kind::conv, dims.vec(), int64_t(conv.getGroups()));
  if (auto conv = dyn_cast<nn::ConvTransposeOp>(layer.op))
    return layer.setShape(Kind::convTranspose, dims.vec(),
                          int64_t(conv.getGroups()));
  if (auto matmul = dyn_cast<nn::MatMulOp>(layer.op))
    return layer.setShape(matmul.getTransposeB() ? Kind::outputsFirst
                                                 : Kind::inputsFirst,
                          dims.vec());
  return false;
}

/// Returns the operand of an nn.add behind a layer that is not the layer's
/// result.
static OpOperand &getBiasOperand(Operation *add, Operation *layer) {
  return add->getOpOperand(add->getOperand(0) == layer->getResult(0) ? 1 : 0);
}

std::optional<quantize::LinearLayer> quantize::LinearLayer::get(Operation *op) {
  if (!isa<nn::ConvOp, nn::ConvTransposeOp, nn::MatMulOp>(op))
    return std::nullopt;
  auto weights = TensorData::get(op->getOperand(1));
  LinearLayer layer;
  layer.op = op;
  if (!weights || !weights->getElementType().isF32() ||
      weights->getNumElements() == 0 || !::setShape(layer, weights->getShape()))
    return std::nullopt;
  llvm::append_range(layer.weights, weights->getAs<float>());
  Value sums = op->getResult(0);
  Operation *reader = sums.hasOneUse() ? *sums.user_begin() : nullptr;
  if (!reader || !isBiasAdd(reader, op, sums))
    return layer;
  layer.biasAdd = reader;
  auto axis = *cast<nn::RoutineOpInterface>(op).getChannelAxis();
  SmallVector<double> bias =
      *getChannelValues(getBiasOperand(reader, op).get(),
                        cast<RankedTensorType>(sums.getType()), axis);
  bias.resize(layer.outputs, bias.front());
  layer.bias.assign(bias.begin(), bias.end());
  return layer;
}

Value quantize::LinearLayer::getBias() const {
  return getBiasOperand(biasAdd, op).get();
}

Value quantize::LinearLayer::getResult() const {
  return (biasAdd ? biasAdd : op)->getResult(0);
}

static void eraseUnused(Value constant) {
  if (constant.use_empty())
    constant.getDefiningOp()->erase();
}

Value quantize::LinearLayer::store() {
  OpBuilder builder(op);
  Value own = op->getOperand(1);
  auto data = TensorData::allocate(cast<RankedTensorType>(own.getType()));
  llvm::copy(weights, data.getMutable<float>());
  op->setOperand(1, createConstant(builder, own.getLoc(), data,
                                   nn::getModelName(own.getLoc(), "scaled")));
  eraseUnused(own);
  if (bias.empty())
    return getResult();
  Value sums = op->getResult(0);
  auto axis = *cast<nn::RoutineOpInterface>(op).getChannelAxis();
  SmallVector<double> values(bias.begin(), bias.end());
  if (biasAdd) {
    OpOperand &operand = getBiasOperand(biasAdd, op);
    Value before = operand.get();
    builder.setInsertionPoint(biasAdd);
    operand.set(createChannelConstant(builder, before.getLoc(),
                                      cast<RankedTensorType>(sums.getType()),
                                      axis, values));
    eraseUnused(before);
    return getResult();
  }
  builder.setInsertionPointAfter(op);
  Value constant = createChannelConstant(builder, op->getLoc(),
                                         cast<RankedTensorType>(sums.getType()),
                                         axis, values);
  biasAdd = builder.create<nn::AddOp>(op->getLoc(), sums, constant);
  sums.replaceAllUsesExcept(biasAdd->getResult(0), biasAdd);
  return getResult();
}

//===----------------------------------------------------------------------===//
// Equalization
//===----------------------------------------------------------------------===//

namespace {
/// The layers of a function, and the pairs of which the second is the only
/// reader of the first's result.
struct Layers {
  struct Pair {
    size_t first, second; ///< numbers of layers
    size_t value;         ///< number of the value that the second reads
  };
  std::vector<quantize::LinearLayer> all;
  std::vector<Pair> pairs;

  explicit Layers(func::FuncOp function) {
    DenseMap<Operation *, size_t> numbers;
    DenseMap<Value, size_t> values;
    for (auto [number, value] : llvm::enumerate(qnn::listValues(function)))
      values[value] = number;
    for (Operation &op : function.getBody().front())
      if (auto layer = quantize::LinearLayer::get(&op)) {
        numbers[&op] = all.size();
        all.push_back(std::move(*layer));
      }
    for (const quantize::LinearLayer &first : all) {
      Value value = first.getResult();
      Operation *reader = getReader(value);
      if (isa_and_nonnull<nn::ReluOp>(reader)) {
        value = reader->getResult(0);
        reader = getReader(value);
      }
      auto found = numbers.find(reader);
      if (found == numbers.end() || reader->getOperand(0) != value ||
          !hasPlainChannels(reader))
        continue;
      const quantize::LinearLayer &second = all[found->second];
      if (second.inputs == first.outputs &&
          first.isConvolution() == second.isConvolution())
        pairs.push_back(
            {size_t(&first - all.data()), found->second, values.at(value)});
    }
  }

private:
  static Operation *getReader(Value value) {
    return value.hasOneUse() ? *value.user_begin() : nullptr;
  }
  /// Returns true if the channels of the first operand lie along the axis on
  /// which the result of a layer has its channels.
  static bool hasPlainChannels(Operation *op) {
    auto matmul = dyn_cast<nn::MatMulOp>(op);
    return !matmul || !matmul.getTransposeA();
  }
};
} // namespace

std::vector<EqualizableValue> quantize::findEqualizable(func::FuncOp function) {
  std::vector<EqualizableValue> values;
  Layers layers(function);
  for (const Layers::Pair &pair : layers.pairs) {
    const quantize::LinearLayer &first = layers.all[pair.first];
    auto anchor = cast<nn::RoutineOpInterface>(first.op);
    values.push_back({pair.value, *anchor.getChannelAxis()});
  }
  return values;
}

int quantize::equalizeLayers(func::FuncOp function,
                             const ValueChannels &ranges) {
  if (ranges.empty())
    return 0;
  Layers layers(function);
  std::vector<LayerPair> pairs;
  for (const Layers::Pair &pair : layers.pairs) {
    quantize::LinearLayer &first = layers.all[pair.first];
    auto known = ranges.find(pair.value);
    if (known != ranges.end() && int64_t(known->second.size()) == first.outputs)
      pairs.push_back({&first, &layers.all[pair.second], known->second});
  }
  int count = equalize(pairs);
  for (quantize::LinearLayer &layer : layers.all)
    if (llvm::any_of(pairs, [&](const LayerPair &pair) {
          return pair.isScaled &&
                 (pair.first == &layer || pair.second == &layer);
        }))
      layer.store();
  return count;
}
