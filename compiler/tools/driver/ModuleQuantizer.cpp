//===- ModuleQuantizer.cpp - Quantizes an imported module -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/ModuleQuantizer.h"

#include "compiler/quantize/ModuleFile.h"
#include "compiler/quantize/Results.h"
#include "compiler/quantize/Scales.h"
#include "compiler/tools/driver/Files.h"
#include "compiler/tools/driver/Terminal.h"
#include "dialects/qnn/Qnn.h"
#include "dialects/qnn/Ranges.h"

#include <fmt/format.h>

namespace nnc::tools {

/// Bytes of results of the float model that are kept between two passes over
/// the samples.
static constexpr int64_t kKeptBytes = int64_t(1) << 30;

ModuleQuantizer::ModuleQuantizer(mlir::ModuleOp imported, std::string file,
                                 QuantizeChoice choice, std::string compiler,
                                 int threads)
    : file(std::move(file)), choice(std::move(choice)),
      compiler(std::move(compiler)), threads(threads),
      module(llvm::cast<mlir::ModuleOp>(imported->clone())) {}

mlir::func::FuncOp ModuleQuantizer::getMain() {
  return module->lookupSymbol<mlir::func::FuncOp>("main");
}

static quantize::PlanOptions getPlanOptions(const ModuleQuantization &options) {
  quantize::PlanOptions result;
  result.unrounded = options.unrounded;
  for (const std::string &name : options.exclude)
    result.exclude.insert(name);
  return result;
}

std::vector<std::string> ModuleQuantizer::getNames() {
  return quantize::listNames(getMain());
}

/// Reports a module that has quantized ops.
ExitCode ModuleQuantizer::checkIsFloat() {
  ExitCode code = ExitCode::done;
  module->walk([&](mlir::Operation *op) {
    if (!llvm::isa<qnn::QnnDialect>(op->getDialect()))
      return mlir::WalkResult::advance();
    code = fail(makeError(fmt::format(
                    "{} is quantized already: its node '{}' computes on "
                    "quantized values; give the float model",
                    file, displayText(quantize::getName(op)))),
                ExitCode::usage);
    return mlir::WalkResult::interrupt();
  });
  return code;
}

/// Returns ExitCode::unsupported, and says why, if nothing is left to do.
ExitCode ModuleQuantizer::checkPlan(const quantize::Plan &plan) {
  if (!plan.layers.empty())
    return ExitCode::done;
  Problem problem{Problem::error, file, "", "", "", "", "", {}};
  problem.message = "has no layer that can be quantized";
  for (const quantize::FloatOp &each : plan.floats)
    if (problem.notes.size() < 10)
      problem.notes.push_back(fmt::format(
          "{} '{}' stays float: {}", each.op->getName().stripDialect().str(),
          quantize::getName(each.op), each.reason));
  report(std::move(problem));
  return ExitCode::unsupported;
}

/// Returns a copy of the module whose main function also returns the values of
/// the plan whose ranges have to be known.
mlir::OwningOpRef<mlir::ModuleOp>
ModuleQuantizer::makeObserved(const quantize::Plan &plan) {
  llvm::SmallVector<mlir::Value> own = qnn::listValues(getMain());
  mlir::OwningOpRef<mlir::ModuleOp> copy =
      llvm::cast<mlir::ModuleOp>((*module)->clone());
  auto main = copy->lookupSymbol<mlir::func::FuncOp>("main");
  llvm::SmallVector<mlir::Value> values = qnn::listValues(main);
  numOutputs = quantize::countOutputs(main);
  llvm::SmallVector<mlir::Value> added;
  std::vector<std::string> names;
  for (auto [number, value] : llvm::enumerate(own)) {
    if (!plan.values.count(value) || plan.sameAs.count(value))
      continue;
    names.push_back(fmt::format("nnc.observed.{}", number));
    observed.emplace_back(number, names.back());
    added.push_back(values[number]);
  }
  quantize::addResults(main, added, names);
  return copy;
}

ExitCode ModuleQuantizer::open() {
  if (ExitCode code = checkIsFloat(); code != ExitCode::done)
    return code;
  mlir::PassManager manager(module->getContext());
  buildObservedPipeline(manager);
  passes = spellPasses(manager);
  if (mlir::failed(manager.run(*module)))
    return ExitCode::ownFault;
  quantize::Plan plan =
      quantize::makePlan(getMain(), getPlanOptions(choice.passes),
                         llvm::DenseMap<mlir::Value, std::string>());
  if (ExitCode code = checkPlan(plan); code != ExitCode::done)
    return code;
  ModelOptions options;
  if (ExitCode code = floatModel.open(printBytecode(*makeObserved(plan)),
                                      "observed", options, compiler, threads);
      code != ExitCode::done)
    return code;
  return readCalibration(choice.samples, floatModel.getManifest(), samples);
}

llvm::Expected<std::vector<Tensor>> ModuleQuantizer::runFloat(size_t sample) {
  if (sample < cache.size())
    return cache[sample];
  llvm::Expected<std::vector<Tensor>> results = floatModel.run(
      samples[sample].inputs,
      fmt::format("sample {} of {}", sample + 1, samples.size()));
  int64_t bytes = 0;
  for (size_t i = 0; results && i < results->size(); ++i)
    bytes += int64_t((*results)[i].data.size());
  if (results && sample == cache.size() &&
      bytes <= kKeptBytes / int64_t(samples.size()))
    cache.push_back(*results);
  return results;
}

/// Remembers what a report tells of the plan.
void ModuleQuantizer::describe(const quantize::Plan &plan) {
  for (const quantize::PlannedLayer &layer : plan.layers) {
    mlir::Value value = layer.output;
    while (plan.sameAs.count(value))
      value = plan.sameAs.at(value);
    quantize::Range range;
    if (auto known = qnn::getRange(value))
      range = {known->low, known->high};
    layers.push_back({quantize::getName(layer.op),
                      layer.op->getName().stripDialect().str(), range});
  }
  for (const quantize::FloatOp &each : plan.floats)
    floats.push_back({quantize::getName(each.op),
                      each.op->getName().stripDialect().str(), each.reason,
                      each.isImportant});
}

ExitCode ModuleQuantizer::quantize() {
  llvm::SmallVector<mlir::Value> values = qnn::listValues(getMain());
  std::vector<ObservedTensor> tensors;
  for (const auto &[number, output] : observed) {
    mlir::Operation *op = values[number].getDefiningOp();
    tensors.push_back(
        {output, quantize::getName(values[number]),
         op ? fmt::format("op nn.{}", op->getName().stripDialect().str())
            : "an input",
         floatModel.findOutput(output)});
    if (tensors.back().output < 0)
      return fail(makeError(fmt::format("the model that observes '{}' has no "
                                        "such output",
                                        displayText(tensors.back().name))),
                  ExitCode::ownFault);
  }
  std::map<std::string, quantize::Range> ranges;
  std::map<std::string, std::string> unusable;
  if (ExitCode code = findRanges(
          tensors, samples, [this](size_t sample) { return runFloat(sample); },
          choice.method, ranges, unusable);
      code != ExitCode::done)
    return code;
  std::vector<std::string> texts;
  for (const auto &[number, output] : observed) {
    const quantize::Range &range = ranges.at(output);
    if (unusable.count(output))
      continue;
    texts.push_back(fmt::format("{}:{}:{}", number, range.low, range.high));
    qnn::setRange(values[number], {range.low, range.high});
  }
  quantize::Plan plan =
      quantize::planByRanges(getMain(), getPlanOptions(choice.passes));
  if (ExitCode code = checkPlan(plan); code != ExitCode::done)
    return code;
  describe(plan);
  mlir::PassManager manager(module->getContext());
  buildQuantizePipeline(manager, texts, choice.passes);
  passes += "," + spellPasses(manager);
  return mlir::succeeded(manager.run(*module)) ? ExitCode::done
                                               : ExitCode::ownFault;
}

std::string printBytecode(mlir::ModuleOp module) {
  return quantize::printModule(module);
}

llvm::Error writeModuleFile(const std::string &path, mlir::ModuleOp module) {
  return replaceTextFile(path, quantize::printModule(module, path));
}

} // namespace nnc::tools
