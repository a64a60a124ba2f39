//===- IntegerSums.cpp - Whether a target has sums of integers ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/IntegerSums.h"

#include "compiler/routines/Catalogue.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns true if `routine` multiplies 8-bit integers and sums the products in
/// i32.
static bool sumsIntegers(const Routine &routine, Builder &builder) {
  return routine.takesSums(builder.getI32Type()) &&
         (routine.takesElement(builder.getIntegerType(8, false)) ||
          routine.takesElement(builder.getIntegerType(8)));
}

bool nnc::hasIntegerSums(Operation *product, target::DeviceAttr device) {
  Builder builder(product->getContext());
  SmallVector<RoutineShape> shapes;
  StringRef family;
  SmallVector<RoutineCall> calls =
      cast<RoutineOpInterface>(product).getRoutineCalls();
  for (const RoutineCall &call : calls) {
    auto shape = readShape(call);
    if (!shape)
      return false;
    shapes.push_back(*shape);
    family = call.family;
  }
  return llvm::any_of(
      Catalogue::get().getRoutinesOf(family), [&](const Routine *routine) {
        return device.hasIsa(routine->isa) && sumsIntegers(*routine, builder) &&
               llvm::any_of(routine->candidates, [&](const auto &params) {
                 return llvm::all_of(shapes, [&](const RoutineShape &shape) {
                   return routine->applies(shape, params);
                 });
               });
      });
}
