//===- Lengths.cpp - Data-dependent sizes ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Lengths.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

std::optional<unsigned> Lengths::add(LayerBuilder &builder, FoundSize size,
                                     Value count) {
  if (!count)
    return std::nullopt;
  auto function = count.getParentRegion()->getParentOfType<func::FuncOp>();
  if (function && function.isPrivate()) {
    builder.unsupported("has a result whose length depends on data, which nnc "
                        "does not support in an If, Loop or Scan that the "
                        "network decides");
    return std::nullopt;
  }
  Type integer = builder.getBuilder().getI32Type();
  Value number = builder.reshape(builder.castTo(count, integer), {});
  if (!number)
    return std::nullopt;
  // In an import at other sizes, another length may reduce the largest value.
  if (const FoundSize *known = getExpected())
    size.most = known->most;
  sizes.push_back(std::move(size));
  counts.push_back(number);
  return sizes.size() - 1;
}

std::optional<unsigned> Lengths::addComputed(LayerBuilder &builder,
                                             const FoundSize &size) {
  return add(builder, size, buildLength(size.expression, builder, counts));
}

int64_t Lengths::getValue(unsigned size) const {
  if (size < chosen.size())
    return chosen[size];
  const FoundSize &found = sizes[size];
  if (!chosen.empty() && found.expression) {
    SmallVector<int64_t> values;
    for (unsigned i = 0; i < size; ++i)
      values.push_back(getValue(i));
    return found.expression.evaluate(values);
  }
  return found.within ? std::min(found.most, getValue(*found.within))
                      : found.most;
}

uint64_t Lengths::findSources(Value x) const {
  uint64_t sources = 0;
  llvm::DenseSet<Operation *> seen;
  SmallVector<Value> open;
  if (!sizes.empty())
    open.push_back(x);
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    auto prefix = dyn_cast<nn::PrefixOp>(op);
    if (prefix && prefix.getSize() < 64)
      sources |= uint64_t(1) << prefix.getSize();
    if (prefix && prefix->hasAttr(nn::kLinkAttr))
      open.push_back(prefix.getX());
    else if (!prefix)
      llvm::append_range(open, op->getOperands());
  }
  return sources;
}

std::optional<unsigned> Lengths::findAmong(uint64_t sources,
                                           int64_t value) const {
  std::optional<unsigned> found;
  for (unsigned size = 0; size < std::min<size_t>(64, sizes.size()); ++size) {
    if (!(sources >> size & 1) || getValue(size) != value)
      continue;
    if (found)
      return std::nullopt;
    found = size;
  }
  return found;
}

/// Returns the axis of the operand of a reshape that corresponds to an axis of
/// its result: it has the same size, and the axes in front of it have the same
/// number of elements. Returns nullopt if there is none.
static std::optional<int64_t> findBefore(nn::ReshapeOp reshape, int64_t axis) {
  ArrayRef<int64_t> from = nn::getTensorType(reshape.getX()).getShape(),
                    to = nn::getTensorType(reshape.getResult()).getShape();
  int64_t outer = ShapedType::getNumElements(to.take_front(axis));
  for (int64_t i = 0; i < int64_t(from.size()); ++i)
    if (from[i] == to[axis] &&
        ShapedType::getNumElements(from.take_front(i)) == outer)
      return i;
  return std::nullopt;
}

