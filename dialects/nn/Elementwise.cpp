//===- Elementwise.cpp - What elementwise ops share -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LogicalResult nn::inferElementwise(std::optional<Location> location,
                                   ValueRange operands, StringRef element,
                                   SmallVectorImpl<Type> &types) {
  MLIRContext *context = operands.front().getContext();
  auto tensors = llvm::count_if(operands, [](Value value) {
    return isa<RankedTensorType>(value.getType());
  });
  if (tensors != 0 && tensors != static_cast<int64_t>(operands.size()))
    return emitOptionalError(location, "mixes tensors and scalars");
  Value like = element == "last" ? operands.back() : operands.front();
  Type type = element == "bool" ? Type(IntegerType::get(context, 1))
                                : getElementTypeOrSelf(like.getType());
  if (tensors == 0) {
    types.push_back(type);
    return success();
  }
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Value value : operands)
    shapes.push_back(cast<RankedTensorType>(value.getType()).getShape());
  auto shape = broadcastShapes(shapes);
  if (!shape)
    return emitOptionalError(location, "has operands that do not broadcast");
  // The layout of an operand that is not broadcast is the result's.
  Attribute layout;
  for (Value value : operands) {
    auto tensor = cast<RankedTensorType>(value.getType());
    if (tensor.getShape() == ArrayRef<int64_t>(*shape) && !layout)
      layout = tensor.getEncoding();
  }
  types.push_back(RankedTensorType::get(*shape, type, layout));
  return success();
}

//===----------------------------------------------------------------------===//
// nn.cast
//===----------------------------------------------------------------------===//

LogicalResult CastOp::verify() {
  auto x = dyn_cast<RankedTensorType>(getX().getType());
  auto y = dyn_cast<RankedTensorType>(getY().getType());
  if (bool(x) != bool(y))
    return emitOpError("mixes a tensor and a scalar");
  if (x && x.getShape() != y.getShape())
    return emitOpError("changes the shape");
  return success();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getX().getType() == getY().getType() ? OpFoldResult(getX())
                                              : OpFoldResult();
}

StringRef CastOp::getFunction() { return "cast"; }
SmallVector<double> CastOp::getScalars() { return {}; }
Work CastOp::getWork() { return elementwiseWork(*this); }
LayoutClass CastOp::getLayoutClass() { return LayoutClass::Oblivious; }
