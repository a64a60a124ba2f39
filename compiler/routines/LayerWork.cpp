//===- LayerWork.cpp - The work of a layer in a layout --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Candidates.h"

#include "compiler/routines/Signature.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns the counter of `work` to which an elementwise function belongs.
static double &getCount(LayerWork &work, StringRef function) {
  if (function == "lookup")
    return work.lookups;
  StringRef header = Catalogue::get().getHeaderOf(function);
  if (header == "runtime/simd/gates.h" ||
      header == "runtime/simd/fixed_point.h")
    return work.gates;
  bool isShort = header == "" || header == "runtime/simd/arithmetic.h" ||
                 header == "runtime/simd/vec.h";
  return isShort ? work.epilogueOperations : work.exponentials;
}

LayerWork nnc::getLayerWork(LayerOp layer, ArrayRef<RankedTensorType> operands,
                            RankedTensorType result) {
  LayerWork work;
  double elements = result.getNumElements();
  for (auto op : layer.getEpilogue().front().getOps<ElementwiseOpInterface>())
    for (StringRef step : op.getSteps())
      getCount(work, step) += elements;
  if (auto anchor = dyn_cast_or_null<CostOpInterface>(layer.getAnchorOp())) {
    Work own = anchor.getWork();
    work.operations = std::max<double>(own.multiplyAdds, own.operations);
  }
  if (work.operations == 0) // the layer only moves data
    work.operations = elements;
  work.activationBytes = getPhysicalBytes(result);
  for (auto [value, type] : llvm::zip(layer.getOperands(), operands)) {
    // At most one entry of a table is read per operation.
    auto bytes = std::min(getPhysicalBytes(type),
                          8 * static_cast<int64_t>(work.operations));
    (isConstantValue(value) ? work.weightBytes : work.activationBytes) += bytes;
  }
  return work;
}
