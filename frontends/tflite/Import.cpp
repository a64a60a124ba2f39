//===- Import.cpp - From a TFLite model to the nn dialect -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/Import.h"

#include "dialects/nn/Nn.h"
#include "dialects/qnn/Qnn.h"
#include "frontends/common/Module.h"
#include "frontends/tflite/graph/Graph.h"
#include "frontends/tflite/graph/Types.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::tflite;

/// Returns the signature of the main subgraph, or null.
static const fb::Signature *getSignature(const fb::Model &model) {
  if (!model.signatures())
    return nullptr;
  for (const fb::Signature *signature : *model.signatures())
    if (signature->subgraph() == 0)
      return signature;
  return nullptr;
}

/// Returns unique names of inputs or outputs for users: those of the signature,
/// or if there is none those of the tensors.
static std::vector<std::string>
getNames(const fb::SubGraph &graph, ArrayRef<int32_t> tensors,
         const flatbuffers::Vector<flatbuffers::Offset<fb::TensorMap>> *given) {
  std::vector<std::string> names;
  llvm::StringSet<> taken;
  for (int32_t tensor : tensors) {
    std::string name = getTensorName(graph, tensor);
    if (given)
      for (const fb::TensorMap *entry : *given)
        if (entry->tensor() == uint32_t(tensor) && entry->name() &&
            entry->name()->size())
          name = getText(entry->name());
    std::string unique = name;
    for (int i = 2; !taken.insert(unique).second; ++i)
      unique = name + "_" + std::to_string(i);
    names.push_back(unique);
  }
  return names;
}

/// Returns the name, type and dimensions that the model states for an input.
/// Dimensions that the model leaves open count as open only if the user gives
/// the input a shape; otherwise they have the sizes that the model was
/// converted with.
static TensorInfo getInfo(const fb::Tensor &tensor, const std::string &name,
                          const ImportOptions &options, MLIRContext &context) {
  TensorInfo info;
  info.name = name;
  info.element = getElementType(&context, tensor.type());
  if (info.element && isPacked(info.element))
    info.element = {};
  info.elementName = getTypeName(tensor.type());
  ArrayRef<int32_t> shape = getList(tensor.shape()),
                    signature = getList(tensor.shape_signature());
  bool mayOpen =
      options.shapes.count(name) != 0 && signature.size() == shape.size();
  info.dims.emplace();
  for (auto [i, size] : llvm::enumerate(shape)) {
    Dim dim;
    if (!mayOpen || signature[i] >= 0)
      dim.size = size;
    info.dims->push_back(dim);
  }
  return info;
}

ImportResult nnc::tflite::importModel(StringRef path,
                                      const ImportOptions &options,
                                      MLIRContext &context) {
  context.loadDialect<nn::NnDialect, qnn::QnnDialect, func::FuncDialect>();
  Problems problems(context, path, options.trial, options.limits);
  ImportResult result;
  auto loaded = loadModel(path, problems);
  if (!loaded || !checkModel(*loaded, problems)) {
    result.status = problems.getStatus();
    return result;
  }
  if (const auto *description = loaded->model->description();
      description && description->size())
    result.metadata.emplace_back("description", getText(description));

  const fb::SubGraph &graph = *loaded->model->subgraphs()->Get(0);
  const fb::Signature *signature = getSignature(*loaded->model);
  std::vector<std::string> names =
      getNames(graph, getList(graph.inputs()),
               signature ? signature->inputs() : nullptr);
  std::vector<TensorInfo> declared;
  for (auto [name, tensor] : llvm::zip(names, getList(graph.inputs())))
    declared.push_back(
        getInfo(*graph.tensors()->Get(tensor), name, options, context));
  std::vector<Input> inputs =
      bindInputs(declared, options.shapes, options, problems);

  OwningOpRef<ModuleOp> module(ModuleOp::create(problems.getLoc()));
  func::FuncOp main = createMain(*module, inputs, problems);
  if (llvm::all_of(inputs, [](const Input &i) { return bool(i.type); }))
    GraphImporter(
        *loaded, options, problems, main,
        llvm::any_of(inputs, [](const Input &i) { return i.isRebound; }))
        .run(getNames(graph, getList(graph.outputs()),
                      signature ? signature->outputs() : nullptr),
             inputs);
  finishModule(std::move(module), path, loaded->sha256, options, problems,
               result);
  return result;
}
