//===- Complex.cpp - Operators on complex numbers ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A complex tensor is a tensor of floats with one more axis, the last, which
// holds the real and the imaginary part.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Atan2.h"
#include "frontends/common/Einsum.h"
#include "frontends/torch/reduction/Reduce.h"

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
  return node.isComplex(name);
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

/// Returns the type of the parts of the node's result, or of its operand if the
/// result is real: f32 unless the program states double precision.
static Type getPartType(Node &node) {
  bool isDouble = node.hasDoubleParts();
  Builder &builder = node.getBuilder();
  return isDouble ? Type(builder.getF64Type()) : Type(builder.getF32Type());
}

static Parts getParts(Node &node, StringRef name) {
  if (isComplex(node, name)) {
    Value x = node.getTensor(name);
    return {takePart(node, x, 0), takePart(node, x, 1)};
  }
  // The type of the parts is that of the complex result.
  Type element = getPartType(node);
  if (auto number = node.getComplex(name))
    return {node.splat(number->first, element),
            node.splat(number->second, element)};
  return {node.castTo(node.getOperand(name), element), {}};
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
  if (!a.imaginary) // a real tensor and a real number
    return {};
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

/// Returns complex numbers whose imaginary parts may be missing.
static Value joinParts(Node &node, Parts x) {
  if (!x.real)
    return {};
  if (!x.imaginary)
    x.imaginary = node.splat(0, getElement(x.real), getShape(x.real));
  return join(node, x.real, node.expand(x.imaginary, getShape(x.real)));
}

/// Returns the sum of products of the parts of two operands, of which each
/// product of parts is `function`.
static Value combine(Node &node, Parts a, Parts b,
                     llvm::function_ref<Value(Value, Value)> function) {
  auto add = [&](StringRef op, Value left, Value right) {
    return left && right ? node.createElementwise(op, {left, right})
           : left        ? left
                         : right;
  };
  auto apply = [&](Value left, Value right) {
    return left && right ? function(left, right) : Value();
  };
  if (!a.real || !b.real)
    return {};
  Value real = apply(a.real, b.real);
  if (Value both = apply(a.imaginary, b.imaginary))
    real = add("sub", real, both);
  return joinParts(node, {real, add("add", apply(a.real, b.imaginary),
                                    apply(a.imaginary, b.real))});
}

/// Converts einsum of one or two tensors.
Value convertComplexEinsum(Node &node) {
  SmallVector<Value> operands = node.getTensors("tensors");
  SmallVector<Parts> parts;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (!operand)
      return {};
    if (node.isComplexInList("tensors", i))
      parts.push_back({takePart(node, operand, 0), takePart(node, operand, 1)});
    else
      parts.push_back({node.castTo(operand, getPartType(node)), {}});
  }
  StringRef equation = node.getString("equation");
  if (parts.size() == 1)
    return joinParts(node,
                     {computeEinsum(node, equation, {parts[0].real}),
                      computeEinsum(node, equation, {parts[0].imaginary})});
  if (parts.size() != 2)
    return node.unsupported("multiplies " + Twine(parts.size()) +
                            " complex tensors; nnc handles two");
  return combine(node, parts[0], parts[1], [&](Value a, Value b) {
    return computeEinsum(node, equation, {a, b});
  });
}

/// Converts matmul, mm and bmm.
Value convertComplexMatMul(Node &node) {
  StringRef other = node.has("mat2") ? "mat2" : "other";
  Parts a = getParts(node, "self"), b = getParts(node, other);
  if (!a.real || !b.real)
    return {};
  if (getRank(a.real) < 2 || getRank(b.real) < 2)
    return node.unsupported("multiplies complex vectors; nnc handles matrices");
  return combine(node, a, b, [&](Value x, Value y) {
    return node.create<nn::MatMulOp>(x, y, false, false, TypeAttr());
  });
}

/// Converts cat and stack.
Value convertComplexCat(Node &node) {
  SmallVector<Value> tensors = node.getTensors("tensors");
  if (tensors.empty() || llvm::is_contained(tensors, Value()))
    return {};
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    tensor =
        node.isComplexInList("tensors", i)
            ? tensor
            : joinParts(node, {node.castTo(tensor, getPartType(node)), {}});
    if (!tensor)
      return {};
  }
  bool isStack = node.getOp().starts_with("stack");
  auto axis = node.getAxis("dim", getRank(tensors[0]) - 1 + isStack);
  if (!axis)
    return {};
  if (isStack)
    for (Value &tensor : tensors)
      tensor = node.unsqueeze(tensor, *axis);
  return tensors.size() == 1
             ? tensors[0]
             : node.create<nn::ConcatOp>(ValueRange(tensors), *axis);
}

