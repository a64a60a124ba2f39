//===- Recurrent.cpp - Operators that keep values between runs ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/tensors/TensorData.h"
#include "frontends/tflite/qnn/Quantized.h"
#include "frontends/tflite/recurrent/Cells.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// Returns the product of two scales, in f32 as in TFLite.
static double multiplyScales(double a, double b) {
  return static_cast<float>(a) * static_cast<float>(b);
}

/// Returns the sum of each row of `weights` times `factor`, plus `bias` unless
/// that is null; nullopt after an error if weights or bias are not integer
/// constants.
static std::optional<SmallVector<int64_t>>
sumRows(Layer &layer, Value weights, int64_t rows, int64_t factor, Value bias) {
  auto read = [&](Value value, StringRef what) -> std::optional<TensorData> {
    std::optional<TensorData> data = TensorData::get(value);
    if (data && isa<IntegerType>(data->getElementType()))
      return data;
    layer.unsupported("needs " + what + " of integers that are known when " +
                      "compiling");
    return std::nullopt;
  };
  std::optional<TensorData> elements = read(weights, "weights"), known;
  if (!elements || (bias && !(known = read(bias, "a bias"))))
    return std::nullopt;
  if (known && known->getNumElements() != rows) {
    layer.broken("needs a bias of " + Twine(rows) +
                 " elements, not one of shape " + toString(getShape(bias)));
    return std::nullopt;
  }
  SmallVector<int64_t> sums(rows, 0);
  int64_t columns = rows ? elements->getNumElements() / rows : 0;
  for (int64_t i = 0; i < rows; ++i) {
    int64_t sum = 0;
    for (int64_t j = 0; j < columns; ++j)
      sum += static_cast<int64_t>(elements->getReal(i * columns + j));
    sums[i] =
        factor * sum + (known ? static_cast<int64_t>(known->getReal(i)) : 0);
  }
  return sums;
}

/// Returns a constant of this shape and the type i32, or i64 if `wide` is set.
/// Values that exceed i32 wrap around, as in TFLite's kernels.
static Value makeBias(Layer &layer, ArrayRef<int64_t> values,
                      ArrayRef<int64_t> shape, bool wide = false) {
  if (wide)
    return layer.constant(DenseElementsAttr::get(
        RankedTensorType::get(shape, layer.getBuilder().getI64Type()), values));
  SmallVector<int32_t> narrow;
  for (int64_t value : values)
    narrow.push_back(static_cast<int32_t>(value));
  return layer.constant(DenseElementsAttr::get(
      RankedTensorType::get(shape, layer.getBuilder().getI32Type()),
      ArrayRef(narrow)));
}

//===----------------------------------------------------------------------===//
// SVDF
//===----------------------------------------------------------------------===//

namespace {
/// The sizes of an SVDF. Each of `units` results is the sum of `rank` filters,
/// each of which keeps its last `memory` features.
struct SvdfSizes {
  int64_t batch, filters, memory, units, rank;
};
} // namespace

/// Returns the sums of the filters over time, before the bias, as a grouped
/// convolution with one group per unit. The shape is batch x units x 1 x 1.
static Value sumOverTime(Layer &layer, Value queue, Value time,
                         const SvdfSizes &sizes, TypeAttr accumulator) {
  Value image =
      layer.reshape(queue, {sizes.batch, sizes.filters, 1, sizes.memory});
  Value weights =
      layer.reshape(time, {sizes.units, sizes.rank, 1, sizes.memory});
  SmallVector<int64_t> ones = {1, 1}, zeros = {0, 0, 0, 0};
  return layer.create<nn::ConvOp>(
      image, weights, ArrayRef<int64_t>(ones), ArrayRef<int64_t>(ones),
      ArrayRef<int64_t>(zeros), sizes.units, accumulator);
}

