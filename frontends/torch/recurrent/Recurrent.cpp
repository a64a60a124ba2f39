//===- Recurrent.cpp - Layers and cells of RNN, GRU and LSTM -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// One matrix product multiplies the vectors of all steps by the weights;
// nn.recurrent computes the part that depends on the previous step.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {
namespace {

/// The weights of one layer in one direction. Biases and projection may be
/// null.
struct Weights {
  Value w, r, bias, recurrentBias, projection;
};

/// The result of a layer in one direction: outputs, steps x batch x units, and
/// states, batch x units.
struct LayerResult {
  Value outputs, h, c;
};

/// Builds the layers of one node.
class Layers {
public:
  Layers(Node &node, nn::CellKind kind, nn::CellActivation activation)
      : node(node), kind(kind), activation(activation) {}
  Value convert();
  Value convertCell();

private:
  bool isLstm() const { return kind == nn::CellKind::lstm; }
  int64_t getGates() const {
    return isLstm() ? 4 : kind == nn::CellKind::gru ? 3 : 1;
  }
  /// Returns gates x rest of an argument whose first axis is gates * units,
  /// with the gates in the order of nn.recurrent.
  Value orderGates(Value x);
  bool check(const Weights &weights, Value x, Value h, Value c);
  LayerResult build(Value x, const Weights &weights, Value h, Value c,
                    bool isReverse);
  LayerResult project(Value x, const Weights &weights, Value h, Value c,
                      bool isReverse);
  Value joinStates(ArrayRef<Value> states);

  Node &node;
  nn::CellKind kind;
  nn::CellActivation activation;
};

} // namespace

Value Layers::orderGates(Value x) {
  if (!x || getGates() == 1)
    return x;
  int64_t units = getShape(x)[0] / getGates();
  // PyTorch's gates are i, f, g, o and r, z, n; those of nn.recurrent are i, o,
  // f, c and z, r, h.
  SmallVector<int64_t> order = isLstm() ? SmallVector<int64_t>{0, 3, 1, 2}
                                        : SmallVector<int64_t>{1, 0, 2};
  SmallVector<Value> parts;
  for (int64_t gate : order)
    parts.push_back(node.slice(x, 0, gate * units, units));
  return node.create<nn::ConcatOp>(ValueRange(parts), 0);
}

bool Layers::check(const Weights &weights, Value x, Value h, Value c) {
  if (!weights.w || !weights.r || !x || !h || (isLstm() && !c))
    return false;
  auto shapeOf = [](Value value) { return getShape(value); };
  bool fits = getRank(x) == 3 && getRank(weights.w) == 2 &&
              getRank(weights.r) == 2 && getRank(h) == 2;
  int64_t rows = fits ? shapeOf(weights.w)[0] : 0;
  fits =
      fits && rows % getGates() == 0 && rows > 0 &&
      shapeOf(weights.w)[1] == shapeOf(x)[2] && shapeOf(weights.r)[0] == rows &&
      shapeOf(weights.r)[1] == shapeOf(h)[1] && shapeOf(h)[0] == shapeOf(x)[1];
  int64_t units = rows / getGates();
  if (isLstm())
    fits = fits && shapeOf(c) == ArrayRef<int64_t>({shapeOf(x)[1], units});
  if (!weights.projection)
    fits = fits && shapeOf(h)[1] == units;
  else
    fits = fits && shapeOf(weights.projection) ==
                       ArrayRef<int64_t>({shapeOf(h)[1], units});
  for (Value bias : {weights.bias, weights.recurrentBias})
    fits = fits && (!bias || shapeOf(bias) == ArrayRef<int64_t>(rows));
  if (!fits)
    node.broken("has weights of shapes " + toString(shapeOf(weights.w)) +
                " and " + toString(shapeOf(weights.r)) +
                " for sequences of shape " + toString(shapeOf(x)));
  return fits;
}

