//===- Shapes.cpp - Constants, reshapes, and shapes as values -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/lengths/Lengths.h"
#include "frontends/tensorflow/moves/Moves.h"
#include "frontends/tensorflow/signal/Complex.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

Value convertConst(Layer &layer) {
  const pb::TensorProto *tensor = layer.getTensor("value");
  if (!tensor)
    return layer.broken("has no value");
  if (tensor->dtype() == pb::DT_STRING) {
    layer.setPassed(0, {Passed::text, {}, "'" + layer.getNode().name() + "'"});
    return {};
  }
  if (tensor->dtype() == pb::DT_COMPLEX64)
    return convertComplexConst(layer, *tensor);
  return layer.constant(layer.getImporter().getConstant(
      *tensor, layer.getNode().name(), layer.getLoc()));
}

Value convertIdentity(Layer &layer) {
  layer.setPassed(0, layer.getPassed(0));
  return {};
}

Value convertIdentityN(Layer &layer) {
  for (auto [i, input] : llvm::enumerate(layer.getInputs()))
    layer.setPassed(i, input);
  return {};
}

//===----------------------------------------------------------------------===//
// Shapes as values
//===----------------------------------------------------------------------===//

/// Returns the shape of input `i` as a vector.
static Value getShapeOf(Layer &layer, size_t i) {
  Value x = layer.getInput(i);
  Type element = layer.getType("out_type", pb::DT_INT32);
  if (!x || !element)
    return {};
  auto computed = getRunTimeShape(layer, x, element);
  return computed ? *computed : layer.vectorOf(getShape(x), element);
}

Value convertShape(Layer &layer) { return getShapeOf(layer, 0); }

Value convertShapeN(Layer &layer) {
  for (size_t i = 0; i < layer.getNumInputs(); ++i)
    layer.setResult(i, getShapeOf(layer, i));
  return {};
}

Value convertSize(Layer &layer) {
  Value x = layer.getInput(0);
  Type element = layer.getType("out_type", pb::DT_INT32);
  if (!x || !element)
    return {};
  if (auto computed = getRunTimeShape(layer, x, element))
    return layer.create<nn::ReduceOp>(nn::ReduceKind::prod, *computed,
                                      ArrayRef<int64_t>{0},
                                      /*keepdims=*/false);
  return layer.splat(double(getNumElements(x)), element);
}

Value convertRank(Layer &layer) {
  Value x = layer.getInput(0);
  return x ? layer.splat(double(getRank(x)), layer.getBuilder().getI32Type())
           : Value();
}

Value convertZerosLike(Layer &layer) {
  Value x = layer.getInput(0);
  return x ? layer.splat(0.0, getElement(x), getShape(x)) : Value();
}

Value convertOnesLike(Layer &layer) {
  Value x = layer.getInput(0);
  return x ? layer.splat(1.0, getElement(x), getShape(x)) : Value();
}

Value convertBroadcastArgs(Layer &layer) {
  auto a = layer.readInts(layer.getInput(0), "a shape"),
       b = layer.readInts(layer.getInput(1), "a shape");
  if (!a || !b)
    return {};
  Sizes shape(std::max(a->size(), b->size()), 1);
  for (const Sizes &each : {*a, *b})
    for (size_t i = 0; i < each.size(); ++i) {
      int64_t &size = shape[shape.size() - each.size() + i];
      if (size != 1 && each[i] != 1 && size != each[i])
        return layer.broken("has shapes that do not broadcast: " +
                            toString(*a) + " and " + toString(*b));
      size = size == 1 ? each[i] : size;
    }
  return layer.vectorOf(shape, getElement(layer.getInput(0)));
}

//===----------------------------------------------------------------------===//
// Numbers in sequence
//===----------------------------------------------------------------------===//

