//===- Import.cpp - From an ONNX model to the nn dialect ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Import.h"

#include "dialects/exec/Identifiers.h"
#include "dialects/nn/Nn.h"
#include "dialects/qnn/Qnn.h"
#include "frontends/onnx/Check.h"
#include "frontends/onnx/Graph.h"
#include "frontends/onnx/Inputs.h"
#include "frontends/onnx/Load.h"
#include "frontends/onnx/Sort.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;

/// `func.func @main` with an argument for each input whose type is known.
static func::FuncOp createMain(ModuleOp module, ArrayRef<Input> inputs,
                               Problems &problems) {
  SmallVector<Type> types;
  SmallVector<StringRef> names;
  for (const Input &input : inputs) {
    if (!input.type)
      continue;
    types.push_back(input.type);
    names.push_back(input.name);
  }
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto main = builder.create<func::FuncOp>(problems.getLoc(), "main",
                                           builder.getFunctionType(types, {}));
  Block *entry = main.addEntryBlock();
  // All at once: each change copies the attributes of all arguments.
  SmallVector<Attribute> attributes;
  for (auto [i, name] : llvm::enumerate(names)) {
    attributes.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr("nn.name", builder.getStringAttr(name))));
    entry->getArgument(i).setLoc(problems.getLoc(name));
  }
  main.setAllArgAttrs(attributes);
  return main;
}

/// Constants whose values the importer has used up.
static void eraseUnusedConstants(func::FuncOp main) {
  for (Operation &op : llvm::make_early_inc_range(main.getBody().front()))
    if (isa<nn::ConstantOp>(op) && op.use_empty())
      op.erase();
}

ImportResult nnc::onnx::importModel(StringRef path,
                                    const ImportOptions &options,
                                    MLIRContext &context) {
  context.loadDialect<nn::NnDialect, qnn::QnnDialect, func::FuncDialect>();
  Problems problems(context, path);
  ImportResult result;
  auto loaded = loadModel(path, problems);
  if (!loaded) {
    result.status = problems.getStatus();
    return result;
  }
  ::onnx::ModelProto &model = loaded->proto;
  for (const auto &entry : model.metadata_props())
    result.metadata.emplace_back(entry.key(), entry.value());

  bool isSound = !model.has_graph() || sortNodes(model, problems);
  isSound &= checkModel(model, problems);
  std::vector<Input> inputs =
      bindInputs(model.graph(), options.shapes, problems);

  OwningOpRef<ModuleOp> module(ModuleOp::create(problems.getLoc()));
  func::FuncOp main = createMain(*module, inputs, problems);
  Weights weights(problems, path, options.externalData);
  // Where something is wrong already, this finds what else is.
  if (isSound)
    GraphImporter(
        model, problems, weights, main,
        llvm::any_of(inputs, [](const Input &i) { return i.isRebound; }))
        .run();
  if (problems.none()) {
    eraseUnusedConstants(main);
    if (failed(verify(*module)))
      problems.report(ImportStatus::fault)
          << "was imported to what is no sound program; please report this";
  }
  result.status = problems.getStatus();
  if (!problems.none())
    return result;
  Builder builder(&context);
  std::string name = options.name.empty()
                         ? exec::makeModuleName(llvm::sys::path::stem(path))
                         : options.name;
  (*module)->setAttr("nn.model", builder.getStringAttr(name));
  (*module)->setAttr("nn.sha256", builder.getStringAttr(loaded->sha256));
  result.module = std::move(module);
  return result;
}