/// Builds a layer without projection; x is steps x batch x inputs.
LayerResult Layers::build(Value x, const Weights &weights, Value h, Value c,
                          bool isReverse) {
  if (!check(weights, x, h, c))
    return {};
  if (weights.projection)
    return project(x, weights, h, c, isReverse);
  int64_t gates = getGates(), units = getShape(weights.w)[0] / gates,
          steps = getShape(x)[0], batch = getShape(x)[1],
          inputs = getShape(x)[2];
  Type element = getElement(x);
  Value extras = node.splat(0, element, {isLstm() ? 3 * units : units});
  Value bias = orderGates(weights.bias),
        before = orderGates(weights.recurrentBias);
  if (kind == nn::CellKind::gru && before) {
    // The recurrent bias of the last gate is multiplied by another gate and
    // therefore not added to the sums.
    extras = node.slice(before, 0, 2 * units, units);
    SmallVector<int64_t> pads = {0, units};
    before = node.create<nn::PadOp>(nn::PadMode::constant,
                                    node.slice(before, 0, 0, 2 * units), pads,
                                    APFloat(0.0));
  }
  Value sums = node.create<nn::MatMulOp>(
      node.reshape(x, {steps * batch, inputs}), orderGates(weights.w),
      /*transpose_a=*/false, /*transpose_b=*/true, TypeAttr());
  if (bias && before)
    bias = node.createElementwise("add", {bias, before});
  if (bias)
    sums = node.createElementwise("add", {sums, bias});
  // A length above the number of steps means all steps.
  constexpr double kAll = std::numeric_limits<int32_t>::max();
  Value lengths = node.splat(kAll, node.getBuilder().getI64Type(), {batch});
  auto sigmoid = nn::CellActivation::sigmoid;
  auto tanh = nn::CellActivation::tanh;
  SmallVector<double> numbers(6, 0.0);
  Value y = node.create<nn::RecurrentOp>(
      kind, node.reshape(sums, {steps, batch, gates, units}),
      node.reshape(orderGates(weights.r), {gates, units, units}), extras, h,
      isLstm() ? c : h, lengths,
      kind == nn::CellKind::rnn ? activation : sigmoid, tanh, tanh,
      ArrayRef<double>(numbers), APFloat(0.0), isReverse,
      /*reset_after=*/kind == nn::CellKind::gru, /*coupled=*/false);
  if (!y)
    return {};
  LayerResult result;
  result.outputs =
      node.reshape(node.slice(y, 0, 0, steps * batch), {steps, batch, units});
  result.h = node.slice(y, 0, steps * batch, batch);
  if (isLstm())
    result.c = node.slice(y, 0, (steps + 1) * batch, batch);
  return result;
}

/// Builds an LSTM whose outputs are multiplied by a matrix.
LayerResult Layers::project(Value x, const Weights &weights, Value h, Value c,
                            bool isReverse) {
  int64_t units = getShape(weights.w)[0] / 4, steps = getShape(x)[0],
          batch = getShape(x)[1], outputs = getShape(h)[1];
  Type element = getElement(x);
  if (!element.isF32())
    return {node.unsupported("projects outputs of a type other than float32"),
            {},
            {}};
  auto turn = [&](Value value) {
    SmallVector<int64_t> backwards;
    for (int64_t i = steps; i-- > 0;)
      backwards.push_back(i);
    return isReverse ? node.create<nn::GatherOp>(
                           value, node.constant(backwards), int64_t(0))
                     : value;
  };
  Value bias =
      weights.bias ? weights.bias : node.splat(0, element, {4 * units});
  if (weights.recurrentBias)
    bias = node.createElementwise("add", {bias, weights.recurrentBias});
  // No peepholes, the matrix of the projection and no offsets.
  SmallVector<Value> parts = {
      node.splat(0, element, {3 * units}),
      node.reshape(weights.projection, {outputs * units}),
      node.splat(0, element, {outputs})};
  Value y = node.create<nn::FullLstmOp>(
      turn(x), node.reshape(weights.w, {4, units, getShape(x)[2]}),
      node.reshape(weights.r, {4, units, outputs}),
      node.reshape(bias, {4, units}),
      node.create<nn::ConcatOp>(ValueRange(parts), int64_t(0)), h, c,
      /*time_major=*/true, /*coupled=*/false, /*normalized=*/false,
      /*projected=*/true, APFloat(0.0), APFloat(0.0));
  if (!y)
    return {};
  int64_t count = steps * batch * outputs;
  LayerResult result;
  Value all = node.reshape(node.slice(y, 0, 0, count), {steps, batch, outputs});
  result.h = node.reshape(node.slice(all, 0, steps - 1, 1), {batch, outputs});
  result.outputs = turn(all);
  result.c =
      node.reshape(node.slice(y, 0, count, batch * units), {batch, units});
  return result;
}

Value Layers::joinStates(ArrayRef<Value> states) {
  SmallVector<Value> wide;
  for (Value state : states)
    wide.push_back(node.unsqueeze(state, 0));
  return wide.size() == 1
             ? wide[0]
             : node.create<nn::ConcatOp>(ValueRange(wide), int64_t(0));
}