/// Returns a vector of `count` numbers, from `start` in steps of `step`.
static Value makeNumbers(Layer &layer, int64_t count, double start, double step,
                         Type element) {
  if (count < 0 || count > 1 << 24)
    return layer.fail(ImportStatus::limit,
                      "makes " + Twine(count) +
                          " numbers; nnc handles 0 to 16777216");
  if (isa<IntegerType>(element)) {
    Sizes values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(int64_t(start) + i * int64_t(step));
    return layer.vectorOf(values, element);
  }
  SmallVector<float> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(float(start + double(i) * step));
  auto type = RankedTensorType::get(count, layer.getBuilder().getF32Type());
  if (count == 0)
    return layer.constant(DenseElementsAttr::get(type, ArrayRef<Attribute>()));
  return layer.castTo(
      layer.constant(DenseElementsAttr::get(type, ArrayRef(values))), element);
}

/// Returns the one number in input `i`; nullopt after an error.
static std::optional<double> readNumber(Layer &layer, size_t i) {
  Value x = layer.getInput(i);
  if (!x)
    return std::nullopt;
  auto known = readElements(x);
  if (!known) {
    layer.needsKnown(x, "numbers");
    return std::nullopt;
  }
  if (known->reals.size() + known->ints.size() == 1)
    return known->isReal() ? known->reals[0] : double(known->ints[0]);
  layer.broken("needs one number as input " + Twine(i));
  return std::nullopt;
}

Value convertRange(Layer &layer) {
  auto start = readNumber(layer, 0), limit = readNumber(layer, 1),
       step = readNumber(layer, 2);
  if (!start || !limit || !step)
    return {};
  double count = std::ceil((*limit - *start) / *step);
  if (*step == 0 || !std::isfinite(count))
    return layer.broken("counts in steps of " + toString(*step));
  return makeNumbers(layer, int64_t(std::clamp(count, 0.0, 1e9)), *start, *step,
                     getElement(layer.getInput(0)));
}

