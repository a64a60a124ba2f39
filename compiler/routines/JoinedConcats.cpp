//===- JoinedConcats.cpp - Concatenations that are one launch -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/JoinedConcats.h"

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

void nnc::joinConcats(ModuleOp module, target::MachineAttr machine) {
  if (machine.getHost().getKind() != target::DeviceKind::gpu)
    return;
  module.walk([](ConcatOp concat) {
    if (concat.getXs().size() > 1 && concat.getXs().size() <= kMostJoined)
      concat->setAttr(kInOneCallAttr, UnitAttr::get(concat.getContext()));
  });
}