/// Returns the operand of `op`, and the axis of it, from which `axis` of the
/// result has its size. A model with open sizes is imported several times, at
/// different sizes: the two are equal in all of these imports. The operand is
/// null if no operand has such an axis.
static std::pair<Value, int64_t> findMaker(Operation *op, int64_t axis) {
  using Found = std::pair<Value, int64_t>;
  auto getRank = [](Value x) { return nn::getTensorType(x).getRank(); };
  return llvm::TypeSwitch<Operation *, Found>(op)
      .Case<nn::ReshapeOp>([&](nn::ReshapeOp reshape) {
        auto before = findBefore(reshape, axis);
        return before ? Found(reshape.getX(), *before) : Found();
      })
      .Case<nn::TransposeOp>([&](nn::TransposeOp transpose) {
        return Found(transpose.getX(), transpose.getPermutation()[axis]);
      })
      .Case<nn::GatherOp>([&](nn::GatherOp gather) {
        int64_t first = gather.getAxis(), count = getRank(gather.getIndices());
        if (axis < first)
          return Found(gather.getX(), axis);
        return axis < first + count ? Found(gather.getIndices(), axis - first)
                                    : Found(gather.getX(), axis - count + 1);
      })
      .Case<nn::SliceOp>([&](nn::SliceOp slice) {
        bool isWhole = slice.getSizes()[axis] ==
                       nn::getTensorType(slice.getX()).getDimSize(axis);
        return isWhole && !slice->hasAttr(nn::kVariesAttr)
                   ? Found(slice.getX(), axis)
                   : Found();
      })
      .Case<nn::ConcatOp>(
          [&](nn::ConcatOp concat) { return Found(concat.getXs()[0], axis); })
      .Case<nn::MatMulOp>([&](nn::MatMulOp product) {
        return axis == getRank(product) - 2 && !product.getTransposeA() &&
                       getRank(product.getA()) == getRank(product)
                   ? Found(product.getA(), axis)
                   : Found();
      })
      .Case<nn::ReduceOp>([&](nn::ReduceOp reduce) {
        ArrayRef<int64_t> axes = reduce.getAxes();
        int64_t before = 0, kept = axis;
        for (; !reduce.getKeepdims(); ++before)
          if (!llvm::is_contained(axes, before) && kept-- == 0)
            break;
        before = reduce.getKeepdims() ? axis : before;
        return llvm::is_contained(axes, before) ? Found()
                                                : Found(reduce.getX(), before);
      })
      .Case<nn::SoftmaxOp, nn::LayerNormOp, nn::CumSumOp>(
          [&](Operation *) { return Found(op->getOperand(0), axis); })
      .Default([](Operation *) { return Found(); });
}

