//===- Devices.cpp - Checks where the ops of a function run ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Devices.h"

#include "dialects/nn/control/Control.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns the types of the operands and results of an op.
static SmallVector<Type> getTypes(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  if (auto function = dyn_cast<func::FuncOp>(op)) {
    llvm::append_range(types, function.getArgumentTypes());
    llvm::append_range(types, function.getResultTypes());
  }
  return types;
}

static LogicalResult checkOp(Operation *op, target::MachineAttr machine) {
  bool isHostsOwn =
      isa<func::FuncOp, func::ReturnOp, ControlOpInterface, CustomOp>(op);
  SmallVector<Type> types = getTypes(op);
  for (Type type : types) {
    StringRef device = getDevice(type);
    if (device.empty())
      continue;
    if (machine && !machine.findDevice(device))
      return op->emitOpError("has a value on the device '")
             << device << "', which the target '" << machine.getName()
             << "' lacks";
    if (machine && machine.getHost().getName() == device)
      return op->emitOpError("has a value on '")
             << device
             << "', which is the host; types name other devices alone";
    if (isHostsOwn)
      return op->emitOpError("has a value on the device '")
             << device << "', but only the host does that; move the value "
             << "with nn.adapt";
    if (!isa<AdaptOp>(op) && device != getDevice(types.front()))
      return op->emitOpError("has values of ")
             << types.front() << " and " << type
             << ", which are on different devices; nn.adapt moves a tensor";
  }
  return success();
}

LogicalResult nnc::checkDevices(Operation *root, target::MachineAttr machine) {
  bool isSound = true;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    isSound &= succeeded(checkOp(op, machine));
    // Ops within the regions of a layer belong to no device.
    return isa<LayerOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return success(isSound);
}
