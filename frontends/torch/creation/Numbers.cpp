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
  return std::nullopt;
}

/// Returns the name of the nn op for a function; empty if it is a conversion.
static StringRef getNumberOp(StringRef name) {
  if (name == "truediv")
    return "div";
  if (name == "torch._sym_sqrt")
    return "sqrt";
  return name == "torch.sym_float" ? "" : name;
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

/// Converts a function of one or two numbers. Its result is a float unless the
/// program states it, as it does of integers that follow from sizes.
Value convertNumber(Node &node) {
  ArrayRef<StringRef> names = node.getResultNames();
  auto a = node.getScalar("a"), b = node.getScalar("b");
  if (!a || names.size() != 1 || node.hasFailed())
    return {};
  Scalar result;
  result.isReal = node.isRealNumber(0) || a->isReal || (b && b->isReal) ||
                  node.getOp() == "truediv";
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
  result.isOfSizes =
      isKnown && result.isReal && (a->isOfSizes || (b && b->isOfSizes));
  if (result.isOfSizes) {
    Value x = makeFromSizes(node, *a);
    StringRef op = getNumberOp(node.getOp());
    if (b)
      x = node.createElementwise(op, {x, makeFromSizes(node, *b)});
    else if (!op.empty())
      x = node.createElementwise(op, {x});
    if (!x)
      return {};
    result.value = x;
  } else if (!isKnown) {
    Type type = result.isReal ? Type(node.getBuilder().getF64Type())
                              : Type(node.getBuilder().getI64Type());
    Value x = node.makeScalar(*a, type);
    StringRef op = getNumberOp(node.getOp());
    if (b)
      x = node.createElementwise(op, {x, node.makeScalar(*b, type)});
    else if (!op.empty())
      x = node.createElementwise(op, {x});
    if (!x)
      return {};
    result.value = x;
  }
  node.getScope().scalars[names[0]] = result;
  return {};
}

} // namespace nnc::torch
