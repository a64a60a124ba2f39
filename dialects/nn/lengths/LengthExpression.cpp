//===- LengthExpression.cpp - Numbers computed from lengths ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/lengths/LengthExpression.h"

#include "mlir/IR/Builders.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

using Kind = LengthExpression::Kind;

struct LengthExpression::Node {
  Kind kind;
  int64_t number; ///< a constant, or the number of a length
  SmallVector<LengthExpression, 3> operands;
};

static int64_t limit(int64_t number) {
  return std::clamp(number, -LengthExpression::kMost, LengthExpression::kMost);
}

LengthExpression::LengthExpression(int64_t constant)
    : node(std::make_shared<Node>(Node{Kind::constant, limit(constant), {}})) {}

LengthExpression LengthExpression::getLength(unsigned number) {
  LengthExpression length;
  if (number < kMostLengths)
    length.node = std::make_shared<Node>(Node{Kind::length, number, {}});
  return length;
}

LengthExpression LengthExpression::create(Kind kind,
                                          ArrayRef<LengthExpression> operands) {
  LengthExpression result;
  if (llvm::any_of(operands, [](const LengthExpression &x) { return !x; }))
    return result;
  result.node = std::make_shared<Node>(
      Node{kind, 0, SmallVector<LengthExpression, 3>(operands)});
  bool isKnown = llvm::all_of(operands, [](const LengthExpression &x) {
    return x.node->kind == Kind::constant;
  });
  return isKnown ? LengthExpression(result.evaluate({})) : result;
}

bool LengthExpression::operator==(const LengthExpression &other) const {
  if (node == other.node || !node || !other.node)
    return node == other.node;
  return node->kind == other.node->kind && node->number == other.node->number &&
         node->operands == other.node->operands;
}

std::optional<int64_t> LengthExpression::getConstant() const {
  return node && node->kind == Kind::constant ? std::optional(node->number)
                                              : std::nullopt;
}

std::optional<unsigned> LengthExpression::getLength() const {
  return node && node->kind == Kind::length
             ? std::optional(unsigned(node->number))
             : std::nullopt;
}

uint64_t LengthExpression::getLengths() const {
  if (auto length = getLength())
    return uint64_t(1) << *length;
  uint64_t lengths = 0;
  for (const LengthExpression &operand : node->operands)
    lengths |= operand.getLengths();
  return lengths;
}

int64_t LengthExpression::getDivisor() const {
  auto of = [&](size_t i) { return node->operands[i].getDivisor(); };
  switch (node->kind) {
  case Kind::constant:
    return std::abs(node->number);
  case Kind::mul:
    return std::min(of(0), kMost) * std::min(of(1), kMost);
  case Kind::add:
  case Kind::sub:
  case Kind::min:
  case Kind::max:
    return std::gcd(of(0), of(1));
  case Kind::select:
    return std::gcd(of(1), of(2));
  case Kind::div:
    return isSum() ? of(0) / std::max<int64_t>(of(1), 1) : 1;
  default:
    return 1;
  }
}

bool LengthExpression::isSum() const {
  auto areSums = [&] {
    return llvm::all_of(node->operands,
                        [](const LengthExpression &x) { return x.isSum(); });
  };
  switch (node->kind) {
  case Kind::constant:
  case Kind::length:
    return true;
  case Kind::add:
  case Kind::sub:
  case Kind::mul:
    return areSums();
  case Kind::div:
    return areSums() &&
           node->operands[0].getDivisor() % node->operands[1].node->number == 0;
  default:
    return false;
  }
}

int64_t LengthExpression::evaluate(ArrayRef<int64_t> lengths) const {
  auto of = [&](size_t i) { return node->operands[i].evaluate(lengths); };
  switch (node->kind) {
  case Kind::constant:
    return node->number;
  case Kind::length:
    return lengths[node->number];
  case Kind::add:
    return limit(of(0) + of(1));
  case Kind::sub:
    return limit(of(0) - of(1));
  case Kind::mul:
    return limit(of(0) * of(1));
  case Kind::div:
    return of(0) / std::max<int64_t>(of(1), 1);
  case Kind::mod:
    return of(0) % std::max<int64_t>(of(1), 1);
  case Kind::min:
    return std::min(of(0), of(1));
  case Kind::max:
    return std::max(of(0), of(1));
  case Kind::less:
    return of(0) < of(1);
  case Kind::equal:
    return of(0) == of(1);
  case Kind::select:
    return of(0) != 0 ? of(1) : of(2);
  }
  llvm_unreachable("no expression of lengths");
}

Kind LengthExpression::getKind() const { return node->kind; }

int64_t LengthExpression::getNumber() const { return node->number; }

