//===- BlockCells.cpp - LSTM and GRU cells of TensorFlow 1 ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// LSTMBlockCell, GRUBlockCell and BlockLSTM: cells as one operator each, and an
// LSTM over the steps of a sequence (tf.contrib.rnn).
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// The largest number of steps of a sequence: each becomes ops of its own, as
/// an unrolled loop.
static constexpr int64_t kMostSteps = 256;

static Value applyTo(Layer &layer, StringRef op, Value a, Value b = {}) {
  SmallVector<Value> operands = {a};
  if (b)
    operands.push_back(b);
  return layer.createElementwise(op, operands);
}

/// Returns [x, h] w + b.
static Value multiplyBoth(Layer &layer, Value x, Value h, Value w, Value b) {
  Value product = layer.create<nn::MatMulOp>(join(layer, {x, h}, 1), w,
                                             /*transpose_a=*/false,
                                             /*transpose_b=*/false, TypeAttr());
  return layer.createElementwise("add", {product, b});
}

namespace {
/// The weights and attributes of an LSTM.
struct LstmCell {
  Value weights, bias;
  /// The weights from the cell state to the gates, null without peepholes.
  Value toInput, toForget, toOutput;
  int64_t units;
  double forgetBias, clip;
  /// The numbers of the parts of the product for input gate, cell, forget gate
  /// and output gate.
  int64_t order[4];

  /// The gates and states of one step, in the order of the operators' results.
  struct Step {
    Value input, state, forget, output, cell, activated, hidden;
    SmallVector<Value> list() const {
      return {input, state, forget, output, cell, activated, hidden};
    }
  };
  Step run(Layer &layer, Value x, Value state, Value hidden) const;
};
} // namespace

LstmCell::Step LstmCell::run(Layer &layer, Value x, Value state,
                             Value hidden) const {
  Step step = {};
  Value gates = multiplyBoth(layer, x, hidden, weights, bias);
  if (!gates)
    return step;
  auto take = [&](int64_t i) {
    return layer.slice(gates, {0, order[i] * units}, {getShape(x)[0], units});
  };
  auto peep = [&](Value gate, Value from, Value by) {
    return by ? applyTo(layer, "add", gate, applyTo(layer, "mul", from, by))
              : gate;
  };
  auto number = [&](double value) { return layer.splat(value, getElement(x)); };
  step.input = applyTo(layer, "sigmoid", peep(take(0), state, toInput));
  step.cell = applyTo(layer, "tanh", take(1));
  Value forget = peep(take(2), state, toForget);
  step.forget = applyTo(layer, "sigmoid",
                        applyTo(layer, "add", forget, number(forgetBias)));
  step.state =
      applyTo(layer, "add", applyTo(layer, "mul", step.cell, step.input),
              applyTo(layer, "mul", state, step.forget));
  if (clip > 0)
    step.state =
        applyTo(layer, "min", applyTo(layer, "max", step.state, number(-clip)),
                number(clip));
  step.output = applyTo(layer, "sigmoid", peep(take(3), step.state, toOutput));
  step.activated = applyTo(layer, "tanh", step.state);
  step.hidden = applyTo(layer, "mul", step.activated, step.output);
  return step;
}

/// Reads the inputs from `first` on: cell state, hidden state, weights, three
/// vectors of peepholes and the bias. Returns nullopt after an error.
static std::optional<LstmCell> readCell(Layer &layer, size_t first, Value x,
                                        bool isSecond) {
  SmallVector<Value> inputs = layer.getTensors(first, 7);
  if (inputs.empty() || !x)
    return std::nullopt;
  LstmCell cell = {};
  cell.weights = inputs[2];
  cell.bias = inputs[6];
  cell.units = getShape(inputs[0]).empty() ? 0 : getShape(inputs[0]).back();
  cell.forgetBias = isSecond ? 0 : layer.getReal("forget_bias", 1);
  cell.clip = layer.getReal("cell_clip", isSecond ? 0 : 3);
  // BlockLSTMV2 has the forget gate in front of the cell.
  for (auto [i, place] :
       llvm::enumerate(isSecond ? std::array<int64_t, 4>{0, 2, 1, 3}
                                : std::array<int64_t, 4>{0, 1, 2, 3}))
    cell.order[i] = place;
  Sizes states = {getShape(x)[getRank(x) - 2], cell.units};
  bool fits =
      getShape(inputs[0]) == ArrayRef<int64_t>(states) &&
      getShape(inputs[1]) == ArrayRef<int64_t>(states) && cell.units > 0 &&
      getShape(inputs[2]) ==
          ArrayRef<int64_t>{getShape(x).back() + cell.units, 4 * cell.units} &&
      getShape(inputs[6]) == ArrayRef<int64_t>{4 * cell.units};
  if (layer.getBool("use_peephole")) {
    cell.toInput = inputs[3];
    cell.toForget = inputs[4];
    cell.toOutput = inputs[5];
    for (size_t i : {3, 4, 5})
      fits &= getShape(inputs[i]) == ArrayRef<int64_t>{cell.units};
  }
  if (fits)
    return cell;
  layer.broken("has an input of shape " + toString(getShape(x)) +
               ", a state of shape " + toString(getShape(inputs[0])) +
               " and weights of shape " + toString(getShape(inputs[2])));
  return std::nullopt;
}

