//===- Strings.cpp - Texts that are known when compiling ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/graph/Strings.h"

#include "frontends/onnx/schema/Types.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace nnc::onnx;

ArrayAttr nnc::onnx::makeTexts(Builder &builder, ArrayRef<std::string> texts) {
  SmallVector<StringRef> list(texts.begin(), texts.end());
  return builder.getStrArrayAttr(list);
}

Value nnc::onnx::makeStrings(OpBuilder &builder, Value indices,
                             ArrayAttr texts) {
  if (!indices)
    return {};
  auto type = cast<RankedTensorType>(indices.getType());
  auto strings = builder.create<UnrealizedConversionCastOp>(
      indices.getLoc(), type.clone(getStringType(builder.getContext())),
      indices);
  strings->setAttr(nn::kTextsAttr, texts);
  return strings.getResult(0);
}

ArrayAttr nnc::onnx::getTexts(Value value) {
  auto cast =
      value ? value.getDefiningOp<UnrealizedConversionCastOp>() : nullptr;
  return cast ? cast->getAttrOfType<ArrayAttr>(nn::kTextsAttr) : ArrayAttr();
}

bool nnc::onnx::takesStrings(StringRef op) {
  static constexpr llvm::StringLiteral names[] = {"ArrayFeatureExtractor",
                                                  "Cast",
                                                  "CategoryMapper",
                                                  "Flatten",
                                                  "Gather",
                                                  "Identity",
                                                  "LabelEncoder",
                                                  "Reshape",
                                                  "Squeeze",
                                                  "Transpose",
                                                  "Unsqueeze"};
  return llvm::is_contained(names, op);
}
