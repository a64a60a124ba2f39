//===- Import.cpp - From a network of Caffe to the nn dialect -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/Import.h"

#include "dialects/nn/Nn.h"
#include "frontends/caffe/graph/DataLayers.h"
#include "frontends/caffe/graph/Graph.h"
#include "frontends/common/Module.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::caffe;

/// Tells what the caller has to do with pixels, which Caffe's layers of data
/// do.
static void reportTransforms(const schema::NetParameter &net,
                             const ImportOptions &options, Problems &problems,
                             ImportResult &result) {
  for (const schema::LayerParameter &layer : net.layer()) {
    std::string text = describeTransform(layer);
    if (text.empty())
      continue;
    result.metadata.emplace_back("transform_param", text);
    if (options.trial.empty() && !options.isSample)
      emitWarning(problems.getLoc(layer.name()))
          << "has a transform_param, which is no part of the compiled network: "
             "give it pixels that were "
          << text;
  }
}

/// Moves the shapes that the user gives for what custom layers compute out of
/// `shapes`, which are then those of inputs, and returns them.
static GivenShapes takeTopShapes(const schema::NetParameter &net,
                                 const ImportOptions &options,
                                 GivenShapes &shapes) {
  GivenShapes taken;
  Customs customs(options.customs);
  for (const schema::LayerParameter &layer : net.layer())
    for (const std::string &top : layer.top())
      if (shapes.count(top) && findCustom(customs, layer)) {
        taken[top] = shapes[top];
        shapes.erase(top);
      }
  return taken;
}

ImportResult nnc::caffe::importModel(StringRef path,
                                     const ImportOptions &options,
                                     MLIRContext &context) {
  context.loadDialect<nn::NnDialect, func::FuncDialect>();
  Problems problems(context, path, options.trial, options.limits);
  // Problems of the files do not depend on sizes that are tried.
  Problems fileProblems(context, path, /*trial=*/"", options.limits);
  ImportResult result;
  auto loaded = loadModel(path, options.weights, fileProblems);
  if (!loaded) {
    result.status = fileProblems.getStatus();
    return result;
  }
  if (loaded->weights && loaded->weights->path != path)
    result.dataFiles.push_back(loaded->weights->path);
  reportTransforms(loaded->net, options, problems, result);

  GivenShapes shapes = options.shapes;
  GivenShapes topShapes = takeTopShapes(loaded->net, options, shapes);
  std::vector<Input> inputs = bindInputs(
      findInputs(loaded->net, options, context), shapes, options, problems);
  for (const Input &input : inputs) {
    if (input.open)
      result.open.push_back(*input.open);
    if (input.isOneSample && input.type)
      result.samples[input.name] = std::vector<int64_t>(
          input.type.getShape().begin(), input.type.getShape().end());
  }
  OwningOpRef<ModuleOp> module(ModuleOp::create(problems.getLoc()));
  func::FuncOp main = createMain(*module, inputs, problems);
  if (llvm::all_of(inputs, [](const Input &i) { return bool(i.type); }))
    GraphImporter(*loaded, options, topShapes, problems, fileProblems, main)
        .run(inputs);
  problems.add(fileProblems);
  finishModule(std::move(module), path, loaded->sha256, options, problems,
               result);
  return result;
}
