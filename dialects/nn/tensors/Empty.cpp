//===- Empty.cpp - Tensors without elements -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/tensors/Empty.h"

#include "dialects/nn/Nn.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns a number as an attribute of an element type.
static TypedAttr getNumber(Type type, double value) {
  if (isa<FloatType>(type))
    return FloatAttr::get(type, value);
  if (type.isInteger(1))
    return IntegerAttr::get(type, APInt(1, value != 0));
  return IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(),
                                      static_cast<int64_t>(value),
                                      /*isSigned=*/true));
}

/// Returns the least or the greatest number of an element type, which is an
/// infinity for floats.
static TypedAttr getExtreme(Type type, bool greatest) {
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(type,
                          APFloat::getInf(real.getFloatSemantics(), !greatest));
  unsigned bits = type.getIntOrFloatBitWidth();
  if (type.isUnsignedInteger() || bits == 1)
    return IntegerAttr::get(type, greatest ? APInt::getMaxValue(bits)
                                           : APInt::getMinValue(bits));
  return IntegerAttr::get(type, greatest ? APInt::getSignedMaxValue(bits)
                                         : APInt::getSignedMinValue(bits));
}

static TypedAttr getEmptyReduction(ReduceKind kind, Type type) {
  bool isReal = isa<FloatType>(type);
  switch (kind) {
  case ReduceKind::prod:
    return getNumber(type, 1);
  case ReduceKind::min:
  case ReduceKind::max:
    return getExtreme(type, kind == ReduceKind::min);
  case ReduceKind::mean:
    return isReal ? getNumber(type, std::nan("")) : TypedAttr();
  case ReduceKind::log_sum:
  case ReduceKind::log_sum_exp:
    return isReal ? getExtreme(type, /*greatest=*/false) : TypedAttr();
  case ReduceKind::sum:
  case ReduceKind::l1:
  case ReduceKind::l2:
  case ReduceKind::sum_square:
    return getNumber(type, 0);
  }
  llvm_unreachable("a kind of reduction that does not say what nothing gives");
}

bool nn::isEmpty(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getNumElements() == 0;
}

bool nn::readsNothing(Operation *op) {
  // A concat reads its other operands.
  return isa<RoutineOpInterface>(op) && !isa<ConcatOp>(op) &&
         !isEmpty(op->getResult(0)) && llvm::any_of(op->getOperands(), isEmpty);
}

TypedAttr nn::getEmptyResult(Operation *op) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  return llvm::TypeSwitch<Operation *, TypedAttr>(op)
      // Empty sums: of products, and of attention values weighted by a softmax
      // of no scores.
      .Case<ConvOp, ConvTransposeOp, MatMulOp, BlockMatMulOp, AttentionOp>(
          [&](auto) { return getNumber(type, 0); })
      .Case<MaxPoolOp>([&](auto) { return getExtreme(type, false); })
      // The mean of zeros if the padding counts, otherwise the undefined mean
      // of no elements.
      .Case<AvgPoolOp>([&](AvgPoolOp pool) {
        return getNumber(type, pool.getCountIncludePad() ? 0 : std::nan(""));
      })
      .Case<PadOp>([&](PadOp pad) {
        return pad.getMode() == PadMode::constant
                   ? getNumber(type, pad.getValue().convertToDouble())
                   : TypedAttr();
      })
      .Case<ReduceOp>([&](ReduceOp reduce) {
        return getEmptyReduction(reduce.getKind(), type);
      })
      .Default([](Operation *) { return TypedAttr(); });
}
