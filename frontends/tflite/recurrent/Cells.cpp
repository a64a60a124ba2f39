//===- Cells.cpp - Recurrent layers of floats -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/recurrent/Cells.h"

#include "frontends/tflite/qnn/Quantized.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// The largest number of steps of a recurrent layer that is unrolled.
static constexpr int64_t kMaxSteps = 512;

//===----------------------------------------------------------------------===//
// LSTM
//===----------------------------------------------------------------------===//

bool hasVariants(Layer &layer, const CellOperands &operands) {
  size_t first = operands.first;
  if (!layer.hasInput(first))
    return true;
  for (size_t i : {first + 8, first + 9, first + 10, first + 15, first + 16})
    if (layer.hasInput(i))
      return true;
  for (size_t i = operands.norms; i < operands.norms + 4; ++i)
    if (layer.hasInput(i))
      return true;
  return false;
}

namespace {
/// A builder of the operands of nn.full_lstm.
class Cells {
public:
  Cells(Layer &layer, const CellOperands &operands)
      : layer(layer), operands(operands), first(operands.first) {}

  /// Sets the sizes. Returns false after an error if operands do not fit.
  bool measure(Value x, bool isTimeMajor);
  Value compute(Value x, const CellOptions &options);

private:
  /// Returns operands of the shape `shape`, stacked along a new axis.
  Value join(ArrayRef<size_t> numbers, ArrayRef<int64_t> shape);
  /// Returns operand `i` as a vector of `size` floats; zeros if it is absent.
  Value getVector(size_t i, int64_t size);
  Value makeExtras();

  Layer &layer;
  CellOperands operands;
  size_t first;
  bool isCoupled = false, isNormalized = false, isProjected = false;
  int64_t batch = 0, steps = 0, input = 0, units = 0, output = 0;
};
} // namespace

bool Cells::measure(Value x, bool isTimeMajor) {
  auto fail = [&](const Twine &why) {
    layer.broken(why);
    return false;
  };
  if (getRank(x) != 3 || getNumElements(x) == 0)
    return fail("needs sequences of 3 axes, not of shape " +
                toString(getShape(x)));
  // The forget gate is never absent.
  isCoupled = !layer.hasInput(first);
  for (size_t i : {first + 1, first + 2, first + 3, first + 5, first + 6,
                   first + 7, first + 12, first + 13, first + 14})
    if (!layer.hasInput(i))
      return fail("lacks operand " + Twine(i));
  for (size_t i : {first + 4, first + 11})
    if (layer.hasInput(i) == isCoupled)
      return fail("has an input gate with weights, recurrent weights or a bias "
                  "alone");
  isNormalized = layer.hasInput(operands.norms + 1);
  for (size_t i = 0; i < 4; ++i)
    if (layer.hasInput(operands.norms + i) !=
        (isNormalized && (i != 0 || !isCoupled)))
      return fail("normalizes some of its gates");
  isProjected = layer.hasInput(first + 15);
  if (!isProjected && layer.hasInput(first + 16))
    return fail("has a bias of a projection that is absent");
  Value forget = layer.getInput(first + 5);
  if (!forget)
    return false;
  if (getRank(forget) != 2)
    return fail("needs recurrent weights of 2 axes, not of shape " +
                toString(getShape(forget)));
  batch = getShape(x)[isTimeMajor ? 1 : 0];
  steps = getShape(x)[isTimeMajor ? 0 : 1];
  input = getShape(x)[2];
  units = getShape(forget)[0];
  output = getShape(forget)[1];
  if (!isProjected && output != units)
    return fail("has " + Twine(units) + " cells and " + Twine(output) +
                " results without a projection");
  return true;
}

Value Cells::join(ArrayRef<size_t> numbers, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> slab = {1};
  slab.append(shape.begin(), shape.end());
  SmallVector<Value> parts;
  for (size_t i : numbers) {
    Value part = getReals(layer, i);
    if (part && getShape(part) != shape)
      return layer.broken("has operand " + Twine(i) + " of shape " +
                          toString(getShape(part)) + ", not " +
                          toString(shape));
    if (part && !getElement(part).isF32())
      return layer.unsupported("has operand " + Twine(i) + " of type " +
                               getTypeName(getElement(part)) +
                               "; nnc handles FLOAT32 beside floats");
    parts.push_back(layer.reshape(part, slab));
  }
  return layer.create<nn::ConcatOp>(ValueRange(parts), int64_t(0));
}

Value Cells::getVector(size_t i, int64_t size) {
  if (!layer.hasInput(i))
    return layer.splat(0.0, layer.getBuilder().getF32Type(), {size});
  return layer.reshape(join(i, {size}), {size});
}

