//===- Complex.cpp - Complex numbers --------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A tensor of complex numbers has a further axis, the last one, for the real
// and the imaginary part.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/signal/Complex.h"

#include "frontends/common/Atan2.h"
#include "frontends/tensorflow/moves/Moves.h"

#include <cstring>

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

namespace {
/// Real and imaginary parts, without the axis that joins them.
struct Parts {
  Value real, imaginary;
};
} // namespace

/// Returns part 0 or 1 of complex numbers.
static Value takePart(Layer &layer, Value x, int64_t part) {
  if (!x)
    return {};
  Sizes starts(getRank(x), 0), shape(getShape(x));
  starts.back() = part;
  shape.back() = 1;
  x = layer.slice(x, starts, shape);
  shape.pop_back();
  return layer.reshape(x, shape);
}

/// Returns the complex numbers of input `i`; null after an error.
static Value getComplex(Layer &layer, size_t i = 0) {
  if (i < layer.getNumInputs() && layer.getPassed(i).kind == Passed::complex)
    return layer.getPassed(i).value;
  return layer.unsupported("needs complex numbers, as RFFT gives");
}

static Parts getParts(Layer &layer, size_t i) {
  Value x = getComplex(layer, i);
  return {takePart(layer, x, 0), takePart(layer, x, 1)};
}

/// Makes complex numbers the first result.
static Value setComplex(Layer &layer, Parts parts) {
  if (!parts.real || !parts.imaginary)
    return {};
  SmallVector<Value> both;
  for (Value part : {parts.real, parts.imaginary}) {
    Sizes shape(getShape(part));
    shape.push_back(1);
    both.push_back(layer.reshape(part, shape));
  }
  if (Value y = join(layer, both, getRank(both[0]) - 1))
    layer.setPassed(0, {Passed::complex, y});
  return {};
}

Value convertComplex(Layer &layer, StringRef op) {
  auto compute = [&](StringRef name, ArrayRef<Value> operands) {
    return layer.createElementwise(name, operands);
  };
  Parts a = getParts(layer, 0);
  if (op == "neg")
    return setComplex(
        layer, {compute("neg", {a.real}), compute("neg", {a.imaginary})});
  if (op == "exp") {
    Value scale = compute("exp", {a.real});
    return setComplex(layer,
                      {compute("mul", {scale, compute("cos", {a.imaginary})}),
                       compute("mul", {scale, compute("sin", {a.imaginary})})});
  }
  if (op != "add" && op != "sub" && op != "mul" && op != "div")
    return layer.unsupported("computes with complex numbers, on which nnc "
                             "handles Add, Sub, Mul, Div, Neg and Exp");
  Parts b = getParts(layer, 1);
  if (op == "div") {
    // The quotient is the product with the conjugate over the squared size.
    Value size = compute("add", {compute("mul", {b.real, b.real}),
                                 compute("mul", {b.imaginary, b.imaginary})});
    b = {compute("div", {b.real, size}),
         compute("neg", {compute("div", {b.imaginary, size})})};
  } else if (op != "mul")
    return setComplex(layer, {compute(op, {a.real, b.real}),
                              compute(op, {a.imaginary, b.imaginary})});
  auto product = [&](Value x, Value y) { return compute("mul", {x, y}); };
  return setComplex(layer, {compute("sub", {product(a.real, b.real),
                                            product(a.imaginary, b.imaginary)}),
                            compute("add", {product(a.real, b.imaginary),
                                            product(a.imaginary, b.real)})});
}

Value convertComplexConst(Layer &layer, const pb::TensorProto &tensor) {
  auto shape = readShape(tensor.tensor_shape());
  int64_t count = shape ? 2 : 0;
  for (int64_t size : shape.value_or(Sizes())) {
    if (size < 0 || size > 1 << 22 || (count *= size) > 1 << 22)
      return layer.fail(ImportStatus::limit,
                        "has more complex numbers than nnc handles, 2097152");
  }
  SmallVector<float> values(count);
  const std::string &content = tensor.tensor_content();
  const auto &list = tensor.scomplex_val();
  if (content.size() == values.size() * sizeof(float))
    std::memcpy(values.data(), content.data(), content.size());
  else if (content.empty() && list.size() % 2 == 0 && list.size() <= count &&
           !list.empty())
    for (int64_t i = 0; i < count; ++i)
      values[i] = list[int(std::min<int64_t>(i, list.size() - 2 + i % 2))];
  else
    return layer.broken("has another number of elements than its shape");
  if (!shape || count == 0)
    return layer.unsupported("has no complex numbers");
  shape->push_back(2);
  layer.setPassed(
      0, {Passed::complex,
          layer.constant(DenseElementsAttr::get(
              RankedTensorType::get(*shape, layer.getBuilder().getF32Type()),
              ArrayRef(values)))});
  return {};
}

/// Returns true if the attribute `name` of the layer is a type of complex
/// numbers of two floats.
static bool isComplexType(Layer &layer, const char *name) {
  auto found = layer.getNode().attr().find(name);
  return found != layer.getNode().attr().end() &&
         found->second.type() == pb::DT_COMPLEX64;
}

bool convertsComplex(Layer &layer) {
  return layer.getPassed(0).kind == Passed::complex ||
         isComplexType(layer, "DstT");
}

Value convertComplexCast(Layer &layer) {
  bool toComplex = isComplexType(layer, "DstT");
  if (layer.getPassed(0).kind == Passed::complex && toComplex) {
    layer.setPassed(0, layer.getPassed(0));
    return {};
  }
  if (!toComplex) {
    Type to = layer.getType("DstT");
    return to ? layer.castTo(takePart(layer, getComplex(layer), 0), to)
              : Value();
  }
  Value x = layer.getInput(0);
  if (!x)
    return {};
  x = layer.castTo(x, layer.getBuilder().getF32Type());
  return setComplex(layer, {x, layer.splat(0.0, getElement(x), getShape(x))});
}

Value convertMakeComplex(Layer &layer) {
  Value real = layer.getInput(0), imaginary = layer.getInput(1);
  if (!real || !imaginary)
    return {};
  // Both broadcast to one shape.
  Value zeros = layer.createElementwise(
      "mul", {layer.createElementwise("add", {real, imaginary}),
              layer.splat(0.0, getElement(real))});
  if (getShape(real) != getShape(imaginary)) {
    real = layer.expand(real, getShape(zeros));
    imaginary = layer.expand(imaginary, getShape(zeros));
  }
  return setComplex(layer, {real, imaginary});
}

Value convertComplexAbs(Layer &layer) {
  Value x = getComplex(layer);
  return x ? layer.create<nn::ReduceOp>(nn::ReduceKind::l2, x,
                                        ArrayRef<int64_t>{getRank(x) - 1},
                                        /*keepdims=*/false)
           : Value();
}

Value convertAngle(Layer &layer) {
  Parts x = getParts(layer, 0);
  return computeAtan2(layer, x.imaginary, x.real);
}
Value convertConj(Layer &layer) {
  if (layer.getPassed(0).isTensor())
    return layer.getInput(0);
  Parts x = getParts(layer, 0);
  return setComplex(layer,
                    {x.real, layer.createElementwise("neg", {x.imaginary})});
}

Value convertReal(Layer &layer) {
  return takePart(layer, getComplex(layer), 0);
}
Value convertImag(Layer &layer) {
  return takePart(layer, getComplex(layer), 1);
}

} // namespace nnc::tensorflow
