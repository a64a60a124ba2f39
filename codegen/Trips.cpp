//===- Trips.cpp - Trip counts of loops -----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

Trips codegen::getTrips(Operation *step) {
  Trips trips;
  for (Operation *parent = step->getParentOp(); parent;
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<exec::LoopOp>(parent);
    if (!loop)
      continue;
    if (loop.getCount() || loop.getCondition() || loop.getVaryingMax())
      trips.isOpen = true;
    else
      trips.count *= int64_t(loop.getMax());
  }
  return trips;
}

std::string Trips::describe() const {
  std::string times = count == 1 ? "" : std::to_string(count);
  if (isOpen)
    return count == 1 ? " a trip" : " a trip, " + times + " times each";
  return count == 1 ? "" : " in each of " + times + " trips";
}

int64_t codegen::countMultiplyAdds(exec::ProgramOp program) {
  int64_t total = 0;
  for (auto call : exec::getSteps<exec::CallOp>(program))
    total += int64_t(call.getMultiplyAdds()) * getTrips(call).count;
  return total;
}