Value Cells::makeExtras() {
  SmallVector<Value> parts;
  for (size_t i = first + 8; i < first + 11; ++i)
    parts.push_back(getVector(i, units));
  if (isNormalized)
    for (size_t i = isCoupled ? 1 : 0; i < 4; ++i)
      parts.push_back(getVector(operands.norms + i, units));
  if (isProjected) {
    parts.push_back(
        layer.reshape(join(first + 15, {output, units}), {output * units}));
    parts.push_back(getVector(first + 16, output));
  }
  return layer.create<nn::ConcatOp>(ValueRange(parts), int64_t(0));
}

Value Cells::compute(Value x, const CellOptions &options) {
  if (!measure(x, options.isTimeMajor))
    return {};
  auto gates = [&](size_t from) {
    SmallVector<size_t> numbers;
    for (size_t i = isCoupled ? 1 : 0; i < 4; ++i)
      numbers.push_back(first + from + i);
    return numbers;
  };
  Value w = join(gates(0), {units, input}), r = join(gates(4), {units, output}),
        bias = join(gates(11), {units}), extras = makeExtras();
  Type element = getElement(x);
  Variable *h = layer.getVariable(
               operands.output,
               RankedTensorType::get({batch, output}, element)),
           *c = layer.getVariable(
               operands.cell, RankedTensorType::get({batch, units}, element));
  if (!h || !c)
    return {};
  Builder &builder = layer.getBuilder();
  Value packed = layer.create<nn::FullLstmOp>(
      x, w, r, bias, extras, h->value, c->value, options.isTimeMajor, isCoupled,
      isNormalized, isProjected,
      builder.getF64FloatAttr(options.clip).getValue(),
      builder.getF64FloatAttr(options.outputClip).getValue());
  if (!packed)
    return {};
  int64_t given = steps * batch * output;
  ArrayRef<int64_t> shape = getShape(x);
  Value y = layer.reshape(layer.slice(packed, {0}, {given}),
                          {shape[0], shape[1], output});
  Value last = options.isTimeMajor
                   ? layer.slice(y, {steps - 1, 0, 0}, {1, batch, output})
                   : layer.slice(y, {0, steps - 1, 0}, {batch, 1, output});
  h->value = layer.reshape(last, {batch, output});
  c->value = layer.reshape(layer.slice(packed, {given}, {batch * units}),
                           {batch, units});
  return y;
}

Value computeCells(Layer &layer, Value x, const CellOperands &operands,
                   const CellOptions &options) {
  if (!x)
    return {};
  if (options.activation != fb::Activation::TANH)
    return layer.unsupported("has an activation other than TANH");
  for (float clip : {options.clip, options.outputClip})
    if (!std::isfinite(clip))
      return layer.broken("limits cells or results to " +
                          toString(double(clip)));
  if (!getElement(x).isF32())
    return layer.unsupported("has peepholes, a projection, normalization or "
                             "coupled gates on " +
                             getTypeName(getElement(x)) +
                             "; nnc handles FLOAT32");
  return Cells(layer, operands).compute(x, options);
}

/// Converts the LSTM with five operands, whose states are inputs and outputs:
/// x, the previous output, the weights of both, a bias, and the cell state. The
/// order of the weights is input gate, cell, forget gate, output gate.
static Value convertPlainStep(Layer &layer,
                              const fb::StepLstmOptions &options) {
  Value x = layer.getInput(0), h = layer.getInput(1), w = getReals(layer, 2),
        bias = layer.getInput(3), c = layer.getInput(4);
  if (!x || !h || !w || !bias || !c)
    return {};
  if (!getElement(x).isF32() || !getElement(w).isF32())
    return layer.unsupported("works on " + getTypeName(getElement(x)) +
                             "; nnc handles FLOAT32");
  if (getRank(x) != 2 || getRank(h) != 2 || getRank(w) != 2 ||
      getShape(h) != getShape(c) || getShape(h)[0] != getShape(x)[0] ||
      getShape(w)[0] != 4 * getShape(h)[1] ||
      getShape(w)[1] != getShape(x)[1] + getShape(h)[1] ||
      getNumElements(bias) != 4 * getShape(h)[1])
    return layer.broken("has operands that do not fit an input of shape " +
                        toString(getShape(x)));
  int64_t batch = getShape(x)[0], input = getShape(x)[1],
          units = getShape(h)[1];
  Value all = layer.reshape(w, {4, units, input + units});
  bias = layer.reshape(bias, {4, units});
  // In nn.lstm the forget gate precedes the cell.
  auto inOrder = [&](Value v, int64_t from, int64_t count) {
    SmallVector<Value> parts;
    for (int64_t gate : {0, 2, 1, 3})
      parts.push_back(getRank(v) == 2
                          ? layer.slice(v, {gate, 0}, {1, units})
                          : layer.slice(v, {gate, 0, from}, {1, units, count}));
    return layer.create<nn::ConcatOp>(ValueRange(parts), int64_t(0));
  };
  Value packed = layer.create<nn::LstmOp>(
      layer.reshape(x, {batch, 1, input}), inOrder(all, 0, input),
      inOrder(all, input, units), inOrder(bias, 0, 0), h, c,
      /*time_major=*/false,
      layer.getBuilder().getF64FloatAttr(options.cell_clip()).getValue());
  if (!packed)
    return {};
  layer.setResult(1, layer.slice(packed, {batch, 0}, {batch, units}));
  // Two more results are scratch tensors of TFLite's kernels.
  Value both = layer.create<nn::ConcatOp>(ValueRange{x, h}, int64_t(1));
  layer.setResult(2, both);
  Value sums = layer.create<nn::MatMulOp>(both, w, /*transpose_a=*/false,
                                          /*transpose_b=*/true, TypeAttr());
  layer.setResult(3, layer.createElementwise(
                         "add", {sums, layer.reshape(bias, {4 * units})}));
  return layer.slice(packed, {0, 0}, {batch, units});
}

