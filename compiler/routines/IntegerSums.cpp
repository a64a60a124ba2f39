//===- IntegerSums.cpp - Whether integers are faster than floats ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/IntegerSums.h"

#include <limits>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Elementwise operations to quantize, to dequantize or to requantize a value.
static constexpr double kConversion = 6;

/// Returns true if `routine` computes sums of floats, or, if `integers`, sums
/// of products of bytes in i32.
static bool computes(const Routine &routine, bool integers, Builder &builder) {
  if (integers)
    return routine.takesSums(builder.getI32Type()) &&
           (routine.takesElement(builder.getIntegerType(8, false)) ||
            routine.takesElement(builder.getIntegerType(8)));
  return routine.takesSums(Type()) &&
         routine.takesElement(builder.getF32Type());
}

static double estimateFastest(Operation *product, bool integers,
                              const LayerWork &work, const CostModel &cost) {
  double best = std::numeric_limits<double>::infinity();
  Builder builder(product->getContext());
  SmallVector<RoutineShape> shapes;
  StringRef family;
  SmallVector<RoutineCall> calls =
      cast<RoutineOpInterface>(product).getRoutineCalls();
  for (const RoutineCall &call : calls) {
    auto shape = readShape(call);
    if (!shape)
      return best;
    shapes.push_back(*shape);
    family = call.family;
  }
  for (const Routine *routine : Catalogue::get().getRoutinesOf(family)) {
    if (!cost.getDevice().hasIsa(routine->isa) ||
        !computes(*routine, integers, builder))
      continue;
    for (const auto &params : routine->candidates)
      if (llvm::all_of(shapes, [&](const RoutineShape &shape) {
            return routine->applies(shape, params);
          }))
        best = std::min(best, cost.estimate(*routine, shapes, params, work));
  }
  return best;
}

ProductTimes nnc::estimateProduct(Operation *product, const CostModel &cost) {
  auto getElements = [](Value value) {
    return double(getTensorType(value).getNumElements());
  };
  double inputs = getElements(product->getOperand(0)),
         weights = getElements(product->getOperand(1)),
         outputs = getElements(product->getResult(0));
  LayerWork work;
  work.operations =
      double(cast<CostOpInterface>(product).getWork().multiplyAdds);
  work.weightBytes = weights;
  work.activationBytes = inputs + outputs;
  work.epilogueOperations = kConversion * outputs;
  double integers = estimateFastest(product, true, work, cost);
  // The floats of the operand and of the result are stored once more each.
  work.weightBytes *= 4;
  work.activationBytes *= 2 * 4;
  work.epilogueOperations += kConversion * inputs;
  return {estimateFastest(product, false, work, cost), integers};
}
