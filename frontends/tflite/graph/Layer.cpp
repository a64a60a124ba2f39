//===- Layer.cpp - What a converter sees of a TFLite operator -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/graph/Layer.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::tflite;

Layer::Layer(GraphImporter &importer, const fb::Operator &op, Scope &scope,
             Location loc, StringRef name)
    : LayerBuilder(importer.getBuilder(), importer.getProblems(), loc, name),
      importer(importer), op(op), scope(scope), inputs(getList(op.inputs())),
      outputs(getList(op.outputs())), results(outputs.size()) {}

Value Layer::getInput(size_t i) {
  return hasInput(i) ? importer.getValue(scope, inputs[i], getLoc()) : Value();
}

const fb::Tensor *Layer::getInputTensor(size_t i) const {
  return hasInput(i) ? scope.graph->tensors()->Get(inputs[i]) : nullptr;
}

const fb::Tensor *Layer::getOutputTensor(size_t i) const {
  return i < outputs.size() && outputs[i] >= 0
             ? scope.graph->tensors()->Get(outputs[i])
             : nullptr;
}

std::optional<int64_t> Layer::readAxis(size_t i, int64_t rank) {
  auto axes = readInts(getInput(i), "an axis");
  if (!axes)
    return std::nullopt;
  if (axes->size() == 1)
    return normalizeAxis((*axes)[0], rank);
  broken("needs one axis, not " + Twine(axes->size()));
  return std::nullopt;
}

Quantization Layer::getQuantization(const fb::Tensor *tensor) {
  Quantization result;
  if (!tensor)
    return result;
  std::string problem = readQuantization(*tensor, result);
  if (!problem.empty())
    broken("reads or writes '" + getText(tensor->name()) + "', which " +
           problem);
  return problem.empty() ? result : Quantization();
}

Quantization Layer::getInputQuantization(size_t i) {
  return getQuantization(getInputTensor(i));
}

Quantization Layer::getIntermediateQuantization(size_t i) {
  ArrayRef<int32_t> intermediates = getList(op.intermediates());
  return i < intermediates.size() && intermediates[i] >= 0
             ? getQuantization(scope.graph->tensors()->Get(intermediates[i]))
             : Quantization();
}

Quantization Layer::getOutputQuantization(size_t i) {
  return getQuantization(getOutputTensor(i));
}

Type Layer::getOutputElement(size_t i) {
  const fb::Tensor *tensor = getOutputTensor(i);
  return tensor ? getElementType(getLoc().getContext(), tensor->type())
                : Type();
}

void Layer::setResult(size_t i, Value value) {
  if (i < results.size())
    results[i] = value;
}

Value Layer::slice(Value x, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes,
                   ArrayRef<int64_t> steps) {
  SmallVector<int64_t> ones(starts.size(), 1);
  return create<nn::SliceOp>(x, starts, sizes,
                             steps.empty() ? ArrayRef<int64_t>(ones) : steps);
}

Variable *Layer::getVariable(size_t i, RankedTensorType type) {
  const fb::Tensor *tensor = getInputTensor(i);
  if (tensor && tensor->is_variable())
    return importer.getVariable(scope, inputs[i], getLoc(), type);
  broken("needs a variable as operand " + Twine(i));
  return nullptr;
}

Variable *Layer::getOwnVariable(StringRef name, RankedTensorType type) {
  std::string owner = getTensorName(*scope.graph, outputs[0]);
  std::string key = "own/" + std::to_string(importer.getNumber(scope.graph)) +
                    "/" + std::to_string(outputs[0]) + "/" + name.str();
  return importer.getVariable(key, owner + "_" + name.str(), type, getLoc());
}

std::string Layer::readHandle(size_t i) {
  auto found =
      hasInput(i) ? scope.handles.find(inputs[i]) : scope.handles.end();
  if (found != scope.handles.end())
    return found->second;
  unsupported("needs the result of a VAR_HANDLE of the same subgraph as "
              "operand " +
              Twine(i));
  return "";
}

Passed Layer::getPassed(size_t i) {
  auto handle =
      hasInput(i) ? scope.handles.find(inputs[i]) : scope.handles.end();
  if (handle != scope.handles.end())
    return {{}, handle->second, true};
  return {getInput(i)};
}

void Layer::setPassed(size_t i, const Passed &passed) {
  if (!passed.isHandle)
    setResult(i, passed.value);
  else if (i < outputs.size() && outputs[i] >= 0)
    scope.handles[outputs[i]] = passed.handle;
}

void Layer::setHandle(StringRef name) { scope.handles[outputs[0]] = name; }

const void *Layer::findOptions(fb::Options kind) {
  if (op.options_type() == kind && op.options())
    return op.options();
  broken("has no options of its kind");
  return nullptr;
}

qnn::Rescale Layer::getRescale() const {
  TfliteRounding rounding = importer.getOptions().tfliteRounding;
  bool isOnce = rounding == TfliteRounding::once ||
                (rounding == TfliteRounding::litert && isDense);
  return isOnce ? qnn::Rescale::single_rounding : qnn::Rescale::double_rounding;
}

bool Layer::isMicro() const {
  return importer.getOptions().tfliteRounding == TfliteRounding::twice;
}

bool Layer::isLiteRt() const {
  return importer.getOptions().tfliteRounding == TfliteRounding::litert;
}