/// Converts operators that make zeros in the stated shape.
Value convertComplexZeros(Node &node) {
  auto shape = node.getStatedShape();
  if (!shape)
    return node.unsupported("has a shape that depends on data");
  shape->push_back(2);
  return node.splat(0, getPartType(node), *shape);
}

/// Converts operators that make a tensor of one number in the stated shape.
Value convertComplexFull(Node &node) {
  auto shape = node.getStatedShape();
  if (!shape)
    return node.unsupported("has a shape that depends on data");
  Parts number =
      getParts(node, node.has("fill_value") ? "fill_value" : "value");
  return number.real
             ? joinParts(node, {node.expand(number.real, *shape),
                                number.imaginary
                                    ? node.expand(number.imaginary, *shape)
                                    : Value()})
             : Value();
}

/// Converts expand and to, whose results have the stated shape, and copy.
Value convertComplexExpand(Node &node) {
  auto shape = node.getStatedShape();
  if (!shape)
    return node.unsupported("has a shape that depends on data");
  StringRef name = node.has("src") ? "src" : "self";
  Parts x = getParts(node, name);
  return x.real
             ? joinParts(node, {node.expand(x.real, *shape),
                                x.imaginary ? node.expand(x.imaginary, *shape)
                                            : Value()})
             : Value();
}

/// Converts to of complex numbers; a cast to real ones takes the real part.
Value convertComplexTo(Node &node) {
  Type stated = node.getStatedType();
  if (!stated)
    return convertComplexExpand(node);
  return node.castTo(takePart(node, node.getTensor("self"), 0),
                     getComputedType(stated));
}

/// Converts sum and mean.
Value convertComplexSum(Node &node) {
  Value x = node.getTensor("self");
  auto axes = node.getAxes("dim", getRank(x) - 1);
  return x && axes
             ? reduce(node,
                      *nn::symbolizeReduceKind(
                          node.getOp().starts_with("mean") ? "mean" : "sum"),
                      x, *axes, node.getBool("keepdim"))
             : Value();
}

Value convertComplexWhere(Node &node) {
  Value condition = node.getTensor("condition");
  Parts a = getParts(node, "self"), b = getParts(node, "other");
  Value left = joinParts(node, a), right = joinParts(node, b);
  return condition && left && right
             ? node.createElementwise(
                   "select",
                   {node.unsqueeze(condition, getRank(condition)), left, right})
             : Value();
}

/// Converts exp: the power of e of the real part, at an angle.
Value convertComplexExp(Node &node) {
  Parts x = getParts(node, "self");
  Value size = node.createElementwise("exp", {x.real});
  auto scaled = [&](StringRef function) {
    return node.createElementwise(
        "mul", {size, node.createElementwise(function, {x.imaginary})});
  };
  return join(node, scaled("cos"), scaled("sin"));
}

/// Converts pow and sqrt: the power of the absolute value, at a multiple of the
/// angle; small whole powers are products.
Value convertComplexPow(Node &node) {
  Parts x = getParts(node, "self");
  double power = node.getFloat("exponent", 0.5);
  if (!x.real || !x.imaginary)
    return {};
  if (power == 2 || power == 3) {
    Value square = multiply(node, x, x);
    return power == 2 || !square
               ? square
               : multiply(
                     node,
                     {takePart(node, square, 0), takePart(node, square, 1)}, x);
  }
  Value size = node.createBinary("pow", getSquares(node, x.real, x.imaginary),
                                 power / 2);
  Value angle =
      node.createBinary("mul", computeAtan2(node, x.imaginary, x.real), power);
  auto scaled = [&](StringRef function) {
    return node.createElementwise(
        "mul", {size, node.createElementwise(function, {angle})});
  };
  return join(node, scaled("cos"), scaled("sin"));
}

/// Converts pad with zeros behind and in front of the last axes.
Value convertComplexPad(Node &node) {
  Value x = node.getTensor("self");
  SmallVector<int64_t> given = node.getInts("pad");
  if (!x)
    return {};
  int64_t rank = getRank(x);
  if (node.getString("mode", "constant") != "constant" ||
      node.getFloat("value", 0) != 0)
    return node.unsupported("pads complex numbers by others than zeros");
  if (given.size() % 2 || static_cast<int64_t>(given.size()) > 2 * (rank - 1) ||
      llvm::any_of(given, [](int64_t i) { return i < 0; }))
    return node.unsupported("has these numbers of pads of complex numbers");
  SmallVector<int64_t> pads(2 * rank, 0);
  for (size_t i = 0; i < given.size(); i += 2) {
    int64_t axis = rank - 2 - static_cast<int64_t>(i / 2);
    pads[axis] = given[i];
    pads[rank + axis] = given[i + 1];
  }
  return node.create<nn::PadOp>(nn::PadMode::constant, x,
                                ArrayRef<int64_t>(pads), APFloat(0.0));
}

} // namespace nnc::torch