/// Appends `features`, batch x filters, to the queue of features, keeps the
/// queue for the next run, and returns it in the shape batch x filters x
/// memory.
static Value remember(Layer &layer, Variable &variable, Value features,
                      const SvdfSizes &sizes) {
  Value queue =
      layer.reshape(variable.value, {sizes.batch, sizes.filters, sizes.memory});
  queue = layer.create<nn::PushOp>(
      queue, layer.reshape(features, {sizes.batch, sizes.filters, 1}),
      int64_t(2));
  if (Value next = layer.reshape(queue, getShape(variable.value)))
    variable.value = next;
  return queue;
}

static Value computeIntegerSvdf(Layer &layer, Value x, Variable &variable,
                                const SvdfSizes &sizes) {
  Quantization in = layer.getInputQuantization(0),
               weights = layer.getInputQuantization(1),
               time = layer.getInputQuantization(2),
               state = layer.getInputQuantization(4),
               out = layer.getOutputQuantization();
  Type kept = getElement(variable.value);
  if (!in || !weights || !time || !state || !out || weights.axis >= 0 ||
      time.axis >= 0)
    return layer.unsupported("needs one scale for each of its tensors");
  if (!getElement(x).isSignlessInteger(8) ||
      getElement(layer.getInput(2)) != kept ||
      !(kept.isSignlessInteger(8) || kept.isSignlessInteger(16)) ||
      !layer.getOutputElement().isSignlessInteger(8))
    return layer.unsupported("computes with integers other than an INT8 input "
                             "and result and an INT16 or INT8 state");
  // Features are sums of products with the input, in the state's type.
  TypeAttr wide = TypeAttr::get(layer.getBuilder().getI32Type());
  auto bias =
      sumRows(layer, layer.getInput(1), sizes.filters, -in.getZeroPoint(), {});
  if (!bias)
    return {};
  Value sums = layer.create<nn::MatMulOp>(
      x, layer.getInput(1), /*transpose_a=*/false, /*transpose_b=*/true, wide);
  sums = layer.createElementwise(
      "add", {sums, makeBias(layer, *bias, {sizes.filters})});
  // TFLite divides in f32.
  double factor =
      static_cast<float>(multiplyScales(in.getScale(), weights.getScale()) /
                         static_cast<float>(state.getScale()));
  Range range = getRange(kept);
  Value features = rescale(layer, sums, factor);
  features = layer.createElementwise(
      "min",
      {layer.createElementwise("max", {features, constantOf(layer, range.min)}),
       constantOf(layer, range.max)});
  if (state.getZeroPoint() != 0)
    features = layer.createElementwise(
        "add", {features, constantOf(layer, state.getZeroPoint())});
  Value queue = remember(layer, variable, layer.castTo(features, kept), sizes);
  // Results are the filters over time, whose sums include the bias.
  auto offsets =
      sumRows(layer, layer.getInput(2), sizes.units, -state.getZeroPoint(),
              layer.hasInput(3) ? layer.getInput(3) : Value());
  if (!offsets)
    return {};
  Value y = sumOverTime(layer, queue, layer.getInput(2), sizes, wide);
  y = layer.createElementwise(
      "add", {y, makeBias(layer, *offsets, {sizes.units, 1, 1})});
  factor =
      static_cast<float>(multiplyScales(state.getScale(), time.getScale()) /
                         static_cast<float>(out.getScale()));
  y = storeRescaled(layer, y, qnn::toFixedPoint(factor),
                    getRange(layer.getOutputElement()));
  return layer.reshape(y, {sizes.batch, sizes.units});
}

