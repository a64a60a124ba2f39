//===- ModuleQuantizer.cpp - Quantizes an imported module -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/quantization/ModuleQuantizer.h"

#include "compiler/pipelines/QuantizePipeline.h"
#include "compiler/quantize/BiasCorrection.h"
#include "compiler/quantize/ModuleFile.h"
#include "compiler/quantize/ObservedModule.h"
#include "compiler/quantize/Results.h"
#include "compiler/quantize/Scales.h"
#include "compiler/tools/driver/console/Diagnostics.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/import/PassRecord.h"
#include "compiler/tools/driver/system/Files.h"
#include "dialects/qnn/Qnn.h"
#include "dialects/qnn/Ranges.h"

#include <fmt/format.h>

namespace nnc::tools {

ModuleQuantizer::ModuleQuantizer(mlir::ModuleOp imported, std::string file,
                                 QuantizeChoice choice, std::string compiler,
                                 int threads)
    : file(std::move(file)), choice(std::move(choice)),
      compiler(std::move(compiler)), threads(threads),
      module(llvm::cast<mlir::ModuleOp>(imported->clone())) {}

mlir::func::FuncOp ModuleQuantizer::getMain() {
  return module->lookupSymbol<mlir::func::FuncOp>("main");
}

quantize::PlanOptions ModuleQuantizer::getPlanOptions() const {
  quantize::PlanOptions result;
  result.unrounded = choice.passes.unrounded;
  for (const std::string &name : choice.passes.exclude)
    result.exclude.insert(name);
  for (const auto &[name, reason] : kept)
    result.exclude.insert(name);
  return result;
}

std::vector<std::string> ModuleQuantizer::getNames() {
  return quantize::listNames(getMain());
}

/// Reports an error if the module has quantized ops already.
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

/// Reports an error and returns ExitCode::unsupported if no layer can be
/// quantized.
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

/// Returns a copy of the module whose main function also returns the values
/// whose ranges the plan needs.
mlir::OwningOpRef<mlir::ModuleOp>
ModuleQuantizer::makeObserved(const quantize::Plan &plan) {
  mlir::OwningOpRef<mlir::ModuleOp> copy =
      llvm::cast<mlir::ModuleOp>((*module)->clone());
  mlir::func::FuncOp main = getMain();
  runs.setNumOutputs(quantize::countOutputs(main));
  llvm::SmallVector<size_t> numbers = quantize::listObserved(main, plan);
  for (size_t number : numbers)
    observed.emplace_back(number, quantize::getObservedName(number));
  if (methods.observesChannels)
    for (const quantize::EqualizableValue &each :
         quantize::findEqualizable(main)) {
      channels.push_back(
          {each.number, quantize::getObservedName(each.number), each.axis});
      if (!llvm::is_contained(numbers, each.number))
        numbers.push_back(each.number);
    }
  quantize::addObserved(copy->lookupSymbol<mlir::func::FuncOp>("main"),
                        numbers);
  return copy;
}

std::vector<std::string> ModuleQuantizer::listCompared() const {
  std::vector<std::string> names;
  for (const auto &[name, own] : parameters)
    names.push_back(name);
  return names;
}

mlir::OwningOpRef<mlir::ModuleOp> ModuleQuantizer::makeCompared() {
  mlir::OwningOpRef<mlir::ModuleOp> copy = cloneToQuantize();
  llvm::SmallVector<size_t> numbers;
  for (const auto &[number, name] : observed)
    if (parameters.count(name))
      numbers.push_back(number);
  auto main = copy->lookupSymbol<mlir::func::FuncOp>("main");
  quantize::addObserved(main, numbers);
  if (runPasses(*copy, nullptr) != ExitCode::done)
    return {};
  // A tensor may be computed in floats, and be read both by integer layers,
  // which round it, and by float layers, which do not. The outputs show the
  // rounded values.
  quantize::returnDequantized(main, numbers.size());
  return copy;
}

ExitCode ModuleQuantizer::open() {
  if (ExitCode code = checkIsFloat(); code != ExitCode::done)
    return code;
  mlir::PassManager manager(module->getContext());
  buildObservedPipeline(manager);
  observedPasses = spellPasses(manager);
  if (mlir::failed(manager.run(*module)))
    return ExitCode::ownFault;
  auto makePlan = [this] {
    return quantize::makePlan(getMain(), getPlanOptions(),
                              llvm::DenseMap<mlir::Value, std::string>());
  };
  // Biases are added first, so that values have the same numbers when channels
  // are observed and when they are scaled.
  if (methods.correctsBiases)
    quantize::giveBiases(makePlan());
  equalized = quantize::equalizeLayers(getMain(), methods.channels);
  quantize::Plan plan = makePlan();
  if (ExitCode code = checkPlan(plan); code != ExitCode::done)
    return code;
  ModelOptions options;
  if (ExitCode code =
          runs.getProgram().open(printBytecode(*makeObserved(plan)), "observed",
                                 options, compiler, threads);
      code != ExitCode::done)
    return code;
  return runs.readSamples(choice.samples);
}

/// Records the layers of the plan for reports.
void ModuleQuantizer::describe(const quantize::Plan &plan) {
  llvm::DenseMap<mlir::Value, std::string> names;
  for (auto [number, value] : llvm::enumerate(qnn::listValues(getMain())))
    names[value] = quantize::getObservedName(number);
  auto find = [&](mlir::Value value) {
    while (plan.sameAs.count(value))
      value = plan.sameAs.at(value);
    return value;
  };
  parameters.clear();
  for (const auto &[value, own] : quantize::assignScales(plan, getStorage()))
    if (!plan.sameAs.count(value))
      parameters[names.at(value)] = own;
  layers.clear();
  for (const quantize::PlannedLayer &layer : plan.layers) {
    mlir::Value value = find(layer.output);
    quantize::Range range;
    if (auto known = qnn::getRange(value))
      range = {known->low, known->high};
    Layer &own =
        layers.emplace_back(Layer{quantize::getName(layer.op),
                                  layer.op->getName().stripDialect().str(),
                                  range,
                                  {},
                                  names.at(value),
                                  plan.sameAs.count(layer.output) != 0});
    for (mlir::Value input : layer.inputs)
      own.inputs.push_back(names.at(find(input)));
  }
  if (kept.empty())
    for (const quantize::PlannedLayer &layer : plan.layers)
      if (layer.kind != quantize::Kind::move)
        all.insert(layer.op);
  floats.clear();
  for (const quantize::FloatOp &each : plan.floats) {
    const std::string name = quantize::getName(each.op);
    auto found = kept.find(name);
    // An op of the model may have become several ops, which stay float
    // together.
    if (found != kept.end() && !all.contains(each.op))
      continue;
    floats.push_back({name, each.op->getName().stripDialect().str(),
                      found == kept.end() ? each.reason : found->second,
                      each.isImportant});
  }
}

/// Quantizes `on`, a copy of the float module. Sets `spelled` to the passes if
/// it is not null.
ExitCode ModuleQuantizer::runPasses(mlir::ModuleOp on, std::string *spelled) {
  ModuleQuantization options = choice.passes;
  for (const auto &[name, reason] : kept)
    options.exclude.push_back(name);
  mlir::PassManager manager(on.getContext());
  buildQuantizePipeline(manager, ranges, options);
  if (spelled)
    *spelled = spellPasses(manager);
  return mlir::succeeded(manager.run(on)) ? ExitCode::done : ExitCode::ownFault;
}

ExitCode ModuleQuantizer::requantize() {
  describe(quantize::planByRanges(getMain(), getPlanOptions()));
  quantized = cloneToQuantize();
  std::string own;
  ExitCode code = runPasses(*quantized, &own);
  passes = observedPasses + "," + own;
  return code;
}

ExitCode ModuleQuantizer::keepFloats(std::map<std::string, std::string> names) {
  kept = std::move(names);
  return requantize();
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
         runs.getProgram().findOutput(output)});
    if (tensors.back().output < 0)
      return fail(makeError(fmt::format("the model that observes '{}' has no "
                                        "such output",
                                        displayText(tensors.back().name))),
                  ExitCode::ownFault);
  }
  std::map<std::string, quantize::Range> found;
  std::map<std::string, std::string> unusable;
  if (ExitCode code = findRanges(
          tensors, runs.getSamples(),
          [this](size_t sample) { return runFloat(sample); }, choice.method,
          found, unusable);
      code != ExitCode::done)
    return code;
  for (const auto &[number, output] : observed) {
    const quantize::Range &range = found.at(output);
    if (unusable.count(output))
      continue;
    ranges.push_back(fmt::format("{}:{}:{}", number, range.low, range.high));
    qnn::setRange(values[number], {range.low, range.high});
  }
  quantize::Plan plan = quantize::planByRanges(getMain(), getPlanOptions());
  if (ExitCode code = checkPlan(plan); code != ExitCode::done)
    return code;
  if (methods.correctsBiases)
    if (ExitCode code = correctBiases(plan); code != ExitCode::done)
      return code;
  return requantize();
}

std::string printBytecode(mlir::ModuleOp module) {
  return quantize::printModule(module);
}

std::string printModuleFile(llvm::StringRef path, mlir::ModuleOp module) {
  return quantize::printModule(module, path);
}

llvm::Error writeModuleFile(const std::string &path, mlir::ModuleOp module) {
  return replaceTextFile(path, printModuleFile(path, module));
}

} // namespace nnc::tools
