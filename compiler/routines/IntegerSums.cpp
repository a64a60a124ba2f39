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

/// Returns the shapes of the calls that compute `product`, and sets `family`.
/// Returns none if a shape cannot be read.
static SmallVector<RoutineShape> getShapes(Operation *product,
                                           std::string &family) {
  SmallVector<RoutineShape> shapes;
  for (const RoutineCall &call :
       cast<RoutineOpInterface>(product).getRoutineCalls()) {
    auto shape = readShape(call);
    if (!shape)
      return {};
    shapes.push_back(*shape);
    family = call.family;
  }
  return shapes;
}

static bool applies(const Routine &routine, ArrayRef<RoutineShape> shapes) {
  return llvm::any_of(routine.candidates, [&](const auto &params) {
    return llvm::all_of(shapes, [&](const RoutineShape &shape) {
      return routine.applies(shape, params);
    });
  });
}

bool nnc::hasIntegerSums(Operation *product, target::DeviceAttr device) {
  Builder builder(product->getContext());
  std::string family;
  SmallVector<RoutineShape> shapes = getShapes(product, family);
  return !shapes.empty() &&
         llvm::any_of(Catalogue::get().getRoutinesOf(family),
                      [&](const Routine *routine) {
                        return device.hasIsa(routine->isa) &&
                               sumsIntegers(*routine, builder) &&
                               applies(*routine, shapes);
                      });
}

/// Returns true if a run can convert the second operand of the matrix product
/// `product` from row-major order to the layout that `routine` reads.
static bool canPack(Operation *product, const Routine &routine) {
  RankedTensorType plain = getTensorType(product->getOperand(1));
  auto layout = LayoutAttr::get(
      product->getContext(),
      cast<RoutineOpInterface>(product).spellLayout(routine.getLayout(1), 1));
  return layout.getRank() == plain.getRank() &&
         getAdaptCall(plain, withLayout(plain, layout)).has_value();
}

bool nnc::hasByteDots(Operation *product, target::DeviceAttr device) {
  Builder builder(product->getContext());
  std::string family;
  SmallVector<RoutineShape> shapes = getShapes(product, family);
  // A device lists its instruction sets from the best to the worst.
  for (StringAttr isa : device.getIsas().getAsRange<StringAttr>()) {
    SmallVector<const Routine *> own;
    for (const Routine *routine : Catalogue::get().getRoutinesOf(family))
      if (routine->isa == isa.getValue() && sumsIntegers(*routine, builder))
        own.push_back(routine);
    if (own.empty())
      continue;
    auto takesWords = [&](const Routine *routine) {
      return routine->takesElement(builder.getIntegerType(16));
    };
    auto fits = [&](const Routine *routine) {
      return canPack(product, *routine) && applies(*routine, shapes);
    };
    return target::isVectorIsa(isa.getValue()) &&
           llvm::none_of(own, takesWords) && llvm::any_of(own, fits);
  }
  return false;
}
