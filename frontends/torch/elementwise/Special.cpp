//===- Special.cpp - Special functions of each element --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/elementwise/Elementwise.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Returns the operands `self` and `other` in their common type.
static std::pair<Value, Value> readPair(Node &node) {
  Node::Operand a = node.getOperand("self"), b = node.getOperand("other");
  Type type = node.promote({a, b});
  return {node.castTo(a, type), node.castTo(b, type)};
}

/// Converts fmax and fmin: the larger or smaller operand, or the other one
/// where an operand is NaN.
Value convertNumberExtreme(Node &node) {
  auto [a, b] = readPair(node);
  if (!a || !b)
    return {};
  StringRef op = node.getNnOp();
  if (getElement(a).isInteger(1))
    return node.createElementwise(op == "max" ? "logical_or" : "logical_and",
                                  {a, b});
  Value extreme = node.createElementwise(op, {a, b});
  if (!isa<FloatType>(getElement(a)))
    return extreme;
  auto isNan = [&](Value x) { return node.createElementwise("is_nan", {x}); };
  return node.createElementwise(
      "select",
      {isNan(a), b, node.createElementwise("select", {isNan(b), a, extreme})});
}

/// Converts heaviside: 0 for negative numbers and NaN, `values` for 0, and 1
/// for positive numbers.
Value convertHeaviside(Node &node) {
  Value x = node.getTensor("self"), values = node.getTensor("values");
  if (!x || !values)
    return {};
  Type element = getElement(x);
  values = node.castTo(values, element);
  if (element.isInteger(1))
    return node.createElementwise("logical_or", {x, values});
  Value zero = node.splat(0, element);
  Value step =
      node.castTo(node.createElementwise("greater", {x, zero}), element);
  return node.createElementwise(
      "select", {node.createElementwise("equal", {x, zero}), values, step});
}

/// Converts isclose: whether |a - b| <= atol + rtol * |b|. Infinities are close
/// to themselves only.
Value convertIsClose(Node &node) {
  auto [a, b] = readPair(node);
  a = node.toReal(a);
  b = node.toReal(b);
  if (!a || !b)
    return {};
  double relative = node.getFloat("rtol", 1e-5),
         absolute = node.getFloat("atol", 1e-8);
  Value difference =
      node.createElementwise("abs", {node.createElementwise("sub", {a, b})});
  Value allowed = node.createBinary(
      "add",
      node.createBinary("mul", node.createElementwise("abs", {b}), relative),
      absolute);
  Value isFinite = node.createElementwise(
      "less", {difference, node.splat(std::numeric_limits<double>::infinity(),
                                      getElement(a))});
  Value isNear = node.createElementwise(
      "logical_and",
      {isFinite, node.createElementwise("less_equal", {difference, allowed})});
  Value isClose = node.createElementwise(
      "logical_or", {isNear, node.createElementwise("equal", {a, b})});
  if (!node.getBool("equal_nan"))
    return isClose;
  Value areNan = node.createElementwise(
      "logical_and", {node.createElementwise("is_nan", {a}),
                      node.createElementwise("is_nan", {b})});
  return node.createElementwise("logical_or", {isClose, areNan});
}

/// Converts special_entr: -x log(x), which is 0 at 0 and -infinity below.
Value convertEntropy(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  if (!x)
    return {};
  Value zero = node.splat(0, getElement(x));
  Value y = node.createElementwise(
      "neg",
      {node.createElementwise("mul", {x, node.createElementwise("log", {x})})});
  Value low =
      node.splat(-std::numeric_limits<double>::infinity(), getElement(x));
  Value isNotAbove = node.createElementwise("less_equal", {x, zero});
  Value isZero = node.createElementwise("equal", {x, zero});
  return node.createElementwise(
      "select",
      {isNotAbove, node.createElementwise("select", {isZero, zero, low}), y});
}

/// Converts special_ndtr: the share of the normal distribution below x.
Value convertNormalDistribution(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  Value sum = node.createBinary(
      "add",
      node.createElementwise("erf", {node.createBinary("mul", x, M_SQRT1_2)}),
      1);
  return node.createBinary("mul", sum, 0.5);
}