Value convertStepLstm(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::StepLstmOptions>(fb::Options::StepLstm);
  Value x = layer.getInput(0);
  if (!options || !x)
    return {};
  if (options->activation() != fb::Activation::TANH)
    return layer.unsupported("has an activation other than TANH");
  if (!std::isfinite(options->cell_clip()))
    return layer.broken("limits cells to " +
                        toString(double(options->cell_clip())));
  if (options->kernel() == 1)
    return convertPlainStep(layer, *options);
  if (getRank(x) != 2)
    return layer.broken("needs vectors, not an input of shape " +
                        toString(getShape(x)));
  ArrayRef<int64_t> shape = getShape(x);
  Value y = computeCells(layer, layer.reshape(x, {shape[0], 1, shape[1]}), {},
                         {options->activation(), options->cell_clip(),
                          options->proj_clip(), /*isTimeMajor=*/false});
  return y ? layer.reshape(y, {shape[0], getShape(y)[2]}) : Value();
}

//===----------------------------------------------------------------------===//
// Both directions
//===----------------------------------------------------------------------===//

/// Returns x with the steps of its sequences in reverse order.
static Value reverseSteps(Layer &layer, Value x, bool isTimeMajor) {
  if (!x)
    return {};
  SmallVector<int64_t> starts(3, 0), steps(3, 1), sizes(getShape(x));
  int64_t axis = isTimeMajor ? 0 : 1;
  starts[axis] = sizes[axis] - 1;
  steps[axis] = -1;
  return layer.slice(x, starts, sizes, steps);
}

/// Returns the results of both directions, after reversing the second:
/// concatenated, or as first and second result.
static Value joinDirections(Layer &layer, Value forward, Value backward,
                            bool isTimeMajor, bool merges) {
  backward = reverseSteps(layer, backward, isTimeMajor);
  if (merges)
    return layer.create<nn::ConcatOp>(ValueRange{forward, backward},
                                      int64_t(2));
  layer.setResult(1, backward);
  return forward;
}

Value convertTwoWayLstm(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::TwoWayLstmOptions>(fb::Options::TwoWayLstm);
  Value x = layer.getInput(0);
  if (!options || !x)
    return {};
  for (size_t i = 39; i < 48; ++i)
    if (layer.hasInput(i))
      return layer.unsupported("has a second input for the cells");
  if (getRank(x) != 3)
    return layer.broken("needs sequences of 3 axes, not of shape " +
                        toString(getShape(x)));
  CellOptions how = {options->activation(), options->cell_clip(),
                     options->proj_clip(), options->time_major()};
  constexpr size_t kNone = 48; // behind all operands
  Value forward = computeCells(layer, x, {1, 35, 36, kNone}, how);
  Value backward = computeCells(layer, reverseSteps(layer, x, how.isTimeMajor),
                                {18, 37, 38, kNone}, how);
  return joinDirections(layer, forward, backward, how.isTimeMajor,
                        options->merges());
}

//===----------------------------------------------------------------------===//
// RNN
//===----------------------------------------------------------------------===//