Value convertSvdf(Layer &layer) {
  const auto *options = layer.getOptions<fb::SvdfOptions>(fb::Options::Svdf);
  Value x = layer.getInput(0), weights = layer.getInput(1),
        time = layer.getInput(2);
  if (!options || !x || !weights || !time)
    return {};
  Variable *variable = layer.getVariable(4);
  if (!variable)
    return {};
  SvdfSizes sizes = {};
  sizes.rank = options->rank();
  bool fits = getRank(x) == 2 && getRank(weights) == 2 && getRank(time) == 2 &&
              getShape(weights)[1] == getShape(x)[1] &&
              getShape(time)[0] == getShape(weights)[0] && sizes.rank > 0 &&
              getShape(time)[0] % sizes.rank == 0;
  if (fits) {
    sizes.batch = getShape(x)[0];
    sizes.filters = getShape(time)[0];
    sizes.memory = getShape(time)[1];
    sizes.units = sizes.filters / sizes.rank;
    fits = sizes.memory > 0 && getNumElements(variable->value) ==
                                   sizes.batch * sizes.filters * sizes.memory;
  }
  if (!fits)
    return layer.broken(
        "has an input, weights and a state that do not fit: " +
        toString(getShape(x)) + ", " + toString(getShape(weights)) + ", " +
        toString(getShape(time)) + ", " + toString(getShape(variable->value)) +
        ", of rank " + Twine(sizes.rank));
  Type real = layer.getBuilder().getF32Type();
  if (getElement(x) != real)
    return computeIntegerSvdf(layer, x, *variable, sizes);
  weights = getReals(layer, 1);
  time = getReals(layer, 2);
  if (!weights || !time)
    return {};
  if (getElement(weights) != real || getElement(time) != real ||
      getElement(variable->value) != real)
    return layer.unsupported("mixes floats with integers that are not "
                             "quantized, or with a state of integers");
  Value features = layer.create<nn::MatMulOp>(x, weights, /*transpose_a=*/false,
                                              /*transpose_b=*/true, TypeAttr());
  Value queue = remember(layer, *variable, features, sizes);
  Value y = sumOverTime(layer, queue, time, sizes, TypeAttr());
  if (Value bias = layer.hasInput(3) ? layer.getInput(3) : Value()) {
    if (getNumElements(bias) != sizes.units)
      return layer.broken("needs a bias of " + Twine(sizes.units) +
                          " elements, not one of shape " +
                          toString(getShape(bias)));
    y = layer.createElementwise("add",
                                {y, layer.reshape(bias, {sizes.units, 1, 1})});
  }
  return layer.reshape(activate(layer, y, options->activation()),
                       {sizes.batch, sizes.units});
}

//===----------------------------------------------------------------------===//
// LSTM
//===----------------------------------------------------------------------===//

/// Returns four inputs from `first` on (for the input gate, the forget gate,
/// the cell and the output gate), stacked to one tensor of shape 4 x `shape`.
static Value joinGates(Layer &layer, size_t first, ArrayRef<int64_t> shape) {
  bool isFloat = getElement(layer.getInput(0)).isF32();
  SmallVector<int64_t> slab = {1};
  slab.append(shape.begin(), shape.end());
  SmallVector<Value> parts;
  for (size_t i = first; i < first + 4; ++i) {
    Value part = isFloat ? getReals(layer, i) : layer.getInput(i);
    if (part && getShape(part) != shape)
      return layer.broken("has operand " + Twine(i) + " of shape " +
                          toString(getShape(part)) + ", not " +
                          toString(shape));
    parts.push_back(layer.reshape(part, slab));
  }
  return layer.create<nn::ConcatOp>(ValueRange(parts), int64_t(0));
}

/// Returns TFLite's table of the logistic function at k / 24 in units of 2^-16,
/// for k from 0 to 255. Some entries are one unit above the nearest number,
/// because the table is optimized for linear interpolation.
static Value makeSigmoids(Layer &layer) {
  static constexpr uint64_t kAbove[] = {0xc0467baefa7bd110, 0x0011009020440005,
                                        0x80, 0x8000000000000000};
  SmallVector<uint16_t> table;
  for (int k = 0; k < 256; ++k) {
    double nearest = std::round(65536 / (1 + std::exp(-k / 24.0)));
    table.push_back(static_cast<uint16_t>(std::min(nearest, 65535.0) +
                                          (kAbove[k / 64] >> (k % 64) & 1)));
  }
  return layer.constant(DenseElementsAttr::get(
      RankedTensorType::get(256, IntegerType::get(layer.getLoc().getContext(),
                                                  16, IntegerType::Unsigned)),
      ArrayRef(table)));
}

