//===- Scratch.cpp - Working memory of chosen routines --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Scratch.h"

#include "compiler/routines/Candidates.h"
#include "compiler/routines/Catalogue.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

int64_t nnc::getScratchBytes(Operation *op, int threads) {
  if (auto custom = dyn_cast<CustomOp>(op))
    return custom.getScratch();
  auto name = op->getAttrOfType<StringAttr>("routine");
  const Routine *routine = name ? Catalogue::get().findRoutine(name) : nullptr;
  if (!routine)
    return 0;
  SmallVector<int64_t> params;
  if (auto given = op->getAttrOfType<DenseI64ArrayAttr>("params"))
    llvm::append_range(params, given.asArrayRef());
  if (params.size() != routine->params.size())
    return 0;
  SmallVector<RoutineCall> calls = getRoutineCalls(op);
  if (auto others = op->getAttrOfType<ArrayAttr>(kOtherShapesAttr))
    for (auto fields : others.getAsRange<ShapeAttr>())
      calls.push_back({routine->family->name.str(), fields, {}});
  int64_t bytes = 0;
  for (const RoutineCall &call : calls)
    if (auto shape = readShape(call);
        shape && &shape->getFamily() == routine->family)
      bytes =
          std::max(bytes, routine->getScratchBytes(*shape, params, threads));
  // Routines cut their work into strips of nearly equal lengths, the longest of
  // which may occur at a size between those of the other shapes.
  constexpr int64_t kMargin = 8, kLine = 64;
  return op->hasAttr(kOtherShapesAttr)
             ? bytes + llvm::alignTo(bytes / kMargin, kLine)
             : bytes;
}
