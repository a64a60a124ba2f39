//===- Numbers.cpp - Arithmetic on numbers that are no tensors ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The program states the integers that follow from the sizes of its inputs.
// Floats and numbers that come from tensors (item) are computed here: when
// compiling if they are known, otherwise as scalars of f64 when the network
// runs. Floats that follow from sizes which vary are computed when it runs,
// too.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Returns the value of a function of Python's numbers; nullopt if it is not
/// known.
static std::optional<double> computeNumber(StringRef name, double a, double b) {
  if (name == "torch.sym_float")
    return a;
  if (name == "add")
    return a + b;
  if (name == "sub")
    return a - b;
  if (name == "mul")
    return a * b;
  if (name == "truediv")
    return a / b;
  if (name == "pow")
    return std::pow(a, b);
  if (name == "neg")
    return -a;
  if (name == "torch._sym_sqrt")
    return std::sqrt(a);
  if (name == "torch.sym_max")
    return std::max(a, b);
  if (name == "torch.sym_min")
    return std::min(a, b);
  if (name == "eq")
    return a == b;
  if (name == "ge")
    return a >= b;
  if (name == "gt")
    return a > b;
  if (name == "le")
    return a <= b;
  if (name == "lt")
    return a < b;
  if (name == "ne")
    return a != b;
  if (name == "and_")
    return a != 0 && b != 0;
  if (name == "or_")
    return a != 0 || b != 0;
  if (name == "torch.sym_not")
    return a == 0;
  return std::nullopt;
}

/// Returns the name of the nn op for a function; empty if it is a conversion.
/// That of "ne" is negated.
static StringRef getNumberOp(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("truediv", "div")
      .Case("torch._sym_sqrt", "sqrt")
      .Case("torch.sym_max", "max")
      .Case("torch.sym_min", "min")
      .Case("eq", "equal")
      .Case("ge", "greater_equal")
      .Case("gt", "greater")
      .Case("le", "less_equal")
      .Case("lt", "less")
      .Case("ne", "equal")
      .Case("and_", "logical_and")
      .Case("or_", "logical_or")
      .Case("torch.sym_not", "logical_not")
      .Case("torch.sym_float", "")
      .Default(name);
}

/// Returns true if a function of numbers compares them.
static bool isComparison(StringRef name) {
  return llvm::is_contained({"eq", "ge", "gt", "le", "lt", "ne"}, name);
}

/// Returns true if a function of numbers takes and returns truth values.
static bool isLogical(StringRef name) {
  return llvm::is_contained({"and_", "or_", "torch.sym_not"}, name);
}

/// Returns a number that follows from sizes as a scalar of f64, computed by an
/// op that the import does not fold.
static Value makeFromSizes(Node &node, const Scalar &number) {
  Type real = node.getBuilder().getF64Type();
  if (number.value || !number.isOfSizes)
    return node.makeScalar(number, real);
  Value integer = node.makeScalar(number, node.getBuilder().getI64Type());
  if (!integer)
    return {};
  OpBuilder builder(integer.getContext());
  builder.setInsertionPointAfterValue(integer);
  return builder.create<nn::CastOp>(node.getLoc(),
                                    RankedTensorType::get({}, real), integer);
}

/// Returns the type in which a function of numbers computes.
static Type getNumberType(Node &node, bool isReal) {
  Builder &builder = node.getBuilder();
  if (isLogical(node.getOp()))
    return builder.getI1Type();
  return isReal ? Type(builder.getF64Type()) : Type(builder.getI64Type());
}

/// Converts a function of one or two numbers. Integers that follow from sizes
/// are not converted, since the program states them as expressions.
Value convertNumber(Node &node) {
  ArrayRef<StringRef> names = node.getResultNames();
  auto a = node.getScalar("a"), b = node.getScalar("b");
  if (!a || names.size() != 1 || node.hasFailed())
    return {};
  Scalar result;
  result.isBool = isComparison(node.getOp()) || isLogical(node.getOp());
  bool isReal = node.isRealNumber(0) || a->isReal || (b && b->isReal) ||
                node.getOp() == "truediv";
  result.isReal = isReal && !result.isBool;
  auto isConstant = [](const Scalar &x) {
    return (!x.value && !x.length) || (x.value && x.isOfSizes);
  };
  bool isKnown = isConstant(*a) && (!b || isConstant(*b));
  if (isKnown) {
    auto value = computeNumber(node.getOp(), a->real, b ? b->real : 0);
    if (!value)
      return {};
    result.real = *value;
    result.integer = result.isReal ? 0 : static_cast<int64_t>(*value);
  }
  result.isOfSizes = isKnown && isReal && (a->isOfSizes || (b && b->isOfSizes));
  if (result.isOfSizes || !isKnown) {
    Type type = getNumberType(node, isReal);
    auto makeOperand = [&](const Scalar &x) {
      return isKnown ? makeFromSizes(node, x) : node.makeScalar(x, type);
    };
    Value x = makeOperand(*a);
    StringRef op = getNumberOp(node.getOp());
    if (b)
      x = node.createElementwise(op, {x, makeOperand(*b)});
    else if (!op.empty())
      x = node.createElementwise(op, {x});
    if (node.getOp() == "ne")
      x = node.createElementwise("logical_not", {x});
    if (!x)
      return {};
    result.value = x;
  }
  node.getScope().scalars[names[0]] = result;
  return {};
}

} // namespace nnc::torch
