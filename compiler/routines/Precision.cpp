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
  case Precision::tf32:
    return "tf32";
  case Precision::bf16:
    return "bf16";
  case Precision::f16:
    return "f16";
  case Precision::i8:
    return "i8";
  }
  llvm_unreachable("unknown precision");
}

FloatType nnc::getHalf(Precision precision, MLIRContext *context) {
  if (precision == Precision::f16)
    return Float16Type::get(context);
  if (precision == Precision::bf16)
    return BFloat16Type::get(context);
  return {};
}

/// Returns true if the machine has a convolution whose factors are of this
/// type.
static bool convolves(target::MachineAttr machine, Type factor) {
  return llvm::any_of(Catalogue::get().getRoutinesOf("conv2d"),
                      [&](const Routine *routine) {
                        return routine->takesElement(factor) &&
                               machine.getHost().hasIsa(routine->isa);
                      });
}

LogicalResult nnc::checkPrecision(Precision precision,
                                  target::MachineAttr machine,
                                  Location location) {
  Type factor = getHalf(precision, machine.getContext());
  if (precision == Precision::tf32)
    factor = FloatTF32Type::get(machine.getContext());
  if (!factor || convolves(machine, factor))
    return success();
  SmallVector<StringRef> others;
  for (target::MachineAttr other : target::getMachines(machine.getContext()))
    if (convolves(other, factor))
      others.push_back(other.getName());
  return emitError(location)
         << "the target '" << machine.getName() << "' has no arithmetic on "
         << (factor.isF16() ? "halves" : getName(precision).str())
         << ", which the precision " << getName(precision)
         << " needs; there is for " << llvm::join(others, ", ");
}
