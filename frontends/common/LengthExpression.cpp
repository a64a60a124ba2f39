//===- LengthExpression.cpp - Numbers computed from lengths ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/LengthExpression.h"

#include "frontends/common/LayerBuilder.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

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

Value LengthExpression::build(LayerBuilder &builder,
                              ArrayRef<Value> lengths) const {
  Type integer = builder.getBuilder().getI64Type();
  auto of = [&](size_t i) { return node->operands[i].build(builder, lengths); };
  auto create = [&](StringRef op) {
    return builder.createElementwise(op, {of(0), of(1)});
  };
  switch (node->kind) {
  case Kind::constant:
    return builder.reshape(builder.constant(ArrayRef<int64_t>{node->number}),
                           {});
  case Kind::length:
    return builder.castTo(lengths[node->number], integer);
  case Kind::add:
    return create("add");
  case Kind::sub:
    return create("sub");
  case Kind::mul:
    return create("mul");
  case Kind::div:
    return create("div");
  case Kind::mod:
    return create("mod");
  case Kind::min:
    return create("min");
  case Kind::max:
    return create("max");
  case Kind::less:
    return builder.castTo(create("less"), integer);
  case Kind::equal:
    return builder.castTo(create("equal"), integer);
  case Kind::select: {
    Value isFirst = builder.castTo(of(0), builder.getBuilder().getI1Type());
    return builder.createElementwise("select", {isFirst, of(1), of(2)});
  }
  }
  llvm_unreachable("no expression of lengths");
}

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
