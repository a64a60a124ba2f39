//===- Pad.cpp - nn.pad ---------------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  ArrayRef<int64_t> pads = adaptor.getPads();
  if (static_cast<int64_t>(pads.size()) != 2 * x.getRank())
    return emitOptionalError(location, "needs pads of ", 2 * x.getRank(),
                             " values");
  SmallVector<int64_t> shape(x.getShape());
  for (size_t i = 0; i < shape.size(); ++i) {
    shape[i] += pads[i] + pads[shape.size() + i];
    if (shape[i] < 0)
      return emitOptionalError(location, "removes more than there is of axis ",
                               i);
  }
  types.push_back(withShape(x, shape));
  return success();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  if ((*this)->hasAttr(kVariesAttr))
    return {};
  bool pads = llvm::any_of(getPads(), [](int64_t size) { return size != 0; });
  return pads || getX().getType() != getY().getType() ? OpFoldResult()
                                                      : OpFoldResult(getX());
}

AxisUse PadOp::getAxisUse(int64_t axis) {
  AxisUse use = AxisUse::elements(*this, axis);
  use.windows.before = getPads()[axis];
  use.windows.after = getPads()[axis + getPads().size() / 2];
  use.windows.repeatsElements = getMode() != PadMode::constant;
  if (use.windows.hasPadding())
    use.kind = AxisKind::padded;
  return use;
}

void PadOp::setAxisPadding(int64_t axis, int64_t before, int64_t after) {
  setPads(withPadding(getPads(), axis, before, after));
}

SmallVector<RoutineCall> PadOp::getRoutineCalls() {
  return getRoutineCallsOn(getPlain(getX()), getPlain(getY()));
}
SmallVector<RoutineCall>
PadOp::getRoutineCallsOn(ArrayRef<RankedTensorType> inputs,
                         RankedTensorType result) {
  RankedTensorType x = inputs.front();
  double value = getValue().convertToDouble();
  if (getLayout(x) != getLayout(result) || (isPadded(x) && value != 0.0))
    return {};
  SmallVector<int64_t> dims = getPhysicalShape(result), before(dims.size(), 0);
  for (int64_t axis = 0; axis < x.getRank(); ++axis) {
    int64_t first = getPads()[axis], last = getPads()[x.getRank() + axis];
    if (getBlockSize(x, axis) > 1 && (first != 0 || last != 0))
      return {};
    before[getOuterDim(x, axis)] = first;
  }
  ShapeFields fields(getContext());
  fields.add("rank", dims.size()).add("dims", dims);
  fields.add("in_dims", getPhysicalShape(x)).add("before", before);
  fields.add("mode", static_cast<int64_t>(getMode()));
  fields.addReal("value", value);
  return {{"pad", fields.get(), {0}}};
}
Work PadOp::getWork() { return bytesOnly(*this); }
