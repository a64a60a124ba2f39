//===- EqualConstants.cpp - Constants with the same bytes -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/patterns/EqualConstants.h"

#include "dialects/nn/Nn.h"
#include "dialects/nn/tensors/TensorData.h"

#include "llvm/Support/xxhash.h"

#include <map>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The number of bytes of a constant that are hashed. Different weights nearly
/// always differ in these, and constants with equal hashes are compared as a
/// whole.
static constexpr size_t kHashed = 1024;

void nnc::shareEqualConstants(ModuleOp module) {
  struct Known {
    Type type;
    TensorData data;
    ElementsAttr value;
  };
  std::multimap<uint64_t, Known> known;
  module.walk([&](ConstantOp constant) {
    ElementsAttr value = constant.getValue();
    std::optional<TensorData> data = TensorData::get(value);
    if (!isa<DenseResourceElementsAttr>(value) || !data)
      return;
    ArrayRef<char> bytes = data->getBytes();
    StringRef start(bytes.data(), std::min(bytes.size(), kHashed));
    uint64_t hash = llvm::xxh3_64bits(start);
    auto [first, last] = known.equal_range(hash);
    for (auto &[same, other] : llvm::make_range(first, last)) {
      if (other.value == value)
        return;
      if (other.type != value.getType() || other.data.getBytes() != bytes)
        continue;
      constant.setValueAttr(other.value);
      return;
    }
    known.insert({hash, {value.getType(), *data, value}});
  });
}
