//===- Complex.cpp - Operators on complex numbers ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A complex tensor is a tensor of floats with one more axis, the last, which
// holds the real and the imaginary part.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/elementwise/Elementwise.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Returns part 0, the real one, or 1 of complex numbers, without the axis of
/// parts.
static Value takePart(Node &node, Value x, int64_t part) {
  if (!x)
    return {};
  Value y = node.slice(x, getRank(x) - 1, part, 1);
  return y ? node.reshape(y, getShape(y).drop_back()) : Value();
}

/// Returns the complex numbers with these parts.
static Value join(Node &node, Value real, Value imaginary) {
  if (!real || !imaginary)
    return {};
  int64_t rank = getRank(real);
  SmallVector<Value> parts = {node.unsqueeze(real, rank),
                              node.unsqueeze(imaginary, rank)};
  return node.create<nn::ConcatOp>(ValueRange(parts), rank);
}

/// Returns true if the argument `name` holds complex numbers.
static bool isComplex(Node &node, StringRef name) {
  return node.getImporter().isComplex(node.getScope(),
                                      node.getTensorName(name));
}

/// Converts view_as_real, view_as_complex and operators that change nothing.
Value convertParts(Node &node) { return node.getTensor("self"); }

Value convertRealPart(Node &node) {
  return takePart(node, node.getTensor("self"), 0);
}
Value convertImaginaryPart(Node &node) {
  return takePart(node, node.getTensor("self"), 1);
}

Value convertConjugate(Node &node) {
  Value x = node.getTensor("self");
  return join(node, takePart(node, x, 0),
              node.createElementwise("neg", {takePart(node, x, 1)}));
}

/// Returns the squares of the absolute values.
static Value getSquares(Node &node, Value real, Value imaginary) {
  return node.createElementwise(
      "add", {node.createElementwise("mul", {real, real}),
              node.createElementwise("mul", {imaginary, imaginary})});
}

Value convertComplexAbs(Node &node) {
  Value x = node.getTensor("self");
  return node.createElementwise(
      "sqrt", {getSquares(node, takePart(node, x, 0), takePart(node, x, 1))});
}

Value convertComplexAngle(Node &node) {
  Value x = node.getTensor("self");
  return computeAtan2(node, takePart(node, x, 1), takePart(node, x, 0));
}

Value convertJoin(Node &node) {
  return join(node, node.getTensor("real"), node.getTensor("imag"));
}

/// Converts polar: the numbers with these absolute values and angles.
Value convertPolar(Node &node) {
  Value size = node.getTensor("abs"), angle = node.getTensor("angle");
  auto scaled = [&](StringRef function) {
    return node.createElementwise(
        "mul", {size, node.createElementwise(function, {angle})});
  };
  return join(node, scaled("cos"), scaled("sin"));
}

namespace {
/// The parts of an operand; the imaginary one is null for real numbers.
struct Parts {
  Value real, imaginary;
};
} // namespace

static Parts getParts(Node &node, StringRef name) {
  if (isComplex(node, name)) {
    Value x = node.getTensor(name);
    return {takePart(node, x, 0), takePart(node, x, 1)};
  }
  Node::Operand operand = node.getOperand(name);
  // The type of the parts is that of the complex operand.
  StringRef other = name == "self" ? "other" : "self";
  Value beside = isComplex(node, other) ? node.getTensor(other) : Value();
  return {node.castTo(operand, getElement(beside)), {}};
}

/// Converts add and sub.
static Value addComplex(Node &node, StringRef op) {
  Parts a = getParts(node, "self"), b = getParts(node, "other");
  double alpha = node.getFloat("alpha", 1);
  auto combine = [&](Value left, Value right) -> Value {
    if (right && alpha != 1)
      right = node.createBinary("mul", right, alpha);
    if (!right)
      return left;
    return left          ? node.createElementwise(op, {left, right})
           : op == "sub" ? node.createElementwise("neg", {right})
                         : right;
  };
  Value real = combine(a.real, b.real),
        imaginary = combine(a.imaginary, b.imaginary);
  // A part of an operand of a smaller shape broadcasts.
  return real && imaginary
             ? join(node, real, node.expand(imaginary, getShape(real)))
             : Value();
}
Value convertComplexAdd(Node &node) { return addComplex(node, "add"); }
Value convertComplexSub(Node &node) { return addComplex(node, "sub"); }