/// Converts the operators of whole layers: lstm(input, hx, params, ...) gives
/// the outputs and the states of all layers.
Value Layers::convert() {
  Value x = node.getTensor("input");
  SmallVector<Value> states, params = node.getTensors("params");
  if (isLstm())
    states = node.getTensors("hx");
  else
    states.push_back(node.getTensor("hx"));
  int64_t layers = node.getInt("num_layers", 1),
          directions = node.getBool("bidirectional") ? 2 : 1;
  bool hasBiases = node.getBool("has_biases", true),
       isBatchFirst = node.getBool("batch_first");
  if (!x || llvm::is_contained(states, Value()) || params.empty() ||
      llvm::is_contained(params, Value()))
    return {};
  if (node.getBool("train") && node.getFloat("dropout") != 0)
    return node.unsupported("drops out outputs, in training mode");
  bool isSingle = getRank(x) == 2;
  if (isSingle) {
    x = node.unsqueeze(x, isBatchFirst ? 0 : 1);
    for (Value &state : states)
      state = getRank(state) == 2 ? node.unsqueeze(state, 1) : Value();
  }
  int64_t each = static_cast<int64_t>(params.size()) /
                 std::max<int64_t>(layers * directions, 1);
  int64_t expected = hasBiases ? 4 : 2;
  bool fits =
      layers >= 1 && layers <= 1 << 16 && getRank(x) == 3 &&
      static_cast<int64_t>(params.size()) == each * layers * directions &&
      (each == expected || (isLstm() && each == expected + 1)) &&
      states.size() == (isLstm() ? 2u : 1u);
  for (Value state : states)
    fits = fits && getRank(state) == 3 &&
           getShape(state)[0] == layers * directions;
  if (!fits)
    return node.broken("has " + Twine(params.size()) + " weights for " +
                       Twine(layers) + " layers in " + Twine(directions) +
                       " directions, or states that do not fit");
  if (isBatchFirst)
    x = node.transpose(x, {1, 0, 2});
  SmallVector<Value> lastH, lastC;
  for (int64_t layer = 0; layer < layers; ++layer) {
    SmallVector<Value> outputs;
    for (int64_t direction = 0; direction < directions; ++direction) {
      int64_t index = layer * directions + direction;
      ArrayRef<Value> own = ArrayRef(params).slice(index * each, each);
      Weights weights{own[0], own[1], hasBiases ? own[2] : Value(),
                      hasBiases ? own[3] : Value(),
                      each > expected ? own[expected] : Value()};
      auto getState = [&](size_t i) -> Value {
        // Zeros stay a constant of one number, which all layers share at all
        // sizes.
        auto constant = states[i].getDefiningOp<nn::ConstantOp>();
        auto elements =
            constant
                ? dyn_cast<DenseElementsAttr>(Attribute(constant.getValue()))
                : DenseElementsAttr();
        if (elements && elements.isSplat())
          return node.splat(elements.getSplatValue<TypedAttr>(),
                            getShape(states[i]).drop_front());
        Value state = node.slice(states[i], 0, index, 1);
        return state ? node.reshape(state, getShape(state).drop_front())
                     : Value();
      };
      LayerResult result =
          build(x, weights, getState(0), isLstm() ? getState(1) : Value(),
                direction == 1);
      if (!result.outputs)
        return {};
      outputs.push_back(result.outputs);
      lastH.push_back(result.h);
      lastC.push_back(result.c);
    }
    x = outputs.size() == 1
            ? outputs[0]
            : node.create<nn::ConcatOp>(ValueRange(outputs), int64_t(2));
  }
  auto toResult = [&](ArrayRef<Value> all) {
    Value state = joinStates(all);
    if (!state || !isSingle)
      return state;
    return node.reshape(state, {getShape(state)[0], getShape(state)[2]});
  };
  node.setResult(1, toResult(lastH));
  if (isLstm())
    node.setResult(2, toResult(lastC));
  if (isSingle)
    return x ? node.reshape(x, {getShape(x)[0], getShape(x)[2]}) : Value();
  return isBatchFirst ? node.transpose(x, {1, 0, 2}) : x;
}

/// Converts the operators of one cell, which computes one step.
Value Layers::convertCell() {
  Value x = node.getTensor("input");
  SmallVector<Value> states;
  if (isLstm())
    states = node.getTensors("hx");
  else
    states.push_back(node.getTensor("hx"));
  Weights weights{node.getTensor("w_ih"), node.getTensor("w_hh"),
                  node.getOptionalTensor("b_ih"),
                  node.getOptionalTensor("b_hh"), Value()};
  if (!x || states.size() != (isLstm() ? 2u : 1u))
    return {};
  LayerResult result = build(node.unsqueeze(x, 0), weights, states[0],
                             isLstm() ? states[1] : Value(), false);
  if (isLstm())
    node.setResult(1, result.c);
  return result.h;
}

Value convertLstm(Node &node) {
  return Layers(node, nn::CellKind::lstm, nn::CellActivation::tanh).convert();
}
Value convertGru(Node &node) {
  return Layers(node, nn::CellKind::gru, nn::CellActivation::tanh).convert();
}
Value convertRnnTanh(Node &node) {
  return Layers(node, nn::CellKind::rnn, nn::CellActivation::tanh).convert();
}
Value convertRnnRelu(Node &node) {
  return Layers(node, nn::CellKind::rnn, nn::CellActivation::relu).convert();
}
Value convertLstmCell(Node &node) {
  return Layers(node, nn::CellKind::lstm, nn::CellActivation::tanh)
      .convertCell();
}
Value convertGruCell(Node &node) {
  return Layers(node, nn::CellKind::gru, nn::CellActivation::tanh)
      .convertCell();
}
Value convertRnnTanhCell(Node &node) {
  return Layers(node, nn::CellKind::rnn, nn::CellActivation::tanh)
      .convertCell();
}
Value convertRnnReluCell(Node &node) {
  return Layers(node, nn::CellKind::rnn, nn::CellActivation::relu)
      .convertCell();
}

} // namespace nnc::torch
