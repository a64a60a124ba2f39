//===- EqualAtAllSizes.cpp - Constants that are equal at all sizes --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/sizes/EqualAtAllSizes.h"

#include "compiler/patterns/EqualConstants.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/tensors/Resource.h"

using namespace mlir;
using namespace nnc;

/// The values that a constant has in each of the modules.
using Values = std::vector<ElementsAttr>;

/// Returns the constants of each module in the order of its text; no lists if
/// the modules have different numbers of constants.
static std::vector<std::vector<nn::ConstantOp>>
listConstants(ArrayRef<ModuleOp> modules) {
  std::vector<std::vector<nn::ConstantOp>> all;
  for (ModuleOp module : modules) {
    auto &own = all.emplace_back();
    module.walk([&](nn::ConstantOp op) { own.push_back(op); });
    if (own.size() != all[0].size())
      return {};
  }
  return all;
}

/// Returns the opaque pointers of the values, as a key of a map.
static std::vector<const void *> getKey(const Values &values) {
  std::vector<const void *> key;
  for (ElementsAttr value : values)
    key.push_back(value.getAsOpaquePointer());
  return key;
}

void nnc::shareEqualConstants(ArrayRef<ModuleOp> modules) {
  auto all = listConstants(modules);
  std::vector<ConstantValues> distinct(all.size());
  std::map<std::vector<const void *>, Values> shared;
  for (size_t i = 0; !all.empty() && i < all[0].size(); ++i) {
    Values values, first;
    for (auto [own, known] : llvm::zip_equal(all, distinct)) {
      values.push_back(own[i].getValue());
      first.push_back(known.add(values.back()));
    }
    auto [entry, isNew] = shared.try_emplace(getKey(first), values);
    for (auto [own, value] : llvm::zip_equal(all, entry->second))
      own[i].setValueAttr(value);
  }
}

/// Returns another attribute with the type and bytes of a constant.
static ElementsAttr copyValue(nn::ConstantOp op) {
  auto data = TensorData::get(op.getValue());
  if (!data)
    return op.getValue();
  ArrayRef<char> bytes = data->getBytes();
  return nn::createResource(
      nn::getTensorType(op), nn::getModelName(op.getLoc(), "constant"),
      HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, alignof(int64_t)));
}

void nnc::separateConstants(ArrayRef<ModuleOp> modules) {
  auto all = listConstants(modules);
  if (all.empty())
    return;
  // Constants that are the same at all sizes keep their attributes, since the
  // code for each size takes them from the first module.
  auto isFixed = [&](size_t i) {
    return llvm::all_of(all, [&](const auto &own) {
      return nn::ConstantOp(own[i]).getValue() ==
             nn::ConstantOp(all[0][i]).getValue();
    });
  };
  SmallVector<size_t> order, varying;
  for (size_t i : llvm::seq(all[0].size()))
    (isFixed(i) ? order : varying).push_back(i);
  llvm::append_range(order, varying);
  // The constants that have been seen, by the values in all modules, with the
  // values that they have now.
  std::map<std::vector<const void *>, Values> known;
  std::vector<DenseSet<Attribute>> taken(all.size());
  for (size_t i : order) {
    Values values;
    for (const auto &own : all)
      values.push_back(nn::ConstantOp(own[i]).getValue());
    auto [entry, isNew] = known.try_emplace(getKey(values), values);
    for (auto [own, value, others] :
         llvm::zip_equal(all, entry->second, taken)) {
      if (isNew && !others.insert(value).second)
        value = copyValue(own[i]);
      own[i].setValueAttr(value);
    }
  }
}