ArrayRef<LengthExpression> LengthExpression::getOperands() const {
  return node->operands;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The names of the kinds in attributes, with the numbers of their operands.
static constexpr struct {
  Kind kind;
  llvm::StringLiteral name;
  size_t operands;
} kTerms[] = {{Kind::length, "length", 0}, {Kind::add, "add", 2},
              {Kind::sub, "sub", 2},       {Kind::mul, "mul", 2},
              {Kind::div, "div", 2},       {Kind::mod, "mod", 2},
              {Kind::min, "min", 2},       {Kind::max, "max", 2},
              {Kind::less, "less", 2},     {Kind::equal, "equal", 2},
              {Kind::select, "select", 3}};

Attribute LengthExpression::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  if (node->kind == Kind::constant)
    return builder.getI64IntegerAttr(node->number);
  const auto *kind = llvm::find_if(
      kTerms, [&](const auto &each) { return each.kind == node->kind; });
  SmallVector<Attribute> parts = {builder.getStringAttr(kind->name)};
  if (node->kind == Kind::length)
    parts.push_back(builder.getI64IntegerAttr(node->number));
  for (const LengthExpression &operand : node->operands)
    parts.push_back(operand.toAttribute(context));
  return builder.getArrayAttr(parts);
}

LengthExpression LengthExpression::fromAttribute(Attribute attribute) {
  if (auto constant = dyn_cast_or_null<IntegerAttr>(attribute))
    return LengthExpression(constant.getInt());
  auto parts = dyn_cast_or_null<ArrayAttr>(attribute);
  auto name =
      parts && !parts.empty() ? dyn_cast<StringAttr>(parts[0]) : nullptr;
  const auto *kind = llvm::find_if(
      kTerms, [&](const auto &each) { return name && each.name == name; });
  if (kind == std::end(kTerms))
    return {};
  if (kind->kind == Kind::length) {
    auto number = parts.size() == 2 ? dyn_cast<IntegerAttr>(parts[1]) : nullptr;
    return number && number.getInt() >= 0 && number.getInt() < kMostLengths
               ? getLength(unsigned(number.getInt()))
               : LengthExpression();
  }
  SmallVector<LengthExpression, 3> operands;
  for (Attribute part : parts.getValue().drop_front())
    operands.push_back(fromAttribute(part));
  return operands.size() == kind->operands ? create(kind->kind, operands)
                                           : LengthExpression();
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

LengthExpression::Bounds
LengthExpression::getBounds(ArrayRef<Bounds> lengths) const {
  if (node->kind == Kind::constant)
    return {node->number, node->number, true};
  if (node->kind == Kind::length)
    return lengths[node->number];
  SmallVector<Bounds, 3> operands;
  for (const LengthExpression &operand : node->operands)
    operands.push_back(operand.getBounds(lengths));
  const Bounds &a = operands[0], &b = operands[1];
  auto make = [](int64_t low, int64_t high, bool isLinear) {
    return Bounds{limit(low), limit(high), isLinear || low == high};
  };
  const bool areLinear = a.isLinear && b.isLinear;
  switch (node->kind) {
  case Kind::add:
    return make(a.low + b.low, a.high + b.high, areLinear);
  case Kind::sub:
    return make(a.low - b.high, a.high - b.low, areLinear);
  case Kind::mul: {
    auto [low, high] = std::minmax(
        {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    return make(low, high, areLinear && (a.low == a.high || b.low == b.high));
  }
  case Kind::div: {
    int64_t by = std::max<int64_t>(b.low, 1);
    return make(a.low / by, a.high / by, a.isLinear && by == 1);
  }
  case Kind::mod: {
    int64_t by = std::max<int64_t>(b.low, 1);
    if (a.low / by == a.high / by)
      return make(a.low % by, a.high % by, a.isLinear);
    return make(0, by - 1, false);
  }
  case Kind::min:
    if (a.high <= b.low || b.high <= a.low)
      return a.high <= b.low ? a : b;
    return make(std::min(a.low, b.low), std::min(a.high, b.high), false);
  case Kind::max:
    if (a.low >= b.high || b.low >= a.high)
      return a.low >= b.high ? a : b;
    return make(std::max(a.low, b.low), std::max(a.high, b.high), false);
  case Kind::less:
    return make(a.high < b.low, a.low < b.high, false);
  case Kind::equal:
    return make(a.low == a.high && b.low == b.high && a.low == b.low,
                a.low <= b.high && b.low <= a.high, false);
  case Kind::select: {
    const Bounds &c = operands[2];
    if (a.low > 0 || a.high < 0 || (a.low == 0 && a.high == 0))
      return a.low == 0 ? c : b;
    return make(std::min(b.low, c.low), std::max(b.high, c.high), false);
  }
  default:
    llvm_unreachable("no operation on lengths");
  }
}
