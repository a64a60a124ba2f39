//===- Custom.cpp - TFLite operators that the user's functions compute ----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/custom/Custom.h"

#include "frontends/tflite/file/Load.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::tflite;

nn::DescribedAttr nnc::tflite::describe(RankedTensorType type,
                                        const Quantization &quantization) {
  Builder builder(type.getContext());
  SmallVector<float> scales(quantization.scales.begin(),
                            quantization.scales.end());
  SmallVector<int32_t> zeroPoints(quantization.zeroPoints.begin(),
                                  quantization.zeroPoints.end());
  return nn::DescribedAttr::get(
      type.getContext(), type, builder.getDenseF32ArrayAttr(scales),
      builder.getDenseI32ArrayAttr(zeroPoints), quantization.axis);
}

/// Returns the type that the model states for result `i`; null after an error
/// if it is not known.
static RankedTensorType getResultType(Layer &layer, size_t i, bool isRebound) {
  const fb::Tensor *tensor = layer.getOutputTensor(i);
  if (!tensor) {
    layer.broken("lacks result " + Twine(i));
    return {};
  }
  Type element = layer.getOutputElement(i);
  if (!element || isPacked(element)) {
    layer.unsupported("has a result of type " + getTypeName(tensor->type()) +
                      ", which nnc cannot hand to a function");
    return {};
  }
  std::string name = getText(tensor->name());
  bool isOpen = false;
  for (int32_t size : getList(tensor->shape_signature()))
    isOpen |= size < 0;
  if (isOpen && isRebound) {
    layer.fail(ImportStatus::unbound,
               "has a result '" + name +
                   "' whose shape is open in the model; with --shape nnc "
                   "cannot know it: convert the model with the sizes that you "
                   "want");
    return {};
  }
  SmallVector<int64_t> shape(getList(tensor->shape()));
  if (llvm::is_contained(shape, 0)) {
    layer.unsupported("has a result '" + name + "' of shape " +
                      toString(shape) +
                      "; a function needs the sizes of its results, which the "
                      "model has to state");
    return {};
  }
  return RankedTensorType::get(shape, element);
}

void nnc::tflite::convertCustom(Layer &layer, Customs &customs,
                                const CustomFunction &function,
                                const std::string &name, bool isRebound) {
  Customs::Call call;
  call.name = name;
  call.options = layer.getCustomOptions();
  bool isComplete = true;
  for (size_t i = 0; i < layer.getNumInputs(); ++i) {
    Value operand = layer.getInput(i);
    isComplete &= !layer.hasInput(i) || operand;
    call.operands.push_back(operand);
    if (!operand) {
      call.reads.push_back(layer.getBuilder().getUnitAttr());
      continue;
    }
    // The axis of scales refers to the shape in the file, whose sizes may
    // differ from those of this import.
    auto type = cast<RankedTensorType>(operand.getType());
    Quantization quantization = layer.getInputQuantization(i);
    if (quantization.axis >= 0 && (quantization.axis >= type.getRank() ||
                                   type.getDimSize(quantization.axis) !=
                                       int64_t(quantization.scales.size()))) {
      layer.broken("reads '" + getText(layer.getInputTensor(i)->name()) +
                   "', which has no scale for each index of its axis");
      return;
    }
    call.reads.push_back(describe(type, quantization));
  }
  for (size_t i = 0; i < layer.getNumResults(); ++i) {
    RankedTensorType type = getResultType(layer, i, isRebound);
    isComplete &= bool(type);
    if (type)
      call.writes.push_back(describe(type, layer.getOutputQuantization(i)));
  }
  if (!isComplete)
    return;
  for (auto [i, result] :
       llvm::enumerate(customs.create(function, call, layer)))
    layer.setResult(i, result);
}
