//===- Import.cpp - From an ONNX model to the nn dialect ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Import.h"

#include "dialects/nn/Nn.h"
#include "dialects/qnn/Qnn.h"
#include "frontends/common/Module.h"
#include "frontends/onnx/custom/Custom.h"
#include "frontends/onnx/file/Check.h"
#include "frontends/onnx/file/Load.h"
#include "frontends/onnx/graph/CarrierTypes.h"
#include "frontends/onnx/graph/Graph.h"
#include "frontends/onnx/graph/Sort.h"
#include "frontends/onnx/graph/ValueInfo.h"
#include "frontends/onnx/microsoft/Microsoft.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;

ImportResult nnc::onnx::importModel(StringRef path,
                                    const ImportOptions &options,
                                    MLIRContext &context) {
  context.loadDialect<nn::NnDialect, qnn::QnnDialect, func::FuncDialect>();
  Problems problems(context, path, options.trial, options.limits);
  ImportResult result;
  auto loaded = loadModel(path, problems);
  if (!loaded) {
    result.status = problems.getStatus();
    return result;
  }
  ::onnx::ModelProto &model = loaded->proto;
  for (const auto &entry : model.metadata_props())
    result.metadata.emplace_back(entry.key(), entry.value());

  renameMicrosoftOps(model);
  bool isSound = !model.has_graph() || sortNodes(model, problems);
  isSound &= checkModel(model, options.customs, problems);
  dropInitialValues(*model.mutable_graph(), options.values);
  std::vector<TensorInfo> declared = getInputs(model.graph(), problems);
  for (TensorInfo &input : declared)
    input.element = getStoredType(input.element);
  GivenShapes shapes = options.shapes;
  GivenShapes customShapes = takeCustomShapes(model.graph(), options, shapes);
  std::vector<Input> inputs = bindInputs(declared, shapes, options, problems);
  for (const TensorInfo &input : declared)
    if (input.dims)
      for (const Dim &dim : *input.dims)
        result.dimNames[input.name].push_back(dim.size ? "" : dim.symbol);

  for (Input &input : inputs) {
    if (input.isOneSample && input.type)
      result.samples[input.name] = input.type.getShape().vec();
    if (input.open)
      result.open.push_back(std::move(*input.open));
  }

  OwningOpRef<ModuleOp> module(ModuleOp::create(problems.getLoc()));
  func::FuncOp main = createMain(*module, inputs, problems);
  WeightFiles files(problems, path, options.externalData);
  Weights weights(problems, files);
  // If there are errors already, the import continues to find all others.
  if (isSound) {
    GraphImporter importer(
        model, options, problems, weights, main,
        options.isSample ||
            llvm::any_of(inputs, [](const Input &i) { return i.isRebound; }));
    importer.run(customShapes, inputs);
    llvm::append_range(result.metadata, importer.getOutputTexts());
    result.foundSizes = importer.getLengths().getSizes().vec();
  }
  result.dataFiles = files.getPaths();
  finishModule(std::move(module), path, loaded->sha256, options, problems,
               result);
  return result;
}
