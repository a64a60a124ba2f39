//===- Lengths.cpp - Sizes that a run finds -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Lengths.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

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

bool Lengths::isWithin(unsigned inner, unsigned outer) const {
  std::optional<unsigned> size = inner;
  while (size && *size != outer)
    size = sizes[*size].within;
  return size.has_value();
}

std::optional<unsigned> Lengths::find(Value x, int64_t value) const {
  for (auto [size, count] : llvm::enumerate(counts))
    if (Value found = count; getValue(size) == value &&
                             found.getParentRegion() == x.getParentRegion())
      return size;
  return std::nullopt;
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
