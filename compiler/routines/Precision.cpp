//===- Precision.cpp - Number formats that layers compute with ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Precision.h"

#include "compiler/routines/Catalogue.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;

StringRef nnc::getName(Precision precision) {
  switch (precision) {
  case Precision::f32:
    return "f32";
  case Precision::f16:
    return "f16";
  case Precision::i8:
    return "i8";
  }
  llvm_unreachable("unknown precision");
}

static bool convolvesHalves(target::MachineAttr machine) {
  Type half = Float16Type::get(machine.getContext());
  return llvm::any_of(Catalogue::get().getRoutinesOf("conv2d"),
                      [&](const Routine *routine) {
                        return routine->takesElement(half) &&
                               machine.getHost().hasIsa(routine->isa);
                      });
}

LogicalResult nnc::checkHalves(target::MachineAttr machine, Location location) {
  if (convolvesHalves(machine))
    return success();
  SmallVector<StringRef> others;
  for (target::MachineAttr other : target::getMachines(machine.getContext()))
    if (convolvesHalves(other))
      others.push_back(other.getName());
  return emitError(location)
         << "the target '" << machine.getName()
         << "' has no arithmetic on halves, which the precision f16 needs; "
            "there is for "
         << llvm::join(others, ", ");
}
