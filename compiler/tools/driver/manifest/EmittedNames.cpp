//===- EmittedNames.cpp - Names of layers in emitted code -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/manifest/EmittedNames.h"

#include "compiler/passes/InterfaceNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nnc::tools {

EmittedNames::Key EmittedNames::getKey(nn::LayerOp layer) {
  return {layer->getParentOfType<mlir::func::FuncOp>().getSymNameAttr(),
          layer.getNameAttr()};
}

EmittedNames::EmittedNames(mlir::ModuleOp layered) {
  for (auto function : layered.getOps<mlir::func::FuncOp>()) {
    if (function.isPrivate())
      continue;
    InterfaceNames interface = nameInterface(function);
    for (auto &[op, name] : interface.layers)
      if (auto layer = mlir::dyn_cast<nn::LayerOp>(op))
        names[getKey(layer)] = name;
  }
}

std::string EmittedNames::get(nn::LayerOp layer) const {
  auto found = names.find(getKey(layer));
  return found == names.end() ? layer.getName().str() : found->second;
}

} // namespace nnc::tools
