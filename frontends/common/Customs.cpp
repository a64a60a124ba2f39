//===- Customs.cpp - Operators that the user's functions compute ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Customs.h"

#include "dialects/nn/custom/Custom.h"
#include "frontends/common/Suggest.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

const CustomFunction *Customs::find(ArrayRef<std::string> names) {
  for (const std::string &name : names)
    for (const CustomFunction &function : functions)
      if (function.op == name) {
        used.insert(&function);
        return &function;
      }
  return nullptr;
}

void Customs::reportUnused(llvm::function_ref<bool(StringRef)> isKnown,
                           Problems &problems) const {
  for (const CustomFunction &function : functions) {
    if (used.contains(&function))
      continue;
    auto diagnostic = problems.report(ImportStatus::unbound);
    if (isKnown(function.op)) {
      diagnostic << "--custom gives a function for '" << function.op
                 << "', which nnc computes itself; leave it out";
      continue;
    }
    diagnostic << "--custom gives a function for '" << function.op
               << "', which the model does not use; ";
    if (missing.empty()) {
      diagnostic << "leave it out: there is no operator without a function "
                    "that nnc lacks";
      continue;
    }
    diagnostic << "operators that need one are ";
    llvm::interleaveComma(missing, diagnostic, [&](const std::string &name) {
      diagnostic << "'" << name << "'";
    });
    diagnostic << didYouMean(function.op, {missing.begin(), missing.end()});
  }
}

nn::DescribedAttr nnc::frontends::describePlain(RankedTensorType type) {
  Builder builder(type.getContext());
  return nn::DescribedAttr::get(type.getContext(), type,
                                builder.getDenseF32ArrayAttr({}),
                                builder.getDenseI32ArrayAttr({}), -1);
}

SmallVector<Value> Customs::create(const CustomFunction &function,
                                   const Call &call, LayerBuilder &layer) {
  Builder &builder = layer.getBuilder();
  ArrayAttr writes = builder.getArrayAttr(call.writes);
  SmallVector<Value> given;
  for (Value operand : call.operands)
    if (operand)
      given.push_back(operand);
  for (auto write : writes.getAsRange<nn::DescribedAttr>())
    if (!layer.checkSize(write.getType()))
      return {};
  bool isOne = writes.size() == 1;
  auto whole = isOne ? cast<nn::DescribedAttr>(writes[0]).getType()
                     : RankedTensorType::get(
                           {nn::getOffsets(writes).back()},
                           builder.getIntegerType(8, /*isSigned=*/false));
  ArrayRef<int8_t> options(
      reinterpret_cast<const int8_t *>(call.options.data()),
      call.options.size());
  Value made = layer.createAs<nn::CustomOp>(
      whole, builder.getStringAttr(function.name),
      builder.getStringAttr(function.header), builder.getStringAttr(call.name),
      ValueRange(given), builder.getArrayAttr(call.reads), writes,
      builder.getDenseI8ArrayAttr(options),
      builder.getDictionaryAttr(call.attributes),
      builder.getI64IntegerAttr(function.scratch),
      builder.getI64IntegerAttr(count++));
  if (!made || isOne)
    return made ? SmallVector<Value>{made} : SmallVector<Value>();
  SmallVector<Value> results;
  for (auto [write, offset] : llvm::zip_first(
           writes.getAsRange<nn::DescribedAttr>(), nn::getOffsets(writes)))
    results.push_back(layer.createAs<nn::PartOp>(
        write.getType(), made, builder.getI64IntegerAttr(offset)));
  return results;
}
