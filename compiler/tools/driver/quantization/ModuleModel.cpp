//===- ModuleModel.cpp - A module during a search for float layers --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/quantization/ModuleModel.h"

#include "compiler/quantize/Results.h"
#include "compiler/tools/driver/console/Terminal.h"

namespace nnc::tools {

std::vector<precision::SearchedLayer> ModuleModel::listLayers() const {
  std::vector<precision::SearchedLayer> layers;
  for (const ModuleQuantizer::Layer &layer : quantizer.getLayers()) {
    int number =
        numbers.try_emplace(layer.name, int(numbers.size())).first->second;
    layers.push_back(
        {number, layer.name, layer.inputs, layer.output, layer.isMove});
  }
  return layers;
}

ExitCode ModuleModel::keepFloats(const std::map<int, std::string> &layers) {
  std::map<std::string, std::string> names;
  for (const auto &[name, number] : numbers)
    if (auto found = layers.find(number); found != layers.end())
      names[name] = found->second;
  return quantizer.keepFloats(std::move(names));
}

bool ModuleModel::isSoftmax(const std::string &output) const {
  auto main = quantizer.getModule().lookupSymbol<mlir::func::FuncOp>("main");
  return quantize::isSoftmax(main, output);
}

llvm::Expected<std::string>
ModuleModel::print(std::map<std::string, std::string> *observed) {
  if (!observed)
    return printBytecode(quantizer.getModule());
  mlir::OwningOpRef<mlir::ModuleOp> compared = quantizer.makeCompared();
  if (!compared)
    return makeError("the quantized model with its values as outputs could not "
                     "be made");
  for (const std::string &name : quantizer.listCompared())
    (*observed)[name] = name;
  return printBytecode(*compared);
}

} // namespace nnc::tools