/// Returns y_t = activation(w x_t + r y_(t-1) + bias) for each vector of the
/// sequences x. The operands from `first` on are w, r and the bias; y is kept
/// in the variable `state`.
static Value computeRnn(Layer &layer, Value x, size_t first, size_t state,
                        fb::Activation activation, bool isTimeMajor) {
  Value w = getReals(layer, first), r = getReals(layer, first + 1),
        bias = layer.getInput(first + 2);
  if (!x || !w || !r || !bias)
    return {};
  for (Value operand : {x, w, r, bias})
    if (!getElement(operand).isF32())
      return layer.unsupported("has an operand of type " +
                               getTypeName(getElement(operand)) +
                               "; nnc handles FLOAT32");
  if (getRank(x) != 3 || getRank(w) != 2 || getRank(r) != 2 ||
      getNumElements(x) == 0 || getShape(w)[1] != getShape(x)[2] ||
      getShape(r)[0] != getShape(w)[0] || getShape(r)[1] != getShape(w)[0] ||
      getNumElements(bias) != getShape(w)[0])
    return layer.broken("has weights of shapes " + toString(getShape(w)) +
                        " and " + toString(getShape(r)) +
                        " that do not fit an input of shape " +
                        toString(getShape(x)));
  int64_t units = getShape(w)[0], axis = isTimeMajor ? 0 : 1;
  int64_t steps = getShape(x)[axis], batch = getShape(x)[1 - axis];
  if (steps > kMaxSteps)
    return layer.unsupported("has sequences of " + Twine(steps) +
                             " steps; nnc handles at most " + Twine(kMaxSteps));
  Variable *variable = layer.getVariable(
      state, RankedTensorType::get({batch, units}, getElement(x)));
  if (!variable)
    return {};
  auto multiply = [&](Value a, Value b) {
    return layer.create<nn::MatMulOp>(a, b, /*transpose_a=*/false,
                                      /*transpose_b=*/true, TypeAttr());
  };
  // The products that do not depend on the previous step are computed as one
  // product.
  Value rows = layer.reshape(x, {steps * batch, getShape(x)[2]});
  Value sums = layer.createElementwise(
      "add", {multiply(rows, w), layer.reshape(bias, {units})});
  SmallVector<int64_t> shape(getShape(x)), sizes;
  shape[2] = units;
  sums = layer.reshape(sums, shape);
  sizes = shape;
  sizes[axis] = 1;
  SmallVector<Value> results;
  Value h = variable->value;
  for (int64_t t = 0; t < steps; ++t) {
    SmallVector<int64_t> starts(3, 0);
    starts[axis] = t;
    Value own = layer.reshape(layer.slice(sums, starts, sizes), {batch, units});
    h = activate(layer, layer.createElementwise("add", {own, multiply(h, r)}),
                 activation);
    results.push_back(layer.reshape(h, sizes));
  }
  variable->value = h;
  return layer.create<nn::ConcatOp>(ValueRange(results), axis);
}

Value convertStepRnn(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::StepRnnOptions>(fb::Options::StepRnn);
  Value x = layer.getInput(0);
  if (!options || !x)
    return {};
  if (getRank(x) != 2)
    return layer.broken("needs vectors, not an input of shape " +
                        toString(getShape(x)));
  ArrayRef<int64_t> shape = getShape(x);
  Value y = computeRnn(layer, layer.reshape(x, {shape[0], 1, shape[1]}), 1, 4,
                       options->activation(), /*isTimeMajor=*/false);
  return y ? layer.reshape(y, {shape[0], getShape(y)[2]}) : Value();
}

Value convertRnn(Layer &layer) {
  const auto *options = layer.getOptions<fb::RnnOptions>(fb::Options::Rnn);
  return options ? computeRnn(layer, layer.getInput(0), 1, 4,
                              options->activation(), options->time_major())
                 : Value();
}

Value convertTwoWayRnn(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::TwoWayRnnOptions>(fb::Options::TwoWayRnn);
  Value x = layer.getInput(0);
  if (!options || !x)
    return {};
  for (size_t i = 9; i < 12; ++i)
    if (layer.hasInput(i))
      return layer.unsupported("has a second input for the cells");
  if (getRank(x) != 3)
    return layer.broken("needs sequences of 3 axes, not of shape " +
                        toString(getShape(x)));
  bool isTimeMajor = options->time_major();
  Value forward =
      computeRnn(layer, x, 1, 4, options->activation(), isTimeMajor);
  Value backward = computeRnn(layer, reverseSteps(layer, x, isTimeMajor), 5, 8,
                              options->activation(), isTimeMajor);
  return joinDirections(layer, forward, backward, isTimeMajor,
                        options->merges());
}

} // namespace nnc::tflite