Value convertLstmBlockCell(Layer &layer) {
  Value x = layer.getInput(0);
  if (x && getRank(x) != 2)
    return layer.broken("needs a matrix");
  auto cell = readCell(layer, 1, x, /*isSecond=*/false);
  if (!cell)
    return {};
  auto step = cell->run(layer, x, layer.getInput(1), layer.getInput(2));
  for (auto [i, value] : llvm::enumerate(step.list()))
    layer.setResult(i, value);
  return step.input;
}

/// Builds the steps of a sequence, steps x samples x features. Results are
/// zeros from the step seq_len_max on.
static Value convertSequence(Layer &layer, bool isSecond) {
  Value most = layer.getInput(0), x = layer.getInput(1);
  if (!most || !x)
    return {};
  if (getRank(x) != 3 || getNumElements(most) != 1 || getNumElements(x) == 0)
    return layer.broken("needs a sequence of matrices and one length, not " +
                        toString(getShape(x)));
  auto cell = readCell(layer, 2, x, isSecond);
  if (!cell)
    return {};
  int64_t steps = getShape(x)[0], samples = getShape(x)[1];
  if (steps > kMostSteps)
    return layer.fail(ImportStatus::limit, "has " + Twine(steps) +
                                               " steps; nnc handles " +
                                               Twine(kMostSteps));
  most = layer.reshape(most, {});
  SmallVector<Value> results[7];
  Value state = layer.getInput(2), hidden = layer.getInput(3);
  for (int64_t t = 0; t < steps; ++t) {
    Value part =
        layer.reshape(layer.slice(x, {t, 0, 0}, {1, samples, getShape(x)[2]}),
                      {samples, getShape(x)[2]});
    auto step = cell->run(layer, part, state, hidden);
    if (!step.hidden)
      return {};
    state = step.state;
    hidden = step.hidden;
    Value runs = layer.createElementwise(
        "less", {layer.splat(double(t), getElement(most)), most});
    for (auto [list, value] : llvm::zip(results, step.list())) {
      Value kept = layer.createElementwise(
          "select", {runs, value, layer.splat(0, getElement(x))});
      list.push_back(layer.reshape(kept, {1, samples, cell->units}));
    }
  }
  for (auto [i, list] : llvm::enumerate(results))
    layer.setResult(i, list.size() == 1 ? list[0] : join(layer, list, 0));
  return layer.getResults()[0].value;
}

Value convertBlockLstm(Layer &layer) {
  return convertSequence(layer, /*isSecond=*/false);
}
Value convertBlockLstmV2(Layer &layer) {
  return convertSequence(layer, /*isSecond=*/true);
}

/// Converts GRUBlockCell, whose results are the reset gate, the update gate,
/// the candidate and the next state.
Value convertGruBlockCell(Layer &layer) {
  SmallVector<Value> inputs = layer.getTensors(0, 6);
  if (inputs.empty())
    return {};
  Value x = inputs[0], state = inputs[1];
  int64_t units = getRank(state) == 2 ? getShape(state)[1] : 0;
  if (getRank(x) != 2 || units == 0 || getShape(x)[0] != getShape(state)[0] ||
      getShape(inputs[2]) !=
          ArrayRef<int64_t>{getShape(x)[1] + units, 2 * units} ||
      getShape(inputs[3]) != ArrayRef<int64_t>{getShape(x)[1] + units, units} ||
      getShape(inputs[4]) != ArrayRef<int64_t>{2 * units} ||
      getShape(inputs[5]) != ArrayRef<int64_t>{units})
    return layer.broken("has an input of shape " + toString(getShape(x)) +
                        ", a state of shape " + toString(getShape(state)) +
                        " and weights of shape " +
                        toString(getShape(inputs[2])));
  Value gates = applyTo(layer, "sigmoid",
                        multiplyBoth(layer, x, state, inputs[2], inputs[4]));
  auto take = [&](int64_t i) {
    return gates ? layer.slice(gates, {0, i * units}, {getShape(x)[0], units})
                 : Value();
  };
  Value reset = take(0), update = take(1);
  Value candidate = applyTo(
      layer, "tanh",
      multiplyBoth(layer, x, layer.createElementwise("mul", {reset, state}),
                   inputs[3], inputs[5]));
  Value rest =
      layer.createElementwise("sub", {layer.splat(1, getElement(x)), update});
  layer.setResult(1, update);
  layer.setResult(2, candidate);
  layer.setResult(3, applyTo(layer, "add", applyTo(layer, "mul", update, state),
                             applyTo(layer, "mul", rest, candidate)));
  return reset;
}

} // namespace nnc::tensorflow