/// Converts sinc: sin(pi * x) / (pi * x), and 1 where x is 0.
Value convertSinc(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  Value angle = node.createBinary("mul", x, M_PI);
  if (!angle)
    return {};
  Value quotient = node.createElementwise(
      "div", {node.createElementwise("sin", {angle}), angle});
  Type element = getElement(x);
  return node.createElementwise(
      "select", {node.createElementwise("equal", {x, node.splat(0, element)}),
                 node.splat(1, element), quotient});
}

/// Returns the polynomial with these coefficients, that of the highest power
/// first.
static Value evaluate(Node &node, Value x, ArrayRef<double> coefficients) {
  Value sum = node.splat(coefficients[0], getElement(x));
  for (double coefficient : coefficients.drop_front())
    sum = node.createBinary("add", node.createElementwise("mul", {sum, x}),
                            coefficient);
  return sum;
}

/// Converts erfinv by the two polynomials of M. Giles, "Approximating the
/// erfinv function", which have the accuracy of f32. Of f64, two steps of
/// Newton's method make the rest.
Value convertErfInv(Node &node) {
  Value y = node.toReal(node.getTensor("self"));
  if (!y)
    return {};
  Type element = getElement(y);
  Value one = node.splat(1, element);
  Value rest =
      node.createElementwise("mul", {node.createElementwise("sub", {one, y}),
                                     node.createElementwise("add", {one, y})});
  Value w =
      node.createElementwise("neg", {node.createElementwise("log", {rest})});
  if (!w)
    return {};
  Value central = evaluate(node, node.createBinary("sub", w, 2.5),
                           {2.81022636e-08, 3.43273939e-07, -3.5233877e-06,
                            -4.39150654e-06, 0.00021858087, -0.00125372503,
                            -0.00417768164, 0.246640727, 1.50140941});
  Value tail = evaluate(
      node, node.createBinary("sub", node.createElementwise("sqrt", {w}), 3),
      {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
       0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  Value isCentral = node.createElementwise("less", {w, node.splat(5, element)});
  Value x = node.createElementwise(
      "mul", {y, node.createElementwise("select", {isCentral, central, tail})});
  for (int i = 0; x && element.isF64() && i < 2; ++i) {
    Value error =
        node.createElementwise("sub", {node.createElementwise("erf", {x}), y});
    Value square = node.createElementwise("mul", {x, x});
    Value inverseSlope = node.createBinary(
        "mul", node.createElementwise("exp", {square}), std::sqrt(M_PI) / 2);
    x = node.createElementwise(
        "sub", {x, node.createElementwise("mul", {error, inverseSlope})});
  }
  Value isEnd = node.createElementwise(
      "equal", {node.createElementwise("abs", {y}), one});
  Value end =
      node.createBinary("mul", y, std::numeric_limits<double>::infinity());
  return node.createElementwise("select", {isEnd, end, x});
}

/// Returns a polynomial in `x`, of which the first factor is that of the
/// highest power.
static Value evaluatePolynomial(Node &node, Value x, ArrayRef<double> factors) {
  Value y = x ? node.splat(factors[0], getElement(x)) : Value();
  for (double factor : factors.drop_front())
    y = node.createBinary("add", node.createElementwise("mul", {y, x}), factor);
  return y;
}

namespace {
/// A number x of at least 1/2, and the one above 8 that Stirling's series
/// takes: x itself, or x + 8 where x is smaller. Numbers below 1/2 (`isLow`)
/// are mirrored: x is 1 minus the number.
struct Stirling {
  Value isLow, x, isSmall, high, inverse, square; ///< square: 1 / high^2
};
} // namespace

static Stirling prepareStirling(Node &node, Value given) {
  Type element = getElement(given);
  Value isLow =
      node.createElementwise("less", {given, node.splat(0.5, element)});
  Value mirrored =
      node.createElementwise("sub", {node.splat(1, element), given});
  Value x = node.createElementwise("select", {isLow, mirrored, given});
  Value isSmall = node.createElementwise("less", {x, node.splat(8, element)});
  Value high = node.createElementwise(
      "select", {isSmall, node.createBinary("add", x, 8), x});
  Value inverse = node.createElementwise("reciprocal", {high});
  return {isLow, x,       isSmall,
          high,  inverse, node.createElementwise("mul", {inverse, inverse})};
}

/// Converts lgamma, the logarithm of the absolute value of the gamma function:
/// Stirling's series, with the reflection for numbers below 1/2.
Value convertLogGamma(Node &node) {
  Value given = node.toReal(node.getTensor("self"));
  if (!given)
    return {};
  Type element = getElement(given);
  Stirling s = prepareStirling(node, given);
  Value series = node.createElementwise(
      "mul", {s.inverse, evaluatePolynomial(
                             node, s.square,
                             {-1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12})});
  Value y = node.createElementwise(
      "sub",
      {node.createElementwise("mul", {node.createBinary("sub", s.high, 0.5),
                                      node.createElementwise("log", {s.high})}),
       s.high});
  y = node.createElementwise(
      "add", {node.createBinary("add", y, 0.5 * std::log(2 * M_PI)), series});
  // gamma(x) = gamma(x + 8) / (x (x + 1) ... (x + 7))
  Value one = node.splat(1, element), product = one;
  for (int i = 0; i < 8; ++i)
    product = node.createElementwise(
        "mul", {product, node.createBinary("add", s.x, i)});
  product = node.createElementwise("select", {s.isSmall, product, one});
  y = node.createElementwise("sub",
                             {y, node.createElementwise("log", {product})});
  // The result for positive infinity is infinity, where the series gives NaN.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  y = node.createElementwise("select",
                             {node.createElementwise("is_inf", {given}),
                              node.splat(infinity, element), y});
  // gamma(x) gamma(1 - x) = pi / sin(pi x), where x counts from its integer.
  Value rest = node.createElementwise(
      "sub", {given, node.createElementwise("floor", {given})});
  Value sine =
      node.createElementwise("sin", {node.createBinary("mul", rest, M_PI)});
  Value reflected = node.createElementwise(
      "sub",
      {node.splat(std::log(M_PI), element),
       node.createElementwise("log", {node.createElementwise("abs", {sine})})});
  reflected = node.createElementwise(
      "select", {node.createElementwise("is_inf", {given}), y,
                 node.createElementwise("sub", {reflected, y})});
  return node.createElementwise("select", {s.isLow, reflected, y});
}

/// Converts digamma, the derivative of lgamma.
Value convertDigamma(Node &node) {
  Value given = node.toReal(node.getTensor("self"));
  if (!given)
    return {};
  Type element = getElement(given);
  Stirling s = prepareStirling(node, given);
  Value series = node.createElementwise(
      "mul", {s.square, evaluatePolynomial(
                            node, s.square,
                            {1.0 / 240, -1.0 / 252, 1.0 / 120, -1.0 / 12})});
  Value y =
      node.createElementwise("sub", {node.createElementwise("log", {s.high}),
                                     node.createBinary("mul", s.inverse, 0.5)});
  y = node.createElementwise("add", {y, series});
  // psi(x) = psi(x + 8) - (1 / x + ... + 1 / (x + 7))
  Value zero = node.splat(0, element), sum = zero;
  for (int i = 0; i < 8; ++i)
    sum = node.createElementwise(
        "add", {sum, node.createElementwise(
                         "reciprocal", {node.createBinary("add", s.x, i)})});
  sum = node.createElementwise("select", {s.isSmall, sum, zero});
  y = node.createElementwise("sub", {y, sum});
  // psi(x) = psi(1 - x) - pi / tan(pi x), where x counts from its integer.
  Value rest = node.createElementwise(
      "sub", {given, node.createElementwise("floor", {given})});
  Value tangent =
      node.createElementwise("tan", {node.createBinary("mul", rest, M_PI)});
  Value reflected = node.createElementwise(
      "sub",
      {y, node.createElementwise("div", {node.splat(M_PI, element), tangent})});
  // At 0 it is infinite, and at integers below it is not defined.
  Value isWhole = node.createElementwise("equal", {rest, zero}),
        atZero = node.createElementwise(
            "mul", {node.createElementwise("reciprocal", {given}),
                    node.splat(-1, element)}),
        isZero = node.createElementwise("equal", {given, zero});
  reflected = node.createElementwise(
      "select",
      {isWhole,
       node.createElementwise(
           "select",
           {isZero, atZero,
            node.splat(std::numeric_limits<double>::quiet_NaN(), element)}),
       reflected});
  return node.createElementwise("select", {s.isLow, reflected, y});
}

} // namespace nnc::torch