/// Splits the packed result of an LSTM op into the operator's result and the
/// next values of its variables.
static Value splitLstm(Layer &layer, Value packed, Variable &output,
                       Variable &cell, bool isTimeMajor) {
  if (!packed)
    return {};
  ArrayRef<int64_t> x = getShape(layer.getInput(0));
  int64_t units = getShape(packed)[1], rows = x[0] * x[1];
  int64_t batch = x[isTimeMajor ? 1 : 0], steps = x[isTimeMajor ? 0 : 1];
  Value y = layer.reshape(layer.slice(packed, {0, 0}, {rows, units}),
                          {x[0], x[1], units});
  Value last = isTimeMajor
                   ? layer.slice(y, {steps - 1, 0, 0}, {1, batch, units})
                   : layer.slice(y, {0, steps - 1, 0}, {batch, 1, units});
  output.value = layer.reshape(last, getShape(output.value));
  cell.value = layer.reshape(
      layer.slice(packed, {rows, 0}, {getShape(packed)[0] - rows, units}),
      getShape(cell.value));
  return y;
}

/// Returns the quantization of the cells' outputs: that of the output state, or
/// in LiteRT that of the last of five intermediate tensors.
static Quantization getResults(Layer &layer) {
  Quantization stated =
      layer.isLiteRt() ? layer.getIntermediateQuantization(4) : Quantization();
  return stated ? stated : layer.getInputQuantization(18);
}

/// Returns the pairs of multiplier and shift of nn.integer_lstm; nullopt after
/// an error if a scale is missing.
static std::optional<SmallVector<int64_t>> makeFactors(Layer &layer,
                                                       bool isInt16Activation) {
  Quantization in = layer.getInputQuantization(0),
               state = layer.getInputQuantization(18),
               cell = layer.getInputQuantization(19);
  SmallVector<int64_t> factors;
  bool fits = true;
  auto add = [&](double factor) {
    qnn::FixedPoint fixed = qnn::toFixedPoint(factor);
    factors.push_back(fixed.multiplier);
    factors.push_back(fixed.shift);
  };
  auto addOfSums = [&](double factor) {
    add(factor);
    if (!isInt16Activation)
      return;
    int64_t &multiplier = factors[factors.size() - 2];
    multiplier = std::min<int64_t>((multiplier + (1 << 15)) >> 16, 32767);
    fits &= factors.back() <= 14;
  };
  bool known = in && state && cell;
  for (size_t gate = 0; gate < 4 && known; ++gate) {
    Quantization ofX = layer.getInputQuantization(1 + gate),
                 ofH = layer.getInputQuantization(5 + gate);
    known = ofX && ofH && ofX.axis < 0 && ofH.axis < 0;
    if (!known)
      break;
    // Gates have 12 fraction bits.
    addOfSums(std::ldexp(multiplyScales(in.getScale(), ofX.getScale()), 12));
    addOfSums(std::ldexp(multiplyScales(state.getScale(), ofH.getScale()), 12));
  }
  if (!known) {
    layer.unsupported("needs one scale for its input, its states and each of "
                      "its weights");
    return std::nullopt;
  }
  if (!fits) {
    layer.unsupported("multiplies sums by 4 or more");
    return std::nullopt;
  }
  // Sigmoids and tangents have 15 fraction bits.
  add(std::ldexp(1.0, -15));
  add(std::ldexp(1.0, -30) / cell.getScale());
  // LiteRT divides in f32.
  double results = getResults(layer).getScale();
  add(layer.isLiteRt()
          ? std::ldexp(double(0x1p-15f / static_cast<float>(results)), -15)
          : std::ldexp(1.0, -30) / results);
  return factors;
}

