//===- ModuleMethods.cpp - Equalization and bias correction of modules ----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/BiasCorrection.h"
#include "compiler/quantize/Equalize.h"
#include "compiler/tools/driver/quantization/ModuleQuantizer.h"
#include "dialects/qnn/Ranges.h"

#include "mlir/IR/IRMapping.h"

namespace nnc::tools {

llvm::Expected<quantize::ValueChannels> ModuleQuantizer::findChannelRanges() {
  quantize::ValueChannels ranges;
  for (size_t i = 0; i < runs.getSamples().size() && !channels.empty(); ++i) {
    llvm::Expected<std::vector<Tensor>> results = runFloat(i);
    if (!results)
      return results.takeError();
    for (const ObservedChannels &each : channels) {
      const Tensor &tensor =
          (*results)[runs.getProgram().findOutput(each.output)];
      quantize::widenRanges(
          ranges[each.number],
          quantize::ChannelShape::get(tensor.shape, each.axis),
          tools::getFloats(tensor));
    }
  }
  return ranges;
}

ExitCode ModuleQuantizer::correctBiases(const quantize::Plan &plan) {
  std::vector<quantize::WeightError> errors;
  auto copy = quantize::makeWeightErrors(
      *module, plan, quantize::assignScales(plan, getStorage()),
      {choice.passes.perChannel, choice.passes.reduceRange}, errors);
  qnn::dropRanges(copy->lookupSymbol<mlir::func::FuncOp>("main"));
  Executable model;
  if (ExitCode code =
          model.open(printBytecode(*copy), "weight_errors", ModelOptions(),
                     compiler, threads, &runs.getProgram());
      code != ExitCode::done)
    return code;
  std::vector<quantize::ChannelMeans> means(errors.size());
  auto addErrors = [&](const std::vector<Tensor> &results) {
    for (size_t e = 0; e < errors.size(); ++e) {
      const Tensor &tensor = results[model.findOutput(errors[e].output)];
      means[e].add(quantize::ChannelShape::get(tensor.shape, errors[e].axis),
                   tools::getFloats(tensor));
    }
  };
  if (ExitCode code =
          model.runEach(runs.getSamples(), "measuring errors", addErrors);
      code != ExitCode::done)
    return code;
  for (size_t e = 0; e < errors.size(); ++e)
    corrected.push_back(
        {errors[e].layer,
         quantize::correctBias(errors[e].layer, means[e].get())});
  return ExitCode::done;
}

mlir::OwningOpRef<mlir::ModuleOp> ModuleQuantizer::cloneToQuantize() {
  mlir::IRMapping mapping;
  mlir::OwningOpRef<mlir::ModuleOp> copy =
      llvm::cast<mlir::ModuleOp>((*module)->clone(mapping));
  for (const auto &[layer, bias] : corrected)
    if (kept.count(quantize::getName(layer)))
      quantize::setBias(mapping.lookup(layer), bias);
  return copy;
}

} // namespace nnc::tools
