//===- Recurrent.cpp - LSTM and RNN ---------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Caffe's recurrent layers read, beside their sequences, for each step of each
// sequence a number by which the state before it is multiplied: 0 where a new
// sequence begins. As that is data, the steps are imported one by one.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::caffe {

/// The most steps that are imported.
static constexpr int64_t kMaxSteps = 256;

namespace {
/// A recurrent layer while it is imported.
class Cells {
public:
  explicit Cells(Layer &layer) : layer(layer) {}

  /// Reads the shapes and the products of all inputs and their weights, for
  /// `gates` gates. `states` is the number of states. Returns false after an
  /// error.
  bool begin(int64_t gates, size_t states);
  /// Returns the sums of step `t` from the inputs: sequences x (gates * units).
  Value getSums(int64_t t) { return layer.take(sums, 0, t); }
  /// Returns a state, sequences x units, times the numbers of step `t`.
  Value continued(Value state, int64_t t) {
    return layer.createElementwise("mul", {state, layer.take(marks, 0, t)});
  }
  Value product(Value x, Value weights) {
    return layer.create<nn::MatMulOp>(x, weights, /*transpose_a=*/false,
                                      /*transpose_b=*/true, TypeAttr());
  }
  /// Sets the tops: the outputs of all steps, then the last states.
  Value finish(ArrayRef<Value> outputs, ArrayRef<Value> last);

  Layer &layer;
  int64_t steps = 0, sequences = 0, units = 0;
  SmallVector<Value, 2> states;
  size_t nextBlob = 2;

private:
  Value sums, marks;
  bool exposes = false;
};
} // namespace

bool Cells::begin(int64_t gates, size_t count) {
  const schema::RecurrentParameter &param = layer.getParam().recurrent_param();
  Value x = layer.getBottom(0), cont = layer.getBottom(1);
  units = param.num_output();
  exposes = param.expose_hidden();
  size_t bottoms = layer.getNumBottoms(), hidden = exposes ? count : 0;
  ArrayRef<int64_t> shape = getShape(x);
  bool hasStatic = bottoms == 3 + hidden;
  if (shape.size() < 2 || units < 1 || units > kMaxDim ||
      (bottoms != 2 + hidden && !hasStatic) ||
      getShape(cont) != shape.take_front(2)) {
    layer.broken("has num_output " + Twine(units) + ", " + Twine(bottoms) +
                 " bottoms, and the first two of shapes " + toString(shape) +
                 " and " + toString(getShape(cont)) +
                 "; it needs steps x sequences x inputs and steps x sequences");
    return false;
  }
  steps = shape[0];
  sequences = shape[1];
  if (steps < 1 || steps > kMaxSteps) {
    layer.unsupported("has " + Twine(steps) + " steps; nnc handles 1 to " +
                      Twine(kMaxSteps));
    return false;
  }
  int64_t inputs = frontends::product(shape.drop_front(2)),
          rows = gates * units;
  Value flat = layer.reshape(x, {steps * sequences, inputs});
  sums = product(flat, layer.getBlob(0, {rows, inputs}, "weights of inputs"));
  sums = layer.createElementwise("add", {sums, layer.getBlob(1, rows, "bias")});
  sums = sums ? layer.reshape(sums, {steps, sequences, rows}) : Value();
  if (hasStatic) {
    Value fixed = layer.getBottom(2);
    if (getRank(fixed) < 1 || getShape(fixed)[0] != sequences) {
      layer.broken("has a third bottom of shape " + toString(getShape(fixed)) +
                   " for " + Twine(sequences) + " sequences");
      return false;
    }
    int64_t length = frontends::product(getShape(fixed).drop_front());
    Value more = product(layer.reshape(fixed, {sequences, length}),
                         layer.getBlob(nextBlob++, {rows, length},
                                       "weights of the static input"));
    sums = layer.createElementwise("add", {sums, more});
  }
  marks = layer.reshape(cont, {steps, sequences, 1});
  for (size_t i = 0; i < count; ++i) {
    SmallVector<int64_t> wanted = {sequences, units};
    if (!exposes) {
      states.push_back(layer.splat(0, getElement(x), wanted));
      continue;
    }
    Value given = layer.getBottom(bottoms - hidden + i);
    if (getNumElements(given) != sequences * units) {
      layer.broken("has a first state of shape " + toString(getShape(given)) +
                   "; it needs " + toString(wanted));
      return false;
    }
    states.push_back(layer.reshape(given, wanted));
  }
  return bool(sums) && !llvm::is_contained(states, Value());
}

Value Cells::finish(ArrayRef<Value> outputs, ArrayRef<Value> last) {
  if (llvm::is_contained(outputs, Value()))
    return {};
  SmallVector<int64_t> shape = {1, sequences, units};
  SmallVector<Value> rows;
  for (Value output : outputs)
    rows.push_back(layer.reshape(output, shape));
  for (size_t i = 0; exposes && i < last.size() && i + 1 < layer.getNumTops();
       ++i)
    layer.setTop(i + 1, layer.reshape(last[i], shape));
  return rows.size() == 1
             ? rows[0]
             : layer.create<nn::ConcatOp>(ValueRange(rows), int64_t(0));
}

/// Converts LSTM, whose gates are in the order input, forget, output, cell.
Value convertLSTM(Layer &layer) {
  Cells cells(layer);
  if (!cells.begin(4, 2))
    return {};
  int64_t units = cells.units;
  Value weights =
      layer.getBlob(cells.nextBlob, {4 * units, units}, "weights of outputs");
  Value h = cells.states[0], c = cells.states[1];
  SmallVector<Value> outputs;
  for (int64_t t = 0; t < cells.steps; ++t) {
    Value sums = layer.createElementwise(
        "add",
        {cells.getSums(t), cells.product(cells.continued(h, t), weights)});
    auto gate = [&](int64_t i, StringRef function) {
      return layer.createElementwise(
          function,
          sums ? layer.slice(sums, {0, i * units}, {cells.sequences, units})
               : Value());
    };
    Value kept = layer.createElementwise(
        "mul", {gate(1, "sigmoid"), cells.continued(c, t)});
    Value fresh =
        layer.createElementwise("mul", {gate(0, "sigmoid"), gate(3, "tanh")});
    c = layer.createElementwise("add", {kept, fresh});
    h = layer.createElementwise(
        "mul", {gate(2, "sigmoid"), layer.createElementwise("tanh", c)});
    outputs.push_back(h);
  }
  return cells.finish(outputs, {h, c});
}

/// Converts RNN: a hidden state, and outputs that are computed of it.
Value convertRNN(Layer &layer) {
  Cells cells(layer);
  if (!cells.begin(1, 1))
    return {};
  int64_t units = cells.units;
  size_t next = cells.nextBlob;
  Value weights = layer.getBlob(next, {units, units}, "weights of states");
  Value outWeights =
      layer.getBlob(next + 1, {units, units}, "weights of outputs");
  Value outBias = layer.getBlob(next + 2, units, "bias of outputs");
  Value h = cells.states[0];
  SmallVector<Value> outputs;
  for (int64_t t = 0; t < cells.steps; ++t) {
    h = layer.createElementwise(
        "tanh", layer.createElementwise(
                    "add", {cells.getSums(t),
                            cells.product(cells.continued(h, t), weights)}));
    Value sum =
        layer.createElementwise("add", {cells.product(h, outWeights), outBias});
    outputs.push_back(layer.createElementwise("tanh", sum));
  }
  return cells.finish(outputs, {h});
}

} // namespace nnc::caffe