static Value computeIntegerLstm(Layer &layer, Value x, Value w, Value r,
                                Variable &output, Variable &cell,
                                const fb::LstmOptions &options) {
  // 16-bit activations have 64-bit sums.
  bool isInt16Activation = getElement(x).isSignlessInteger(16);
  auto factors = makeFactors(layer, isInt16Activation);
  if (!factors)
    return {};
  Quantization in = layer.getInputQuantization(0),
               state = layer.getInputQuantization(18),
               cells = layer.getInputQuantization(19),
               results = getResults(layer);
  if (isInt16Activation &&
      (in.getZeroPoint() != 0 || state.getZeroPoint() != 0))
    return layer.unsupported("needs zero points of 0 beside INT16");
  int power;
  if (std::frexp(cells.getScale(), &power) != 0.5)
    return layer.unsupported("has a cell state whose scale is not a power of "
                             "two");
  int64_t units = getShape(w)[1];
  SmallVector<int64_t> ofX, ofH;
  for (size_t gate = 0; gate < 4; ++gate) {
    auto one = sumRows(layer, layer.getInput(1 + gate), units,
                       -in.getZeroPoint(), layer.getInput(12 + gate));
    auto other = sumRows(layer, layer.getInput(5 + gate), units,
                         -state.getZeroPoint(), {});
    if (!one || !other)
      return {};
    ofX.append(*one);
    ofH.append(*other);
  }
  // The exponent of frexp() is 0 for 1/2. Arguments of tanh are in [-8, 8).
  int64_t integerBits = 15 + (power - 1);
  int64_t shift = 3 - integerBits, multiplier = 3;
  if (shift <= 0) {
    multiplier = int64_t(3) << std::min<int64_t>(-shift, 12);
    shift = 0;
  }
  // Gates have 16 bits in LiteRT.
  if (layer.isLiteRt() && !isInt16Activation) {
    if (integerBits < 0 || integerBits > 6)
      return layer.unsupported("has a cell state of scale " +
                               toString(cells.getScale()) +
                               "; LiteRT has 2^-15 to 2^-9");
    multiplier = 0;
    shift = integerBits;
  }
  int64_t clip = 0;
  if (options.cell_clip() > 0)
    clip = static_cast<int64_t>(
        std::min(double(options.cell_clip()) / cells.getScale(), 32767.0));
  bool isTimeMajor = options.time_major();
  Value packed = layer.create<nn::IntegerLstmOp>(
      x, w, r, makeBias(layer, ofX, {4, units}, isInt16Activation),
      makeBias(layer, ofH, {4, units}, isInt16Activation),
      makeBias(layer, *factors, {int64_t(factors->size())}),
      makeSigmoids(layer), output.value, cell.value, isTimeMajor,
      results.getZeroPoint(), clip, multiplier, shift,
      layer.getRescale() == qnn::Rescale::single_rounding);
  return splitLstm(layer, packed, output, cell, isTimeMajor);
}

