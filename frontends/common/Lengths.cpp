//===- Lengths.cpp - Sizes that a run finds -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Lengths.h"

#include "dialects/nn/Varies.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

/// Name of the attribute of what link() makes.
static constexpr llvm::StringLiteral kLinkAttr = "nn.link";

std::optional<unsigned> Lengths::add(LayerBuilder &builder, StringRef name,
                                     int64_t most, Value count) {
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
  sizes.push_back({name.str(), most});
  counts.push_back(number);
  return sizes.size() - 1;
}

std::optional<unsigned> Lengths::addComputed(LayerBuilder &builder,
                                             const FoundSize &size,
                                             Value count) {
  auto number = add(builder, size.name, size.most, count);
  if (number)
    sizes[*number] = size;
  return number;
}

int64_t Lengths::getValue(unsigned size) const {
  if (size < chosen.size())
    return chosen[size];
  const FoundSize &found = sizes[size];
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
    if (prefix && prefix->hasAttr(kLinkAttr))
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

/// Returns the axis of the operand of a reshape that an axis of its result is,
/// if it has as many elements and as many stand in front of it.
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

/// Returns the operand of an op, and the axis of it, that has as many elements
/// as an axis of the result in every import; null where there is none.
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
        return isWhole && !slice->hasAttr(kVariesAttr)
                   ? Found(slice.getX(), axis)
                   : Found();
      })
      .Case<nn::ConcatOp>([&](nn::ConcatOp concat) {
        return concat.getAxis() == axis ? Found()
                                        : Found(concat.getXs()[0], axis);
      })
      .Case<nn::MatMulOp>([&](nn::MatMulOp product) {
        return axis == getRank(product) - 2 && !product.getTransposeA() &&
                       getRank(product.getA()) == getRank(product)
                   ? Found(product.getA(), axis)
                   : Found();
      })
      .Case<nn::SoftmaxOp, nn::LayerNormOp, nn::CumSumOp>(
          [&](Operation *) { return Found(op->getOperand(0), axis); })
      .Default([](Operation *) { return Found(); });
}

std::optional<unsigned> Lengths::findOf(Value x, int64_t axis) const {
  Operation *op = sizes.empty() ? nullptr : x.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto prefix = dyn_cast<nn::PrefixOp>(op))
    return axis == 0 && !prefix->hasAttr(kLinkAttr)
               ? std::optional(unsigned(prefix.getSize()))
               : findOf(prefix.getX(), axis);
  if (auto [maker, before] = findMaker(op, axis); maker)
    return findOf(maker, before);
  if (!isa<nn::ElementwiseOpInterface>(op))
    return std::nullopt;
  // Operands of one element are broadcast along the axis.
  auto type = nn::getTensorType(x);
  for (Value operand : op->getOperands()) {
    auto own = nn::getTensorType(operand);
    int64_t at = axis - type.getRank() + own.getRank();
    if (at >= 0 && own.getDimSize(at) == type.getDimSize(axis))
      if (auto size = findOf(operand, at))
        return size;
  }
  return std::nullopt;
}

bool Lengths::isFixed(Value x, int64_t axis) const {
  while (findSources(x) != 0) {
    Operation *op = x.getDefiningOp();
    auto prefix = dyn_cast<nn::PrefixOp>(op);
    if (prefix && axis == 0 && !prefix->hasAttr(kLinkAttr))
      return false;
    if (prefix)
      x = prefix.getX();
    else
      std::tie(x, axis) = findMaker(op, axis);
    if (!x)
      return false;
  }
  return true;
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
  all->setAttr(kLinkAttr, builder.getUnitAttr());
  return all;
}

Value Lengths::cut(LayerBuilder &builder, Value x, unsigned size) const {
  return builder.create<nn::PrefixOp>(x, counts[size], getValue(size),
                                      int64_t(size));
}
