//===- Constant.cpp - nn.constant and nn.adapt ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Copy.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// nn.constant
//===----------------------------------------------------------------------===//

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseAttribute(value, "value", result.attributes))
    return failure();
  Type type = value.getType();
  if (succeeded(parser.parseOptionalArrow()) && parser.parseType(type))
    return failure();
  result.addTypes(type);
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << " " << getValue();
  if (getValue().getType() != getY().getType())
    printer << " -> " << getY().getType();
}

void ConstantOp::getAsmResultNames(
    function_ref<void(Value, StringRef)> setName) {
  setName(getY(), "cst");
}

LogicalResult ConstantOp::verify() {
  if (getValue().getShapedType() != getLogicalType(getY().getType()))
    return emitOpError("has a value of type ")
           << getValue().getShapedType() << " and a result of type "
           << getY().getType();
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// nn.adapt
//===----------------------------------------------------------------------===//

LogicalResult AdaptOp::verify() {
  if (!haveSameLogicalTypes(getX().getType(), getY().getType()))
    return emitOpError("changes more than the layout");
  return success();
}

OpFoldResult AdaptOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  // A constant in another layout is the same value under another type.
  if (adaptor.getX())
    return adaptor.getX();
  auto inner = getX().getDefiningOp<AdaptOp>();
  if (!inner)
    return {};
  if (inner.getX().getType() == getY().getType())
    return inner.getX();
  getXMutable().assign(inner.getX());
  removeRoutineAttr(); // it was chosen for another pair of layouts
  removeParamsAttr();
  return getY();
}

bool AdaptOp::isView() { return isViewOf(getY().getType(), getX().getType()); }

/// Channel block of an NCHW or NCHW[x]c type: 1 for plain, 0 for any other.
static int64_t getChannelBlock(RankedTensorType type) {
  LayoutAttr layout = getLayout(type);
  if (!layout)
    return type.getRank() == 4 ? 1 : 0;
  auto blocks = layout.getBlocks();
  bool isBlocked = layout.getName().starts_with("NCHW") && blocks.size() == 1 &&
                   blocks[0].axis == 1;
  return isBlocked ? blocks[0].size : 0;
}

SmallVector<RoutineCall> AdaptOp::getRoutineCalls() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  int64_t from = getChannelBlock(x), to = getChannelBlock(y);
  if (from > 0 && to > 0) {
    ShapeFields fields(getContext());
    fields.add("n", x.getDimSize(0)).add("c", x.getDimSize(1));
    fields.add("h", x.getDimSize(2)).add("w", x.getDimSize(3));
    fields.add("block_in", from).add("block_out", to);
    return {{"adapt", fields.get(), {0}}};
  }
  // One side is plain and the other a permutation or divides without padding:
  // walk the other's physical order, the plain side by steps of its strides.
  RankedTensorType other = getLayout(x) ? x : y;
  SmallVector<int64_t> logical = getStrides(other.getShape()), plain;
  SmallVector<int64_t> physical = getPhysicalShape(other);
  for (auto [axis, step] : getLayout(other).getPhysicalSteps())
    plain.push_back(logical[axis] * step);
  SmallVector<int64_t> dense = getStrides(physical);
  bool packs = other == y;
  return {makeCopy(getContext(), physical, packs ? plain : dense,
                   packs ? dense : plain, 0, 0, 0)};
}
Work AdaptOp::getWork() { return bytesOnly(*this); }
