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

std::optional<unsigned> Lengths::find(Value x, int64_t value) const {
  for (auto [size, count] : llvm::enumerate(counts))
    if (Value found = count; getValue(size) == value &&
                             found.getParentRegion() == x.getParentRegion())
      return size;
  return std::nullopt;
}

Value Lengths::cut(LayerBuilder &builder, Value x, unsigned size) const {
  return builder.create<nn::PrefixOp>(x, counts[size], getValue(size),
                                      int64_t(size));
}
