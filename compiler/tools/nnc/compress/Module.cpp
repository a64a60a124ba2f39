//===- Module.cpp - nnc compress for models of any frontend ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/compress/Module.h"

#include "compiler/compress/Weights.h"
#include "compiler/passes/Passes.h"
#include "compiler/tools/driver/ModuleQuantizer.h"
#include "compiler/tools/driver/Progress.h"
#include "compiler/tools/driver/Terminal.h"
#include "compiler/tools/nnc/AccuracyOptions.h"
#include "compiler/tools/nnc/OutputFile.h"
#include "compiler/tools/nnc/compress/Report.h"

#include "llvm/Support/FileSystem.h"

#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace nnc::tools {

/// Returns the root mean square of the differences to the own weights, relative
/// to that of these.
static double getError(llvm::ArrayRef<float> own,
                       llvm::ArrayRef<float> compressed) {
  double signal = 0, noise = 0;
  for (auto [a, b] : llvm::zip(own, compressed)) {
    signal += double(a) * a;
    noise += (double(a) - b) * (double(a) - b);
  }
  return signal > 0 ? std::sqrt(noise / signal) : 0;
}

/// Runs the passes that compress the weights.
static mlir::LogicalResult runPasses(mlir::ModuleOp module,
                                     const onnx::CompressOptions &options) {
  std::vector<std::string> exclude(options.exclude.begin(),
                                   options.exclude.end());
  CompressOptions pass;
  pass.sparsity = options.sparsity.value_or(-1);
  if (options.pattern)
    pass.pattern =
        fmt::format("{}:{}", options.pattern->kept, options.pattern->group);
  pass.clusters = options.clusters;
  pass.block = options.block;
  pass.exclude = exclude;
  mlir::PassManager manager(module.getContext());
  manager.addPass(createCompress(pass));
  return manager.run(module);
}

ExitCode compressModule(const CompressSettings &settings, bool json) {
  auto start = std::chrono::steady_clock::now();
  DriverOptions wanted;
  wanted.command = "compress";
  Driver driver(settings.model, wanted);
  if (ExitCode code = driver.import(); code != ExitCode::done)
    return code;
  if (ExitCode code = checkNoInput(settings.output, driver.findSources());
      code != ExitCode::done)
    return code;
  mlir::ModuleOp module = driver.module();
  // The target is that of whoever compiles the result.
  module->removeAttr(target::kTargetAttr);
  // Whoever folds batch norms later would scale channels of weights that share
  // values.
  mlir::PassManager prepare(module.getContext());
  buildObservedPipeline(prepare);
  if (mlir::failed(prepare.run(module)))
    return ExitCode::ownFault;
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  if (ExitCode code =
          checkExcluded(settings.model.model, quantize::listNames(main),
                        settings.options.exclude);
      code != ExitCode::done)
    return code;
  llvm::StringSet<> exclude;
  for (const std::string &name : settings.options.exclude)
    exclude.insert(name);
  std::vector<compress::LeftWeights> left;
  std::vector<compress::Weights> weights =
      compress::findWeights(main, exclude, left);
  CompressedModel model{settings, {}, {}};
  uint64_t bytes = 0;
  if (!llvm::sys::fs::file_size(settings.model.model, bytes))
    model.fileBytes = int64_t(bytes);
  for (compress::LeftWeights &each : left)
    model.left.push_back({quantize::getName(each.constant.getY()),
                          quantize::getName(each.reader),
                          each.reader->getName().stripDialect().str(),
                          each.reason});
  if (weights.empty()) {
    Problem problem{
        Problem::error, settings.model.model, "", "", "", "", "", {}};
    problem.message = "has no weights of 32-bit floats that can be compressed";
    for (const onnx::LeftSummary &each : model.left)
      if (problem.notes.size() < 10)
        problem.notes.push_back(fmt::format(
            "'{}' of {} '{}' stays as it is: {}", displayText(each.name),
            each.op, displayText(each.node), each.reason));
    report(std::move(problem));
    return ExitCode::unsupported;
  }
  std::vector<std::vector<float>> own;
  for (compress::Weights &each : weights)
    own.push_back(each.getMatrix());
  Progress progress("compressing");
  if (mlir::failed(runPasses(module, settings.options)))
    return ExitCode::ownFault;
  CompressResult result;
  for (auto [each, before] : llvm::zip(weights, own)) {
    onnx::WeightSummary summary;
    summary.name = quantize::getName(each.constant.getY());
    summary.op = each.readers.front()->getName().stripDialect().str();
    summary.shape = each.getShape(settings.options.block);
    for (mlir::Operation *reader : each.readers)
      summary.nodes.push_back(quantize::getName(reader));
    std::vector<float> matrix = each.getMatrix();
    onnx::CompressedSizes sizes;
    sizes.stored = compression::StoredSizes::get(matrix, summary.shape, 4);
    sizes.error = getError(before, matrix);
    model.weights.push_back(std::move(summary));
    result.sizes.push_back(std::move(sizes));
  }
  if (llvm::Error error = writeModuleFile(settings.output, module))
    return fail(std::move(error), ExitCode::usage);
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  if (json)
    printJson(toJson(model, result));
  else
    printReport(model, result);
  return ExitCode::done;
}

} // namespace nnc::tools
