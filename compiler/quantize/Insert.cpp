//===- Insert.cpp - Quantizations around the layers of a plan -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/Insert.h"

#include "compiler/patterns/Constants.h"
#include "compiler/quantize/BiasCorrection.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/qnn/Qnn.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::quantize;

namespace {

/// Weights that one or several layers share, with their integers in the IR.
struct StoredWeights : PlannedWeights {
  Value integers = {};    ///< with their quantized type; null until created
  Value dequantized = {}; ///< null until created
};

class Inserter {
public:
  Inserter(const Plan &plan, const DenseMap<Value, Parameters> &scales,
           const quantize::WeightPrecision &precision)
      : plan(plan), scales(scales), precision(precision),
        builder(plan.layers.front().op->getContext()) {}
  void run();

private:
  Value storeIntegers(Value like, const TensorData &integers,
                      const qnn::Parameters &parameters);
  Value getIntegers(StoredWeights &weights);
  Value dequantize(Value quantized);
  void quantizeBias(const PlannedLayer &layer);
  void readTable(const PlannedLayer &layer);
  void quantizeWeights(const PlannedLayer &layer);
  void quantizeValue(Value value, bool byLayer);

  const Plan &plan;
  const DenseMap<Value, Parameters> &scales;
  quantize::WeightPrecision precision;
  OpBuilder builder;
  std::vector<StoredWeights> weights;
  /// For each layer the index of its entry in `weights`, or -1.
  std::vector<int> entries;
};

} // namespace

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Creates a constant of integers with a quantized type, which replaces the
/// constant `like`.
Value Inserter::storeIntegers(Value like, const TensorData &integers,
                              const qnn::Parameters &parameters) {
  StringRef name = nn::getModelName(like.getLoc(), "quantized");
  Value constant = createConstant(builder, like.getLoc(), integers, name);
  auto storage = cast<IntegerType>(integers.getElementType());
  return builder.create<qnn::ReinterpretOp>(
      like.getLoc(), qnn::makeType(getShape(like), storage, parameters),
      constant);
}

Value Inserter::dequantize(Value quantized) {
  return builder.create<qnn::DequantizeOp>(
      quantized.getLoc(),
      RankedTensorType::get(getShape(quantized), builder.getF32Type()),
      quantized);
}

/// Returns parameters without zero points.
static qnn::Parameters makeSymmetric(ArrayRef<float> scales, int64_t axis,
                                     double min, double max) {
  qnn::Parameters parameters;
  parameters.scales.assign(scales.begin(), scales.end());
  parameters.zeroPoints.assign(scales.size(), 0);
  parameters.axis = scales.size() > 1 ? axis : -1;
  parameters.min = int64_t(min);
  parameters.max = int64_t(max);
  return parameters;
}

Value Inserter::getIntegers(StoredWeights &own) {
  if (own.integers)
    return own.integers;
  builder.setInsertionPointAfter(own.floats.getDefiningOp());
  auto data = TensorData::allocate(
      RankedTensorType::get(getShape(own.floats), builder.getI8Type()));
  llvm::copy(own.quantized.values, data.getMutable<int8_t>());
  own.integers = storeIntegers(
      own.floats, data,
      makeSymmetric(own.quantized.scales, own.axis, INT8_MIN, INT8_MAX));
  return own.integers;
}

void Inserter::quantizeBias(const PlannedLayer &layer) {
  std::vector<float> biases = getChannelBiases(layer);
  if (biases.empty())
    return;
  Value bias = getBias(layer);
  const StoredWeights &own = weights[entries[&layer - plan.layers.data()]];
  std::vector<float> scale =
      getBiasScales(own.quantized.scales, scales.at(layer.inputs.front()).scale,
                    int64_t(biases.size()));
  std::vector<int32_t> values = quantizeBiases(biases, scale);
  // The axis of the constant whose size is the number of channels. If several
  // axes have that size, which is 1 then, any of them will do.
  int64_t axis = llvm::find(getShape(bias), int64_t(biases.size())) -
                 getShape(bias).begin();
  builder.setInsertionPoint(layer.biasAdd);
  auto data = TensorData::allocate(
      RankedTensorType::get(getShape(bias), builder.getI32Type()));
  llvm::copy(values, data.getMutable<int32_t>());
  Value quantized = storeIntegers(
      bias, data, makeSymmetric(scale, axis, INT32_MIN, INT32_MAX));
  layer.biasAdd->replaceUsesOfWith(bias, dequantize(quantized));
}

