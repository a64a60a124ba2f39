//===- Import.cpp - From a TensorFlow model to the nn dialect -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/Import.h"

#include "dialects/nn/Nn.h"
#include "dialects/qnn/Qnn.h"
#include "frontends/common/Module.h"
#include "frontends/tensorflow/graph/Importer.h"
#include "frontends/tensorflow/graph/Types.h"
#include "frontends/tensorflow/strings/Cut.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::tensorflow;

/// Returns the name, type and dimensions that the model states for an input.
static TensorInfo getInfo(const Port &port, MLIRContext &context) {
  TensorInfo info;
  info.name = port.name;
  info.element = getElementType(&context, port.type);
  info.elementName = getTypeName(port.type);
  auto sizes = readShape(port.shape);
  if (!sizes)
    return info;
  info.dims.emplace();
  for (int64_t size : *sizes) {
    Dim dim;
    if (size >= 0)
      dim.size = size;
    info.dims->push_back(dim);
  }
  return info;
}

/// Gives the open first dimensions of all inputs one name. They are the number
/// of samples, which TensorFlow does not say: a model adds or joins its inputs.
/// The dimensions keep no name if the user gives inputs different first sizes.
static void nameBatch(MutableArrayRef<TensorInfo> inputs,
                      const GivenShapes &shapes) {
  SmallVector<Dim *> firsts;
  std::optional<int64_t> size;
  for (TensorInfo &input : inputs) {
    if (!input.dims || input.dims->empty() || input.dims->front().size)
      continue;
    firsts.push_back(&input.dims->front());
    auto given = shapes.find(input.name);
    if (given == shapes.end() || given->second.empty())
      continue;
    if (size && *size != given->second.front())
      return;
    size = given->second.front();
  }
  if (firsts.size() > 1)
    for (Dim *first : firsts)
      first->symbol = "batch";
}

ImportResult nnc::tensorflow::importModel(StringRef path,
                                          const ImportOptions &options,
                                          MLIRContext &context) {
  context.loadDialect<nn::NnDialect, qnn::QnnDialect, func::FuncDialect>();
  Problems problems(context, path, options.trial, options.limits);
  ImportResult result;
  auto loaded = loadModel(path, options.signature, problems);
  if (!loaded || !cutStrings(*loaded, problems)) {
    result.status = problems.getStatus();
    return result;
  }
  if (!loaded->version.empty())
    result.metadata.emplace_back("tensorflow_version", loaded->version);
  Graphs graphs(*loaded, problems);
  std::vector<TensorInfo> declared;
  for (const Port &port : loaded->inputs)
    declared.push_back(getInfo(port, context));
  nameBatch(declared, options.shapes);
  for (const TensorInfo &input : declared)
    if (input.dims)
      for (const Dim &dim : *input.dims)
        result.dimNames[input.name].push_back(dim.symbol);
  std::vector<Input> inputs =
      bindInputs(declared, options.shapes, options, problems);
  for (Input &input : inputs) {
    if (input.isOneSample && input.type)
      result.samples[input.name] = input.type.getShape().vec();
    if (input.open)
      result.open.push_back(std::move(*input.open));
  }
  OwningOpRef<ModuleOp> module(ModuleOp::create(problems.getLoc()));
  func::FuncOp main = createMain(*module, inputs, problems);
  WeightFiles files(problems,
                    loaded->savedModel.empty() ? path
                                               : StringRef(loaded->savedModel),
                    options.externalData);
  Checkpoint checkpoint(loaded, files, problems);
  bool areBound =
      llvm::all_of(inputs, [](const Input &input) { return bool(input.type); });
  if (areBound) {
    GraphImporter importer(loaded, graphs, checkpoint, options, problems, main,
                           options.isSample ||
                               llvm::any_of(inputs, [](const Input &input) {
                                 return input.isRebound;
                               }));
    importer.run(inputs);
    result.foundSizes = importer.getLengths().getSizes().vec();
  }
  result.dataFiles = files.getPaths();
  // The name of a folder may end in a slash.
  finishModule(std::move(module), path.rtrim('/'), loaded->sha256, options,
               problems, result);
  return result;
}
