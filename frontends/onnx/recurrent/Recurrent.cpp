//===- Recurrent.cpp - RNN, GRU and LSTM ----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// One matrix product multiplies the vectors of all steps by the weights;
// nn.recurrent computes the part that depends on the previous step.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/graph/Node.h"
#include "frontends/onnx/recurrent/CellActivations.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {
namespace {

class Layer {
public:
  Layer(Node &node, nn::CellKind kind) : node(node), kind(kind) {}
  Value convert();

private:
  bool read();
  /// Reads the activations of all directions.
  bool readActivations();
  /// Returns the slice of operand `i` for a direction, without the axis of
  /// directions; zeros of shape `shape` if the operand is absent.
  Value getOperand(size_t i, int64_t direction, ArrayRef<int64_t> shape);
  /// Returns elements [start, start + count) of the first axis.
  Value slice(Value x, int64_t start, int64_t count);
  /// Builds the nn.recurrent of a direction.
  Value build(int64_t direction);
  /// Applies `get` to the results of all directions and joins the values along
  /// a new axis.
  Value join(function_ref<Value(Value)> get, int64_t axis);

  Node &node;
  nn::CellKind kind;
  int64_t steps = 0, batch = 0, inputs = 0, units = 0, directions = 1,
          gates = 1;
  bool isBatchFirst = false;
  Value x, lengths; ///< x is steps x batch x inputs
  std::vector<CellActivations> activations;
  SmallVector<Value> results; ///< by direction
};

} // namespace

bool Layer::readActivations() {
  SmallVector<std::string> names = node.getStrings("activations");
  SmallVector<double> alphas = node.getReals("activation_alpha"),
                      betas = node.getReals("activation_beta");
  std::string why;
  auto found =
      onnx::readActivations({names, alphas, betas}, kind, directions, why);
  if (found)
    activations = std::move(*found);
  else
    node.broken(why);
  return found.has_value();
}

bool Layer::read() {
  x = node.getOperand(0);
  Value w = node.getOperand(1), r = node.getOperand(2);
  gates = kind == nn::CellKind::lstm ? 4 : kind == nn::CellKind::gru ? 3 : 1;
  auto direction =
      node.hasAttribute("direction") ? node.getString("direction") : "forward";
  directions = direction == "bidirectional" ? 2 : 1;
  if (directions == 1 && direction != "forward" && direction != "reverse") {
    node.broken("has the direction '" + direction + "'");
    return false;
  }
  isBatchFirst = node.getInt("layout") == 1;
  if (!isBatchFirst && node.getInt("layout") != 0) {
    node.broken("has the layout " + Twine(node.getInt("layout")));
    return false;
  }
  bool fits = getRank(x) == 3 && getRank(w) == 3 && getRank(r) == 3;
  if (fits && isBatchFirst)
    x = node.transpose(x, {1, 0, 2});
  if (fits) {
    steps = getShape(x)[0];
    batch = getShape(x)[1];
    inputs = getShape(x)[2];
    units = getShape(r)[2];
    fits = getShape(w) == ArrayRef({directions, gates * units, inputs}) &&
           getShape(r) == ArrayRef({directions, gates * units, units});
  }
  if (!fits) {
    node.broken("has weights of shapes " + toString(getShape(w)) + " and " +
                toString(getShape(r)) + " for sequences of shape " +
                toString(getShape(node.getOperand(0))));
    return false;
  }
  int64_t stated = node.getInt("hidden_size", units);
  if (stated != units) {
    node.broken("has a hidden size of " + Twine(stated) + ", but weights for " +
                Twine(units) + " cells");
    return false;
  }
  lengths = node.getOperand(4);
  if (lengths && getShape(lengths) != ArrayRef<int64_t>(batch)) {
    node.broken("has lengths of shape " + toString(getShape(lengths)) +
                " for " + Twine(batch) + " sequences");
    return false;
  }
  Type type = node.getBuilder().getI64Type();
  // A length above the number of steps means all steps.
  constexpr double kAll = std::numeric_limits<int32_t>::max();
  lengths =
      lengths ? node.castTo(lengths, type) : node.splat(kAll, type, {batch});
  return lengths && readActivations();
}

Value Layer::getOperand(size_t i, int64_t direction, ArrayRef<int64_t> shape) {
  Value operand = node.getOperand(i);
  if (!operand)
    return node.splat(0, getElement(x), shape);
  // In the batch-first layout, states have the axis of directions behind the
  // axis of sequences.
  if (isBatchFirst && (i == 5 || i == 6) && getRank(operand) == 3)
    operand = node.transpose(operand, {1, 0, 2});
  SmallVector<int64_t> wanted = {directions};
  llvm::append_range(wanted, shape);
  if (getShape(operand) != ArrayRef<int64_t>(wanted))
    return node.broken("has an operand " + Twine(i) + " of shape " +
                       toString(getShape(operand)) + ", not " +
                       toString(wanted));
  return node.reshape(slice(operand, direction, 1), shape);
}