Value convertLstm(Layer &layer) {
  const auto *options = layer.getOptions<fb::LstmOptions>(fb::Options::Lstm);
  Value x = layer.getInput(0);
  if (!options || !x)
    return {};
  if (options->diagonal_recurrent())
    return layer.unsupported("has recurrent weights that are diagonals");
  if (hasVariants(layer, {}))
    return computeCells(layer, x, {},
                        {options->activation(), options->cell_clip(),
                         options->proj_clip(), options->time_major()});
  for (size_t i : {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 15})
    if (!layer.hasInput(i))
      return layer.unsupported("lacks operand " + Twine(i) +
                               "; nnc handles cells with four gates");
  if (options->activation() != fb::Activation::TANH)
    return layer.unsupported("has an activation other than TANH");
  if (getRank(x) != 3 || getNumElements(x) == 0)
    return layer.broken("needs sequences of 3 axes, not of shape " +
                        toString(getShape(x)));
  Value recurrent = layer.getInput(5);
  if (!recurrent)
    return {};
  int64_t units = getRank(recurrent) == 2 ? getShape(recurrent)[0] : 0;
  bool isTimeMajor = options->time_major();
  int64_t batch = getShape(x)[isTimeMajor ? 1 : 0], input = getShape(x)[2];
  Value w = joinGates(layer, 1, {units, input}),
        r = joinGates(layer, 5, {units, units});
  if (!w || !r)
    return {};
  Builder &builder = layer.getBuilder();
  bool isFloat = getElement(x).isF32();
  Type element = getElement(x);
  bool isInt16Activation = element.isSignlessInteger(16);
  if (!isFloat && !((element.isSignlessInteger(8) || isInt16Activation) &&
                    isQuantized(x, layer.getInputQuantization(0))))
    return layer.unsupported("works on " + getTypeName(element) +
                             "; nnc handles FLOAT32, INT8 and INT16");
  Type ofWeights =
      isInt16Activation ? Type(builder.getIntegerType(8)) : element;
  if (getElement(w) != ofWeights || getElement(r) != ofWeights ||
      layer.getOutputElement() != element)
    return layer.unsupported("mixes types of elements; nnc handles one");
  // A 16-bit cell state is stored as two bytes if the output state has 8 bits.
  const fb::Tensor *stated = layer.getInputTensor(19);
  if (!isFloat && stated && stated->type() != fb::TensorType::INT16)
    return layer.unsupported("has a cell state of type " +
                             getTypeName(stated->type()) +
                             "; nnc handles INT16");
  Variable *output =
      layer.getVariable(18, RankedTensorType::get({batch, units}, element));
  Variable *cell = layer.getVariable(
      19,
      RankedTensorType::get(
          {batch, isFloat || isInt16Activation ? units : 2 * units}, element));
  if (!output || !cell)
    return {};
  if (!isFloat)
    return computeIntegerLstm(layer, x, w, r, *output, *cell, *options);
  Value bias = joinGates(layer, 12, {units});
  Value packed = layer.create<nn::LstmOp>(
      x, w, r, bias, output->value, cell->value, isTimeMajor,
      builder.getF64FloatAttr(options->cell_clip()).getValue());
  return splitLstm(layer, packed, *output, *cell, isTimeMajor);
}

//===----------------------------------------------------------------------===//
// Resource variables
//===----------------------------------------------------------------------===//

Value convertVarHandle(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::VarHandleOptions>(fb::Options::VarHandle);
  if (options)
    layer.setHandle(getText(options->container()) + "/" +
                    getText(options->shared_name()));
  return {};
}

/// Returns the variable of a handle with this type; null after an error.
static Variable *findVariable(Layer &layer, RankedTensorType type) {
  std::string handle = layer.readHandle(0);
  if (handle.empty() || !type)
    return nullptr;
  StringRef name = StringRef(handle).rsplit('/').second;
  return layer.getImporter().getVariable("resource/" + handle,
                                         name.empty() ? "variable" : name, type,
                                         layer.getLoc());
}

Value convertReadVariable(Layer &layer) {
  const fb::Tensor *stated = layer.getOutputTensor();
  if (!stated)
    return {};
  Variable *variable = findVariable(
      layer,
      RankedTensorType::get(SmallVector<int64_t>(getList(stated->shape())),
                            layer.getOutputElement()));
  return variable ? variable->value : Value();
}

Value convertAssignVariable(Layer &layer) {
  Value value = layer.getInput(1);
  if (!value)
    return {};
  Variable *variable =
      findVariable(layer, cast<RankedTensorType>(value.getType()));
  if (!variable)
    return {};
  if (!layer.getImporter().isPreparing()) {
    variable->value = value;
    return {};
  }
  auto constant = value.getDefiningOp<nn::ConstantOp>();
  if (!constant)
    return layer.unsupported("computes the first value of a variable; nnc "
                             "handles constants");
  variable->initial = constant.getValue();
  return {};
}

Value convertCallOnce(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::CallOnceOptions>(fb::Options::CallOnce);
  if (!options)
    return {};
  if (options->init_subgraph() < 0)
    return layer.broken("calls subgraph " + Twine(options->init_subgraph()));
  if (layer.getImporter().isConditional())
    return layer.unsupported("prepares the first run in a branch that may not "
                             "be taken");
  layer.prepare(options->init_subgraph());
  return {};
}

} // namespace nnc::tflite