bool Lengths::dependsOnSizes(Value x) const {
  llvm::DenseSet<Operation *> seen;
  SmallVector<Value> open = {x};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (isa_and_nonnull<nn::PrefixOp>(op) || varying.contains(next))
      return true;
    if (op && seen.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  return false;
}

void Lengths::noteDim(Value x, int64_t axis, LengthExpression size) {
  if (size && !sizes.empty())
    dims[{x, axis}] = std::move(size);
}

std::optional<double> Lengths::getFilling(Value x) const {
  for (auto prefix = x.getDefiningOp<nn::PrefixOp>();
       prefix && prefix->hasAttr(nn::kLinkAttr);
       prefix = x.getDefiningOp<nn::PrefixOp>())
    x = prefix.getX();
  auto found = fillings.find(x);
  return found == fillings.end() ? std::nullopt : std::optional(found->second);
}

LengthExpression Lengths::describe(Value x, int64_t axis) const {
  if (auto noted = dims.find({x, axis}); noted != dims.end())
    return noted->second;
  auto type = nn::getTensorType(x);
  Operation *op = x.getDefiningOp();
  if (sizes.empty() || !op || !dependsOnSizes(x))
    return type.getDimSize(axis);
  if (auto prefix = dyn_cast<nn::PrefixOp>(op))
    return axis == 0 && !prefix->hasAttr(nn::kLinkAttr)
               ? LengthExpression::getLength(prefix.getSize())
               : describe(prefix.getX(), axis);
  if (auto concat = dyn_cast<nn::ConcatOp>(op);
      concat && concat.getAxis() == uint64_t(axis)) {
    LengthExpression sum(0);
    for (Value part : concat.getXs())
      sum = combine(LengthExpression::Kind::add, sum, describe(part, axis));
    return sum;
  }
  if (auto [maker, before] = findMaker(op, axis); maker)
    return describe(maker, before);
  if (!isa<nn::ElementwiseOpInterface>(op))
    return {};
  // Operands of one element are broadcast along the axis.
  LengthExpression size;
  bool isKnown = true;
  for (Value operand : op->getOperands()) {
    auto own = nn::getTensorType(operand);
    int64_t at = axis - type.getRank() + own.getRank();
    if (at < 0 || own.getDimSize(at) != type.getDimSize(axis))
      continue;
    LengthExpression found = describe(operand, at);
    isKnown &= bool(found);
    if (found && !found.getConstant())
      return found;
    if (found)
      size = found;
  }
  return isKnown ? size : LengthExpression();
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::pair<int64_t, int64_t>
Lengths::getBounds(const LengthExpression &number) const {
  using Bounds = LengthExpression::Bounds;
  using Box = SmallVector<std::pair<int64_t, int64_t>>;
  if (auto constant = number.getConstant())
    return {*constant, *constant};
  // Sizes precede the sizes that are computed from them.
  const unsigned count =
      std::min<size_t>(LengthExpression::kMostLengths, sizes.size());
  uint64_t used = number.getLengths();
  for (unsigned i = count; i-- > 0;)
    if (used >> i & 1 && sizes[i].expression)
      used |= sizes[i].expression.getLengths();
  SmallVector<unsigned> roots;
  Box whole;
  for (unsigned i = 0; i < count; ++i) {
    whole.push_back({0, sizes[i].most});
    if (used >> i & 1 && !sizes[i].expression)
      roots.push_back(i);
  }
  auto bound = [&](const Box &box) {
    SmallVector<Bounds> all;
    for (unsigned i = 0; i < count; ++i)
      all.push_back(used >> i & 1 && sizes[i].expression
                        ? sizes[i].expression.getBounds(all)
                        : Bounds{box[i].first, box[i].second, true});
    return number.getBounds(all);
  };
  auto evaluate = [&](const Box &box, unsigned corner) {
    SmallVector<int64_t> point;
    for (unsigned i = 0; i < count; ++i) {
      const auto *root = llvm::find(roots, i);
      bool isHigh = root != roots.end() && corner >> (root - roots.begin()) & 1;
      point.push_back(used >> i & 1 && sizes[i].expression
                          ? sizes[i].expression.evaluate(point)
                          : (isHigh ? box[i].second : box[i].first));
    }
    return number.evaluate(point);
  };
  // Boxes of sizes are halved until the expression is linear within each box,
  // so that its extremes lie at corners.
  constexpr int kMostBoxes = 1 << 15;
  constexpr size_t kMostRoots = 4;
  int64_t low = LengthExpression::kMost, high = -LengthExpression::kMost;
  SmallVector<Box> open = {whole};
  for (int tried = 0; !open.empty(); ++tried) {
    Box box = open.pop_back_val();
    Bounds found = bound(box);
    if (found.low >= low && found.high <= high)
      continue;
    const auto *widest = std::max_element(
        roots.begin(), roots.end(), [&](unsigned a, unsigned b) {
          return box[a].second - box[a].first < box[b].second - box[b].first;
        });
    bool isPoint =
        widest == roots.end() || box[*widest].first == box[*widest].second;
    if ((found.isLinear || isPoint) && roots.size() <= kMostRoots) {
      for (unsigned corner = 0; corner < 1U << roots.size(); ++corner) {
        int64_t value = evaluate(box, corner);
        low = std::min(low, value);
        high = std::max(high, value);
      }
    } else if (isPoint || tried >= kMostBoxes) {
      low = std::min(low, found.low);
      high = std::max(high, found.high);
    } else {
      auto &[first, last] = box[*widest];
      const int64_t middle = first + (last - first) / 2;
      open.push_back(box);
      open.back()[*widest].first = middle + 1;
      last = middle;
      open.push_back(std::move(box));
    }
  }
  return {low, high};
}

LengthExpression Lengths::combine(LengthExpression::Kind kind,
                                  const LengthExpression &a,
                                  const LengthExpression &b) const {
  using Kind = LengthExpression::Kind;
  if (!a || !b)
    return {};
  auto is = [](const LengthExpression &x, int64_t constant) {
    return x.getConstant() == std::optional(constant);
  };
  if ((kind == Kind::add || kind == Kind::sub) && is(b, 0))
    return a;
  if ((kind == Kind::add && is(a, 0)) || (kind == Kind::mul && is(a, 1)))
    return b;
  if ((kind == Kind::mul || kind == Kind::div) && is(b, 1))
    return a;
  if (kind == Kind::div || kind == Kind::mod) {
    if (b.getConstant().value_or(0) <= 0 || getBounds(a).first < 0)
      return {};
    if (kind == Kind::mod && a.getDivisor() % *b.getConstant() == 0)
      return 0;
  }
  LengthExpression result = LengthExpression::create(kind, {a, b});
  if (result.getConstant())
    return result;
  if (kind == Kind::min || kind == Kind::max) {
    auto [low, high] = getBounds(LengthExpression::create(Kind::sub, {a, b}));
    if (high <= 0)
      return kind == Kind::min ? a : b;
    if (low >= 0)
      return kind == Kind::min ? b : a;
  }
  auto [low, high] = getBounds(result);
  if (low == high)
    return low;
  bool overflows =
      low <= -LengthExpression::kMost || high >= LengthExpression::kMost;
  return overflows ? LengthExpression() : result;
}

LengthExpression Lengths::select(const LengthExpression &condition,
                                 const LengthExpression &a,
                                 const LengthExpression &b) const {
  if (!condition || !a || !b)
    return {};
  if (auto known = condition.getConstant())
    return *known ? a : b;
  if (areEqual(a, b))
    return b;
  LengthExpression result = LengthExpression::create(
      LengthExpression::Kind::select, {condition, a, b});
  // A minimum or maximum that is equal to one operand at all sizes is replaced
  // by that operand.
  if (areEqual(result, a))
    return a;
  return areEqual(result, b) ? b : result;
}

bool Lengths::areEqual(const LengthExpression &a,
                       const LengthExpression &b) const {
  if (!a || !b || a == b)
    return bool(a) && bool(b);
  return getBounds(
             LengthExpression::create(LengthExpression::Kind::sub, {a, b})) ==
         std::pair<int64_t, int64_t>(0, 0);
}

bool Lengths::isLargestAtMost(const LengthExpression &number) const {
  SmallVector<int64_t> values;
  for (const FoundSize &size : sizes)
    values.push_back(size.most);
  return number.evaluate(values) >= getBounds(number).second;
}

std::optional<unsigned>
Lengths::findEqual(const LengthExpression &number) const {
  for (unsigned i = 0; i < sizes.size(); ++i)
    if (areEqual(number, LengthExpression::getLength(i)))
      return i;
  return std::nullopt;
}

std::optional<unsigned>
Lengths::findOuter(const LengthExpression &number) const {
  std::optional<unsigned> outer;
  for (unsigned i = 0; i < sizes.size(); ++i) {
    if (outer && !isWithin(i, *outer))
      continue;
    LengthExpression difference = LengthExpression::create(
        LengthExpression::Kind::sub, {LengthExpression::getLength(i), number});
    if (getBounds(difference).first >= 0)
      outer = i;
  }
  return outer;
}

bool Lengths::isWithin(unsigned inner, unsigned outer) const {
  std::optional<unsigned> size = inner;
  while (size && *size != outer)
    size = sizes[*size].within;
  return size.has_value();
}

Value Lengths::link(OpBuilder &builder, Location loc, Value x,
                    unsigned size) const {
  auto type = cast<RankedTensorType>(x.getType());
  if (type.getRank() == 0) {
    auto row = builder.create<nn::ReshapeOp>(loc, type.clone({1}), x);
    return builder.create<nn::ReshapeOp>(loc, type,
                                         link(builder, loc, row, size));
  }
  auto all = builder.create<nn::PrefixOp>(loc, type, x, counts[size],
                                          type.getDimSize(0), int64_t(size));
  all->setAttr(nn::kLinkAttr, builder.getUnitAttr());
  return all;
}

Value Lengths::cut(LayerBuilder &builder, Value x, unsigned size) const {
  return builder.create<nn::PrefixOp>(x, counts[size], getValue(size),
                                      int64_t(size));
}