Value Layer::slice(Value x, int64_t start, int64_t count) {
  if (count == (x ? getShape(x)[0] : 0))
    return x;
  SmallVector<int64_t> starts(getRank(x), 0), sizes(getShape(x)),
      ones(getRank(x), 1);
  if (!x)
    return {};
  starts[0] = start;
  sizes[0] = count;
  return node.create<nn::SliceOp>(x, starts, sizes, ones);
}

Value Layer::build(int64_t direction) {
  bool isGru = kind == nn::CellKind::gru, isLstm = kind == nn::CellKind::lstm;
  bool resetsAfter = isGru && node.getBool("linear_before_reset");
  Value w = getOperand(1, direction, {gates * units, inputs}),
        r = getOperand(2, direction, {gates * units, units}),
        biases = getOperand(3, direction, {2 * gates * units});
  Value own = slice(biases, 0, gates * units),
        before = slice(biases, gates * units, gates * units);
  Value extras = node.splat(0, getElement(x), {isLstm ? 3 * units : units});
  if (resetsAfter) {
    // The recurrent bias of the last gate is multiplied by another gate and
    // therefore not added to the sums.
    extras = slice(before, 2 * units, units);
    SmallVector<int64_t> pads = {0, units};
    before = node.create<nn::PadOp>(
        nn::PadMode::constant, slice(before, 0, 2 * units), pads, APFloat(0.0));
  }
  if (isLstm)
    extras = getOperand(7, direction, {3 * units});
  Value bias = node.createElementwise("add", {own, before});
  Value sums = node.create<nn::MatMulOp>(
      node.reshape(x, {steps * batch, inputs}), w, /*transpose_a=*/false,
      /*transpose_b=*/true, TypeAttr());
  sums = node.reshape(node.createElementwise("add", {sums, bias}),
                      {steps, batch, gates, units});
  Value h = getOperand(5, direction, {batch, units});
  Value c = isLstm ? getOperand(6, direction, {batch, units}) : h;
  const CellActivations &own_activations = activations[direction];
  bool isReverse = direction == 1 || node.getString("direction") == "reverse";
  return node.create<nn::RecurrentOp>(
      kind, sums, node.reshape(r, {gates, units, units}), extras, h, c, lengths,
      own_activations.kinds[0], own_activations.kinds[1],
      own_activations.kinds[2], ArrayRef<double>(own_activations.numbers),
      APFloat(node.getFloat("clip", 0)), isReverse, resetsAfter,
      isLstm && node.getBool("input_forget"));
}

Value Layer::join(function_ref<Value(Value)> get, int64_t axis) {
  SmallVector<Value> parts;
  for (Value result : results) {
    Value part = get(result);
    SmallVector<int64_t> shape(getShape(part));
    shape.insert(shape.begin() + std::min<size_t>(axis, shape.size()), 1);
    parts.push_back(node.reshape(part, shape));
  }
  return parts.size() == 1 ? parts.front()
                           : node.create<nn::ConcatOp>(ValueRange(parts), axis);
}

Value Layer::convert() {
  if (!read())
    return {};
  for (int64_t direction = 0; direction < directions; ++direction) {
    results.push_back(build(direction));
    if (!results.back())
      return {};
  }
  // The axis of directions is axis 1 of the outputs. In states it is axis 0, or
  // axis 1 in the batch-first layout.
  auto getState = [&](int64_t row) {
    Value state = join(
        [&](Value y) { return slice(y, (steps + row) * batch, batch); }, 0);
    return isBatchFirst ? node.transpose(state, {1, 0, 2}) : state;
  };
  if (node.hasResult(1))
    node.setResult(1, getState(0));
  if (kind == nn::CellKind::lstm && node.hasResult(2))
    node.setResult(2, getState(1));
  Value y = join(
      [&](Value y) {
        return node.reshape(slice(y, 0, steps * batch), {steps, batch, units});
      },
      1);
  return isBatchFirst ? node.transpose(y, {2, 0, 1, 3}) : y;
}

Value convertRNN(Node &node) {
  return Layer(node, nn::CellKind::rnn).convert();
}
Value convertGRU(Node &node) {
  return Layer(node, nn::CellKind::gru).convert();
}
Value convertLSTM(Node &node) {
  return Layer(node, nn::CellKind::lstm).convert();
}

} // namespace nnc::onnx
