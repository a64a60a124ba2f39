//===- Import.cpp - From an exported program to the nn dialect ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/Import.h"

#include "dialects/nn/Nn.h"
#include "dialects/qnn/Qnn.h"
#include "frontends/common/Attempt.h"
#include "frontends/common/Module.h"
#include "frontends/torch/graph/Graph.h"
#include "frontends/torch/graph/Guards.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::torch;

/// Finds the values of the program's symbols from the shapes of its inputs.
/// Returns nullopt after an error.
static std::optional<Symbols> bindAll(const Program &program,
                                      ArrayRef<Input> inputs, bool passesBounds,
                                      Problems &problems) {
  Symbols symbols;
  // A size may be an expression of one that a later input gives.
  for (int round = 0; round < 2; ++round)
    for (const Input &input : inputs)
      if (!input.type ||
          !bindSymbols(program, input.name, input.type.getShape(), symbols,
                       passesBounds, problems))
        return std::nullopt;
  bool isBound = true;
  for (const Input &input : inputs)
    isBound &=
        !input.type || checkSizes(program, input.name, input.type.getShape(),
                                  symbols, problems);
  return isBound ? std::optional(std::move(symbols)) : std::nullopt;
}

/// Imports the graph. `guard` does not hold for the sizes of the inputs: where
/// the program contradicts itself for these, the error explains that.
static void runImporter(GraphImporter &importer, ArrayRef<Input> inputs,
                        const std::optional<Guard> &guard, Problems &problems) {
  if (!guard)
    return importer.run(inputs);
  std::string contradiction;
  {
    nnc::frontends::Attempt attempt(problems);
    importer.run(inputs);
    if (!attempt.isBroken())
      return attempt.report();
    contradiction = attempt.describe();
  }
  problems.report(ImportStatus::unbound)
      << "holds only for sizes with " << guard->equation
      << ", by which PyTorch specialised the program when it exported it ("
      << contradiction << "); "
      << (guard->options.empty()
              ? "give such sizes by --shape"
              : guard->options + " gives the sizes of its example")
      << ", and for others export the program again, with code that does not "
         "depend on this equation";
}

ImportResult nnc::torch::importModel(StringRef path,
                                     const ImportOptions &options,
                                     MLIRContext &context) {
  context.loadDialect<nn::NnDialect, qnn::QnnDialect, func::FuncDialect>();
  Problems problems(context, path, options.trial, options.limits);
  ImportResult result;
  std::unique_ptr<Program> program = Program::load(path, problems);
  auto signature = program ? readSignature(*program, problems) : std::nullopt;
  if (!signature) {
    result.status = problems.getStatus();
    return result;
  }
  if (auto version = program->getRoot().getString("torch_version"))
    result.metadata.emplace_back("torch_version", version->str());
  std::vector<TensorInfo> declared;
  for (const GraphInput &input : signature->inputs)
    if (input.kind == GraphInput::Kind::user) {
      declared.push_back(
          describeInput(*program, input.name, context, problems));
      std::vector<std::string> &names = result.dimNames[input.name];
      if (declared.back().dims)
        for (const Dim &dim : *declared.back().dims)
          names.push_back(dim.symbol);
    }
  GivenShapes shapes = options.shapes;
  if (options.takesBounds)
    for (auto &[name, shape] :
         takeLargest(*program, declared, shapes, result.bounds))
      if (!options.values.count(name))
        shapes[name] = shape;
  std::vector<Input> inputs = bindInputs(declared, shapes, options, problems);
  for (const Input &input : inputs) {
    if (input.open)
      result.open.push_back(*input.open);
    if (input.isOneSample && input.type)
      result.samples[input.name] = std::vector<int64_t>(input.type.getShape());
  }

  OwningOpRef<ModuleOp> module(ModuleOp::create(problems.getLoc()));
  func::FuncOp main = createMain(*module, inputs, problems);
  if (auto symbols =
          bindAll(*program, inputs, options.passesBounds, problems)) {
    GraphImporter importer(*program, *signature, std::move(*symbols), options,
                           problems, main);
    runImporter(importer, inputs,
                findBrokenGuard(*program, *signature, importer.getSymbols()),
                problems);
    result.foundSizes = importer.getLengths().getSizes().vec();
  }
  finishModule(std::move(module), path, program->getSha256(), options, problems,
               result);
  return result;
}