Value convertLinSpace(Layer &layer) {
  auto start = readNumber(layer, 0), stop = readNumber(layer, 1),
       count = readNumber(layer, 2);
  if (!start || !stop || !count)
    return {};
  double step = *count > 1 ? (*stop - *start) / (*count - 1) : 0.0;
  return makeNumbers(layer, int64_t(std::clamp(*count, -1.0, 1e9)), *start,
                     step, getElement(layer.getInput(0)));
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

Value convertReshape(Layer &layer) {
  Value x = layer.getInput(0);
  auto shape = layer.readInts(layer.getInput(1), "sizes");
  if (!x || !shape)
    return {};
  int64_t known = 1, *open = nullptr;
  for (int64_t &size : *shape) {
    if (size < -1 || (size == -1 && open) || size > kMaxDim ||
        (size > 0 && known > (int64_t(1) << 40)))
      return layer.broken("has a shape of " + toString(*shape));
    if (size == -1)
      open = &size;
    else
      known *= size;
  }
  if (open)
    *open = known ? getNumElements(x) / known : 0;
  if (product(*shape) != getNumElements(x))
    return layer.broken("reshapes a tensor of shape " + toString(getShape(x)) +
                        " to " + toString(*shape));
  // The order of axes does not matter where all but one have size 1.
  Value image = Layer::getChannelsFirst(x);
  bool isVector = image && llvm::all_of(getShape(image).drop_front(2),
                                        [](int64_t size) { return size == 1; });
  return layer.reshape(isVector ? image : x, *shape);
}

Value convertSqueeze(Layer &layer) {
  Value x = layer.getInput(0);
  if (!x)
    return {};
  Sizes axes = layer.getInts("squeeze_dims");
  if (!layer.normalizeAxes(axes, getRank(x)))
    return {};
  Sizes shape;
  for (auto [i, size] : llvm::enumerate(getShape(x))) {
    bool isNamed = axes.empty() ? size == 1 : llvm::is_contained(axes, i);
    if (isNamed && size != 1)
      return layer.broken("squeezes axis " + Twine(i) + " of shape " +
                          toString(getShape(x)));
    if (!isNamed)
      shape.push_back(size);
  }
  // Conv1D squeezes the height of an image of one row: the rows' channels stay
  // last, and a transpose follows.
  Value image = Layer::getChannelsFirst(x);
  if (image && getRank(x) == 4 && axes.size() == 1 &&
      (axes[0] == 1 || axes[0] == 2)) {
    Sizes line(getShape(image));
    line.erase(line.begin() + axes[0] + 1);
    return layer.toChannelsLast(layer.reshape(image, line));
  }
  return layer.reshape(x, shape);
}

Value convertExpandDims(Layer &layer) {
  Value x = layer.getInput(0);
  auto axis = x ? layer.readAxis(1, getRank(x) + 1) : std::nullopt;
  if (!axis)
    return {};
  Sizes shape(getShape(x));
  shape.insert(shape.begin() + *axis, 1);
  Value image = Layer::getChannelsFirst(x);
  if (image && getRank(x) == 3 && (*axis == 1 || *axis == 2)) {
    Sizes planes(getShape(image));
    planes.insert(planes.begin() + *axis + 1, 1);
    return layer.toChannelsLast(layer.reshape(image, planes));
  }
  return layer.reshape(x, shape);
}

Value convertTranspose(Layer &layer) {
  Value x = layer.getInput(0);
  auto order = layer.readInts(layer.getInput(1), "an order of axes");
  if (!order || !x || !layer.normalizeAxes(*order, getRank(x)))
    return {};
  if (int64_t(order->size()) != getRank(x))
    return layer.broken("has an order of " + Twine(order->size()) +
                        " axes for " + Twine(getRank(x)));
  return layer.transpose(x, *order);
}

Value convertInvertPermutation(Layer &layer) {
  Value x = layer.getInput(0);
  auto order = layer.readInts(x, "a permutation");
  if (!order)
    return {};
  Sizes inverse(order->size(), -1);
  for (auto [i, place] : llvm::enumerate(*order)) {
    if (place < 0 || place >= int64_t(inverse.size()) || inverse[place] >= 0)
      return layer.broken("has " + toString(*order) +
                          ", which is no permutation");
    inverse[place] = int64_t(i);
  }
  return layer.vectorOf(inverse, getElement(x));
}

//===----------------------------------------------------------------------===//
// Repeated elements
//===----------------------------------------------------------------------===//

Value convertBroadcastTo(Layer &layer) {
  auto shape = layer.readInts(layer.getInput(1), "sizes");
  return shape ? layer.expand(layer.getInput(0), *shape) : Value();
}

Value convertFill(Layer &layer) {
  auto filling = readElements(layer.getInput(1));
  if (filling && filling->type.getNumElements() == 1)
    if (Value y = fillByLengths(layer, layer.getInput(0),
                                filling->isReal() ? filling->reals[0]
                                                  : double(filling->ints[0]),
                                filling->type.getElementType()))
      return y;
  auto shape = layer.readInts(layer.getInput(0), "sizes");
  Value value = layer.getInput(1);
  if (!shape || !value)
    return {};
  if (getNumElements(value) != 1 ||
      llvm::any_of(*shape, [](int64_t size) { return size < 0; }))
    return layer.broken("fills a tensor of shape " + toString(*shape) +
                        " with one of shape " + toString(getShape(value)));
  auto constant = value.getDefiningOp<nn::ConstantOp>();
  if (auto known = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                            : DenseElementsAttr())
    return layer.splat(cast<TypedAttr>(*known.value_begin<Attribute>()),
                       *shape);
  return layer.expand(layer.reshape(value, {}), *shape);
}

Value convertTile(Layer &layer) {
  Value x = layer.getInput(0);
  auto repeats = layer.readInts(layer.getInput(1), "numbers of copies");
  if (!repeats || !x)
    return {};
  if (int64_t(repeats->size()) != getRank(x) ||
      llvm::any_of(*repeats, [](int64_t n) { return n < 0 || n > 1 << 30; }))
    return layer.broken("repeats a tensor of shape " + toString(getShape(x)) +
                        " " + toString(*repeats) + " times");
  // A copied axis becomes two, of which the first counts the copies.
  Sizes from, to, shape;
  for (auto [size, copies] : llvm::zip(getShape(x), *repeats)) {
    if (copies != 1) {
      from.push_back(1);
      to.push_back(copies);
    }
    from.push_back(size);
    to.push_back(size);
    shape.push_back(size * copies);
  }
  return layer.reshape(layer.expand(layer.reshape(x, from), to), shape);
}

} // namespace nnc::tensorflow
