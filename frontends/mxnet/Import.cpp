//===- Import.cpp - From an MXNet symbol to the nn dialect ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/Import.h"

#include "dialects/nn/Nn.h"
#include "dialects/qnn/Qnn.h"
#include "frontends/common/Module.h"
#include "frontends/mxnet/Ops.h"
#include "frontends/mxnet/file/Attributes.h"
#include "frontends/mxnet/graph/Graph.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::mxnet;

/// Returns what a variable states of itself by the hidden keys __shape__ and
/// __dtype__. MXNet itself learns shapes when it binds a network.
static TensorInfo getInfo(const SymbolNode &node, MLIRContext &context) {
  TensorInfo info;
  info.name = node.name;
  auto dtype = node.attributes.find("__dtype__");
  // The number -1 stands for an unknown type.
  int64_t type =
      dtype == node.attributes.end() ? 0 : parseInt(dtype->second).value_or(0);
  type = std::max<int64_t>(type, 0);
  info.element = getElementType(&context, type);
  info.elementName = getTypeName(type);
  auto shape = node.attributes.find("__shape__");
  auto sizes =
      shape == node.attributes.end() ? std::nullopt : parseTuple(shape->second);
  if (!sizes || sizes->empty())
    return info;
  info.dims.emplace();
  for (std::optional<int64_t> size : *sizes) {
    Dim dim;
    if (size && *size > 0)
      dim.size = *size;
    info.dims->push_back(dim);
  }
  return info;
}

/// Returns the hash of the symbol and its parameters.
static std::string hash(const Symbol &symbol, const Params &params) {
  llvm::SHA256 sha;
  sha.update(symbol.file->getBuffer());
  sha.update(params.file->getBuffer());
  return llvm::toHex(sha.final(), /*LowerCase=*/true);
}

/// Reports variables that layers read as their weights or statistics and that
/// neither the file of parameters has nor the user gives a shape.
static void reportMissingWeights(const Symbol &symbol, const Params &params,
                                 ArrayRef<uint32_t> sorted,
                                 const ImportOptions &options,
                                 Problems &problems) {
  static const llvm::StringSet<> layers = {
      "BatchNorm",     "BatchNorm_v1",   "Convolution",  "Convolution_v1",
      "Deconvolution", "FullyConnected", "InstanceNorm", "LayerNorm"};
  for (uint32_t number : sorted) {
    const SymbolNode &node = symbol.nodes[number];
    if (!layers.contains(node.op) || node.inputs.empty())
      continue;
    for (const Entry &input : ArrayRef(node.inputs).drop_front()) {
      const SymbolNode &variable = symbol.nodes[input.node];
      if (variable.isVariable() && !params.find(variable.name) &&
          !options.shapes.count(variable.name) &&
          !problems.isReported(problems.getLoc(variable.name)))
        problems.reportLasting(ImportStatus::broken,
                               problems.getLoc(variable.name))
            << "is a parameter of the " << node.op << " '" << node.name
            << "', and '" << params.path
            << "' does not have it; --weights names the file that was saved "
               "with this symbol";
    }
  }
}

ImportResult nnc::mxnet::importModel(StringRef path,
                                     const ImportOptions &options,
                                     MLIRContext &context) {
  context.loadDialect<nn::NnDialect, qnn::QnnDialect, func::FuncDialect>();
  Problems problems(context, path, options.trial, options.limits);
  ImportResult result;
  auto symbol = loadSymbol(path, problems);
  auto weights =
      symbol ? findParams(path, options.weights, problems) : std::nullopt;
  auto params = weights ? loadParams(*weights, problems) : std::nullopt;
  auto countReads = [](const SymbolNode &node) {
    const OpInfo *info = findOp(node.op);
    return info ? info->countReads(node) : node.inputs.size();
  };
  auto sorted =
      params ? sortNodes(*symbol, countReads, problems) : std::nullopt;
  if (!sorted) {
    result.status = problems.getStatus();
    return result;
  }
  result.dataFiles.push_back(params->path);
  reportMissingWeights(*symbol, *params, *sorted, options, problems);
  if (!problems.none()) {
    result.status = problems.getStatus();
    return result;
  }

  std::vector<uint32_t> inputNodes =
      GraphImporter::findInputs(*symbol, *params, *sorted);
  std::vector<TensorInfo> declared;
  for (uint32_t number : inputNodes)
    declared.push_back(getInfo(symbol->nodes[number], context));
  std::vector<Input> inputs =
      bindInputs(declared, options.shapes, options, problems);
  for (const Input &input : inputs) {
    if (input.isOneSample && input.type)
      result.samples[input.name] = input.type.getShape().vec();
    if (input.open)
      result.open.push_back(*input.open);
  }

  OwningOpRef<ModuleOp> module(ModuleOp::create(problems.getLoc()));
  func::FuncOp main = createMain(*module, inputs, problems);
  GraphImporter(*symbol, *params, options, problems, main)
      .run(*sorted, inputNodes, inputs);
  // The module's name is PREFIX.
  StringRef prefix = path;
  std::string named = prefix.consume_back("-symbol.json")
                          ? (prefix + ".json").str()
                          : path.str();
  finishModule(std::move(module), named, hash(*symbol, *params), options,
               problems, result);
  return result;
}