/// Makes a gather read rows of integers, and dequantizes its result. The
/// elements of a row lie along the last axis of both.
void Inserter::readTable(const PlannedLayer &layer) {
  StoredWeights &own = weights[entries[&layer - plan.layers.data()]];
  auto table = getIntegers(own).getDefiningOp<qnn::ReinterpretOp>();
  builder.setInsertionPoint(layer.op);
  Operation *rows = builder.clone(*layer.op);
  rows->setOperand(0, table.getX());
  ArrayRef<int64_t> shape = getShape(layer.output);
  rows->getResult(0).setType(RankedTensorType::get(shape, builder.getI8Type()));
  qnn::Parameters parameters = qnn::getParameters(table.getType());
  if (parameters.axis >= 0)
    parameters.axis = int64_t(shape.size()) - 1;
  Value quantized = builder.create<qnn::ReinterpretOp>(
      layer.op->getLoc(), qnn::makeType(shape, builder.getI8Type(), parameters),
      rows->getResult(0));
  layer.op->getResult(0).replaceAllUsesWith(dequantize(quantized));
  layer.op->erase();
}

void Inserter::quantizeWeights(const PlannedLayer &layer) {
  StoredWeights &own = weights[entries[&layer - plan.layers.data()]];
  Value integers = getIntegers(own);
  if (!own.dequantized) {
    builder.setInsertionPointAfter(integers.getDefiningOp());
    own.dequantized = dequantize(integers);
  }
  layer.op->setOperand(layer.weights, own.dequantized);
}

/// Adds a quantization and a dequantization behind a value. Quantized layers
/// read the dequantized value; if a quantized layer computes the value
/// (`byLayer`), all other readers do, too.
void Inserter::quantizeValue(Value value, bool byLayer) {
  builder.setInsertionPointAfterValue(value);
  const Parameters &own = scales.at(value);
  bool isSigned = own.storage == Storage::s8;
  auto storage = isSigned ? builder.getI8Type()
                          : builder.getIntegerType(8, /*isSigned=*/false);
  Value quantized = builder.create<qnn::QuantizeOp>(
      value.getLoc(),
      qnn::makeType(getShape(value), storage, double(own.scale),
                    int64_t(own.zeroPoint), /*axis=*/-1),
      qnn::Rounding::half_even, value);
  Value again = dequantize(quantized);
  if (byLayer) {
    value.replaceAllUsesExcept(again, quantized.getDefiningOp());
    return;
  }
  for (const PlannedLayer &layer : plan.layers)
    if (llvm::is_contained(layer.inputs, value))
      for (OpOperand &operand : layer.op->getOpOperands())
        if (operand.get() == value)
          operand.set(again);
}

void Inserter::run() {
  std::vector<PlannedWeights> planned;
  entries = quantizePlanned(plan, scales, precision, planned);
  for (PlannedWeights &each : planned)
    weights.push_back({std::move(each)});
  // Biases and weights come first, while the inputs of layers still are those
  // of the plan.
  for (const PlannedLayer &layer : plan.layers) {
    if (layer.kind == Kind::table || layer.weights < 0)
      continue;
    quantizeBias(layer);
    quantizeWeights(layer);
  }
  for (const auto &[value, byLayer] : plan.values)
    if (!plan.unrounded.contains(value))
      quantizeValue(value, byLayer);
  for (const PlannedLayer &layer : plan.layers)
    if (layer.kind == Kind::table)
      readTable(layer);
  for (StoredWeights &own : weights)
    if (own.floats.use_empty())
      own.floats.getDefiningOp()->erase();
}

void quantize::insertQuantizations(const Plan &plan,
                                   const DenseMap<Value, Parameters> &scales,
                                   const quantize::WeightPrecision &precision) {
  if (!plan.layers.empty())
    Inserter(plan, scales, precision).run();
}