/// Returns the product of two operands, of which at least one is complex.
static Value multiply(Node &node, Parts a, Parts b) {
  auto product = [&](Value x, Value y) {
    return x && y ? node.createElementwise("mul", {x, y}) : Value();
  };
  if (!a.imaginary)
    std::swap(a, b);
  Value real = product(a.real, b.real),
        imaginary = product(a.imaginary, b.real);
  if (b.imaginary) {
    real = node.createElementwise("sub",
                                  {real, product(a.imaginary, b.imaginary)});
    imaginary = node.createElementwise(
        "add", {imaginary, product(a.real, b.imaginary)});
  }
  return join(node, real, imaginary);
}

Value convertComplexMul(Node &node) {
  return multiply(node, getParts(node, "self"), getParts(node, "other"));
}

/// Converts div: the product with the conjugate, divided by its square.
Value convertComplexDiv(Node &node) {
  Parts a = getParts(node, "self"), b = getParts(node, "other");
  Value divisor = b.real;
  Value y;
  if (b.imaginary) {
    divisor = getSquares(node, b.real, b.imaginary);
    b.imaginary = node.createElementwise("neg", {b.imaginary});
    y = multiply(node, a, b);
  } else {
    y = join(node, a.real, a.imaginary);
  }
  return y && divisor
             ? node.createElementwise(
                   "div", {y, node.unsqueeze(divisor, getRank(divisor))})
             : Value();
}

Value convertComplexNeg(Node &node) {
  return node.createElementwise("neg", {node.getTensor("self")});
}

/// Converts operators that give the same elements in the stated shape.
Value convertComplexReshape(Node &node) {
  auto shape = node.getStatedShape();
  if (!shape)
    return node.unsupported("has a shape that depends on data");
  shape->push_back(2);
  return node.reshape(node.getTensor("self"), *shape);
}

Value convertComplexTranspose(Node &node) {
  Value x = node.getTensor("self");
  int64_t rank = getRank(x) - 1;
  auto first = node.getAxis("dim0", rank), second = node.getAxis("dim1", rank);
  if (!x || !first || !second)
    return {};
  SmallVector<int64_t> order = iota(rank + 1);
  std::swap(order[*first], order[*second]);
  return node.transpose(x, order);
}

Value convertComplexSlice(Node &node) {
  Value x = node.getTensor("self");
  auto axis = node.getAxis("dim", getRank(x) - 1);
  if (!x || !axis)
    return {};
  int64_t size = getShape(x)[*axis], step = node.getInt("step", 1);
  auto toPlace = [&](int64_t place) {
    return std::clamp<int64_t>(place < 0 ? place + size : place, 0, size);
  };
  int64_t start = toPlace(node.getInt("start", 0)),
          end = toPlace(node.getInt("end", size));
  if (step < 1)
    return node.broken("has a step of " + Twine(step));
  int64_t count = end > start ? (end - start - 1) / step + 1 : 0;
  return node.slice(x, *axis, start, count, step);
}

Value convertComplexPermute(Node &node) {
  Value x = node.getTensor("self");
  SmallVector<int64_t> order = node.getInts("dims");
  int64_t rank = getRank(x) - 1;
  if (!x || !node.normalizeAxes(order, rank))
    return {};
  if (static_cast<int64_t>(order.size()) != rank)
    return node.broken("permutes " + Twine(order.size()) + " axes of " +
                       Twine(rank));
  order.push_back(rank);
  return node.transpose(x, order);
}

} // namespace nnc::torch
