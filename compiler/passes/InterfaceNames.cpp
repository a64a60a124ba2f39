//===- InterfaceNames.cpp - Names of ports and layers in C ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/InterfaceNames.h"

#include "dialects/exec/Identifiers.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/attributes/State.h"
#include "dialects/nn/control/Control.h"
#include "dialects/nn/layers/Layer.h"

using namespace mlir;
using namespace nnc;

namespace {
struct PortName {
  StringRef given, kind;
  std::string &name;
};
} // namespace

static StringRef readName(Attribute attribute) {
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  return text ? text.getValue() : StringRef();
}

/// Marks the names of memories for weights and of sizes as taken, since users
/// and frontends have chosen them.
static void takeGivenNames(func::FuncOp function, exec::Names &names) {
  if (auto memories =
          function->getAttrOfType<ArrayAttr>(exec::kWeightMemoriesAttr))
    for (auto memory : memories.getAsRange<exec::MemoryAttr>())
      names.take(exec::getWeightsName(memory), /*isCall=*/false);
  if (auto sizes = function->getAttrOfType<ArrayAttr>(exec::kSizesAttr))
    for (auto size : sizes.getAsRange<exec::SizeAttr>())
      names.take(size.getName(), /*isCall=*/false);
}

InterfaceNames nnc::nameInterface(func::FuncOp function) {
  InterfaceNames interface;
  exec::Names &names = interface.names;
  takeGivenNames(function, names);
  interface.inputs.resize(function.getNumArguments());
  interface.outputs.resize(function.getNumResults());
  SmallVector<PortName> ports;
  for (auto [i, name] : llvm::enumerate(interface.inputs))
    ports.push_back({readName(function.getArgAttr(i, nn::kNameAttr)),
                     nn::getNextValue(function, i) ? "state" : "input", name});
  for (auto [i, name] : llvm::enumerate(interface.outputs))
    if (!nn::getStateOf(function, i))
      ports.push_back(
          {readName(function.getResultAttr(i, nn::kNameAttr)), "output", name});
  for (PortName &port : ports)
    if (exec::makeIdentifier(port.given, port.kind) == port.given &&
        names.take(port.given, /*isCall=*/false))
      port.name = port.given.str();
  for (PortName &port : ports)
    if (port.name.empty())
      port.name = names.add(port.given, port.kind);
  for (func::FuncOp each : nn::getAllBodies(function)) {
    for (auto layer : each.getOps<nn::LayerOp>())
      interface.layers[layer] = names.take(layer.getName(), /*isCall=*/true)
                                    ? layer.getName().str()
                                    : names.addCall(layer.getName());
    for (auto custom : each.getOps<nn::CustomOp>())
      interface.layers[custom] = names.addCall(
          nn::getModelName(custom.getLoc(), custom.getFunction()));
    for (auto control : each.getOps<nn::ControlOpInterface>())
      interface.layers[control] = names.addCall(nn::getModelName(
          control.getLoc(), control->getName().stripDialect()));
  }
  return interface;
}
