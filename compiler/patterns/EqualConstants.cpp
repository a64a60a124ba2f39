//===- EqualConstants.cpp - Constants with the same bytes -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/EqualConstants.h"

#include "dialects/nn/Nn.h"

#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The number of bytes of a constant that are hashed. Different weights nearly
/// always differ in these, and constants with equal hashes are compared as a
/// whole.
static constexpr size_t kHashed = 1024;

void nnc::shareEqualConstants(ModuleOp module) {
  ConstantValues values;
  module.walk([&](ConstantOp constant) {
    // Values of constants that vary with the sizes of the network may be equal
    // at some sizes only.
    if (isa<DenseResourceElementsAttr>(constant.getValue()) &&
        !constant->hasAttr(kVariesAttr))
      constant.setValueAttr(values.add(constant.getValue()));
  });
}

ElementsAttr ConstantValues::add(ElementsAttr value) {
  std::optional<TensorData> data = TensorData::get(value);
  if (!data)
    return value;
  ArrayRef<char> bytes = data->getBytes();
  StringRef start(bytes.data(), std::min(bytes.size(), kHashed));
  uint64_t hash = llvm::xxh3_64bits(start);
  auto [first, last] = known.equal_range(hash);
  for (auto &[same, other] : llvm::make_range(first, last))
    if (other.value == value || (other.value.getType() == value.getType() &&
                                 other.data.getBytes() == bytes))
      return other.value;
  known.insert({hash, {value, *data}});
  return value;
}
