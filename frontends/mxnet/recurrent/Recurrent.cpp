//===- Recurrent.cpp - The fused operator RNN -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/graph/Layer.h"

#include <limits>

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {
namespace {

/// A stack of recurrent layers over sequences of shape steps x batch x inputs.
class Stack {
public:
  explicit Stack(Layer &layer) : layer(layer) {}
  Value convert();

private:
  bool read();
  /// Returns the next `count` elements of the vector of parameters.
  Value take(int64_t &place, int64_t count);
  /// Returns a matrix or a vector whose gates, along the first axis, are in the
  /// order of nn.recurrent.
  Value reorder(Value gates);
  /// Returns row `row` of a state, batch x units. A state of one sample belongs
  /// to all.
  Value getState(size_t input, int64_t row);
  /// Builds a layer in one direction; `row` counts layers and directions.
  Value build(Value x, int64_t row, bool isReverse);

  Layer &layer;
  nn::CellKind kind = nn::CellKind::lstm;
  nn::CellActivation activation = nn::CellActivation::tanh;
  int64_t steps = 0, batch = 0, inputs = 0, units = 0, layers = 1,
          directions = 1, gates = 1;
  Value x, lengths;
  /// The places at which the weights and the biases of each layer and direction
  /// begin in the vector of parameters.
  SmallVector<int64_t> weights, biases;
  SmallVector<Value> lastOutputs, lastStates; ///< 1 x batch x units
};

} // namespace

bool Stack::read() {
  x = layer.getInput(0);
  StringRef mode = layer.getText("mode");
  units = layer.getInt("state_size", 0);
  layers = layer.getInt("num_layers", 0);
  directions = layer.getBool("bidirectional", false) ? 2 : 1;
  if (mode == "lstm")
    gates = 4;
  else if (mode == "gru")
    gates = 3, kind = nn::CellKind::gru;
  else if (mode == "rnn_relu" || mode == "rnn_tanh")
    kind = nn::CellKind::rnn;
  else
    return layer.broken("has the mode '" + mode + "'"), false;
  if (mode == "rnn_relu")
    activation = nn::CellActivation::relu;
  for (StringRef name :
       {"projection_size", "lstm_state_clip_min", "lstm_state_clip_max"})
    if (layer.has(name))
      return layer.unsupported("has " + name), false;
  if (layer.hasFailed())
    return false;
  Value parameters = layer.getInput(1);
  if (getRank(x) != 3 || units < 1 || layers < 1 || units > 1 << 20 ||
      layers > 1024)
    return layer.broken("has " + Twine(layers) + " layers of " + Twine(units) +
                        " cells for sequences of shape " +
                        toString(getShape(x))),
           false;
  steps = getShape(x)[0];
  batch = getShape(x)[1];
  inputs = getShape(x)[2];
  // All weights come before all biases.
  int64_t place = 0, width = inputs;
  for (int64_t i = 0; i < layers; ++i, width = units * directions)
    for (int64_t d = 0; d < directions; ++d) {
      weights.push_back(place);
      place += gates * units * (width + units);
    }
  for (int64_t i = 0; i < layers * directions; ++i) {
    biases.push_back(place);
    place += 2 * gates * units;
  }
  if (getRank(parameters) != 1 || getShape(parameters)[0] != place)
    return layer.broken("needs a vector of " + Twine(place) +
                        " parameters, not a tensor of shape " +
                        toString(getShape(parameters))),
           false;
  bool usesLengths = layer.getBool("use_sequence_length", false);
  Value given = layer.getInput(kind == nn::CellKind::lstm ? 4 : 3);
  if (usesLengths && (!given || getShape(given) != ArrayRef<int64_t>(batch)))
    return layer.broken("has lengths that do not fit " + Twine(batch) +
                        " sequences"),
           false;
  // A length above the number of steps means all steps.
  constexpr double kAll = std::numeric_limits<int32_t>::max();
  lengths = usesLengths ? layer.castTo(given, layer.getI64())
                        : layer.splat(kAll, layer.getI64(), {batch});
  return lengths != nullptr;
}

Value Stack::take(int64_t &place, int64_t count) {
  int64_t begin = place;
  place += count;
  Value parameters = layer.getInput(1);
  // Exported graphs join the parameters that the layers had; each is used as it
  // is where it lies in one of them.
  if (auto concat = parameters.getDefiningOp<nn::ConcatOp>())
    for (Value part : concat.getXs()) {
      int64_t size = getNumElements(part);
      if (begin >= 0 && begin + count <= size)
        return layer.slice(part, 0, begin, count);
      begin -= size;
    }
  return layer.slice(parameters, 0, place - count, count);
}

Value Stack::reorder(Value given) {
  if (!given || kind == nn::CellKind::rnn)
    return given;
  // MXNet has the gates i, f, c, o of an LSTM, and r, z, h of a GRU.
  static constexpr int64_t kLstm[] = {0, 3, 1, 2}, kGru[] = {1, 0, 2};
  SmallVector<Value> parts;
  for (int64_t gate :
       kind == nn::CellKind::lstm ? ArrayRef(kLstm) : ArrayRef(kGru))
    parts.push_back(layer.slice(given, 0, gate * units, units));
  return layer.create<nn::ConcatOp>(ValueRange(parts), int64_t(0));
}

Value Stack::getState(size_t input, int64_t row) {
  Value state = layer.getInput(input);
  if (!state)
    return layer.splat(0, getElement(x), {batch, units});
  int64_t rows = layers * directions;
  if (getRank(state) != 3 || getShape(state)[2] != units ||
      getShape(state)[0] != rows ||
      (getShape(state)[1] != batch && getShape(state)[1] != 1))
    return layer.broken("has a state of shape " + toString(getShape(state)) +
                        ", not " + toString({rows, batch, units}));
  state = layer.slice(state, 0, row, 1);
  state = layer.reshape(state, {getShape(state)[1], units});
  return layer.expand(state, {batch, units});
}

Value Stack::build(Value from, int64_t row, bool isReverse) {
  bool isLstm = kind == nn::CellKind::lstm, isGru = kind == nn::CellKind::gru;
  int64_t width = getShape(from)[2], place = weights[row];
  Value w = take(place, gates * units * width),
        r = take(place, gates * units * units);
  place = biases[row];
  Value own = take(place, gates * units), before = take(place, gates * units);
  w = reorder(layer.reshape(w, {gates * units, width}));
  r = reorder(layer.reshape(r, {gates * units, units}));
  own = reorder(own);
  before = reorder(before);
  Value extras = layer.splat(0, getElement(x), {isLstm ? 3 * units : units});
  if (isGru) {
    // The recurrent bias of the last gate is multiplied by another gate.
    extras = layer.slice(before, 0, 2 * units, units);
    SmallVector<int64_t> pads = {0, units};
    before = layer.create<nn::PadOp>(nn::PadMode::constant,
                                     layer.slice(before, 0, 0, 2 * units), pads,
                                     APFloat(0.0));
  }
  Value sums = layer.create<nn::MatMulOp>(
      layer.reshape(from, {steps * batch, width}), w, /*transpose_a=*/false,
      /*transpose_b=*/true, TypeAttr());
  sums = layer.reshape(layer.add(sums, layer.add(own, before)),
                       {steps, batch, gates, units});
  Value h = getState(2, row), c = isLstm ? getState(3, row) : h;
  bool isRnn = !isLstm && !isGru;
  SmallVector<double> numbers(6, 0.0);
  return layer.create<nn::RecurrentOp>(
      kind, sums, layer.reshape(r, {gates, units, units}), extras, h, c,
      lengths, isRnn ? activation : nn::CellActivation::sigmoid,
      nn::CellActivation::tanh, nn::CellActivation::tanh,
      ArrayRef<double>(numbers), APFloat(0.0), isReverse,
      /*reset_after=*/isGru, /*coupled=*/false);
}

Value Stack::convert() {
  if (!read())
    return {};
  Value from = x;
  for (int64_t i = 0; i < layers; ++i) {
    SmallVector<Value> outputs;
    for (int64_t d = 0; d < directions; ++d) {
      Value y = build(from, i * directions + d, d == 1);
      if (!y)
        return {};
      outputs.push_back(layer.reshape(layer.slice(y, 0, 0, steps * batch),
                                      {steps, batch, units}));
      auto getRow = [&](int64_t row) {
        return layer.reshape(layer.slice(y, 0, (steps + row) * batch, batch),
                             {1, batch, units});
      };
      lastOutputs.push_back(getRow(0));
      if (kind == nn::CellKind::lstm)
        lastStates.push_back(getRow(1));
    }
    from = directions == 1
               ? outputs[0]
               : layer.create<nn::ConcatOp>(ValueRange(outputs), int64_t(2));
    if (!from)
      return {};
  }
  if (layer.getBool("state_outputs", false)) {
    auto join = [&](ArrayRef<Value> states) {
      return states.size() == 1
                 ? states[0]
                 : layer.create<nn::ConcatOp>(ValueRange(states), int64_t(0));
    };
    layer.setResult(1, join(lastOutputs));
    if (!lastStates.empty())
      layer.setResult(2, join(lastStates));
  }
  return from;
}

Value convertRnn(Layer &layer) { return Stack(layer).convert(); }

} // namespace nnc::mxnet
