//===- Call.cpp - exec.call -----------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/exec/Exec.h"
#include "dialects/exec/PlaceRules.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::exec;

bool CallOp::hasEmptyExpression() { return getExpression().empty(); }

/// Returns true for element types for which runtime/simd/bytes.h has vectors.
static bool hasVectors(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return nn::isComputedAsFloat(type);
  unsigned width = integer.getWidth();
  return width == 8 || width == 16 || type.isSignlessInteger(32);
}

/// Returns true if an expression computes with floats only, so that it can be
/// applied to vectors of floats.
static bool isAllFloat(Block &block) {
  auto isFloat = [](Value value) {
    return nn::isComputedAsFloat(value.getType());
  };
  return llvm::all_of(block.getArguments(), isFloat) &&
         llvm::all_of(block.getTerminator()->getOperands(), isFloat) &&
         llvm::all_of(block.without_terminator(), [&](Operation &op) {
           Value result = op.getResult(0);
           return isFloat(result) || result.getType().isInteger(1);
         });
}

/// Returns true if an expression mixes element types, runtime/simd/bytes.h has
/// vectors for all of them, and all functions that it calls exist for these
/// vectors.
static bool isMixed(Block &block) {
  auto isFloat = nn::isComputedAsFloat;
  auto hasOnlyFloats = [&](Operation &op) {
    return llvm::all_of(op.getOperandTypes(), [&](Type type) {
      return isFloat(type) || type.isInteger(1);
    });
  };
  if (!llvm::all_of(block.getArgumentTypes(), hasVectors))
    return false;
  bool hasOthers = !llvm::all_of(block.getArgumentTypes(), isFloat);
  for (Operation &op : block.without_terminator()) {
    Type result = op.getResult(0).getType();
    if (op.hasTrait<OpTrait::ConstantLike>()) {
      if (!hasVectors(result))
        return false;
      continue;
    }
    bool ofFloats = hasOnlyFloats(op);
    hasOthers |= !ofFloats || !(isFloat(result) || result.isInteger(1));
    if (isa<nn::LookupOp>(op))
      continue;
    if (auto requantize = dyn_cast<nn::RequantizeOp>(op)) {
      // There are no vectors of products of 64 bits.
      if (requantize.getRescale() == nn::Rescale::wide || !hasVectors(result) ||
          !llvm::all_of(op.getOperandTypes(), hasVectors))
        return false;
    } else if (isa<nn::CastOp>(op)) {
      if (!hasVectors(op.getOperand(0).getType()) || !hasVectors(result))
        return false;
    } else if (ofFloats) {
      // Comparisons make masks, which only functions of floats take.
      if (!isFloat(result) && !result.isInteger(1))
        return false;
    } else if (!isa<nn::AddOp, nn::SubOp, nn::MulOp, nn::MaxOp, nn::MinOp,
                    nn::ClipOp, nn::ReluOp>(op) ||
               !hasVectors(result) ||
               !llvm::all_of(op.getOperandTypes(), hasVectors)) {
      return false;
    }
  }
  Type result = block.getTerminator()->getOperand(0).getType();
  return hasOthers && hasVectors(result);
}

ExpressionForm CallOp::findForm(bool withVectors) {
  if (hasEmptyExpression())
    return ExpressionForm::scalars;
  Block &block = getExpression().front();
  if (isAllFloat(block))
    return ExpressionForm::floats;
  return withVectors && isMixed(block) ? ExpressionForm::mixed
                                       : ExpressionForm::scalars;
}

nn::RequantizeOp CallOp::findRequantization() {
  if (hasEmptyExpression() || getExpression().getNumArguments() != 4)
    return {};
  Block &block = getExpression().front();
  auto op =
      block.getTerminator()->getOperand(0).getDefiningOp<nn::RequantizeOp>();
  if (!op || op.getRescale() != nn::Rescale::double_rounding ||
      !op.saturates() || !op.getY().getType().isSignlessInteger(8) ||
      op.getMultiplier() != block.getArgument(2) ||
      op.getShift() != block.getArgument(3))
    return {};
  auto sum = op.getX().getDefiningOp<nn::AddOp>();
  bool isOfArguments = sum && sum.getA() == block.getArgument(0) &&
                       sum.getB() == block.getArgument(1);
  return isOfArguments ? op : nn::RequantizeOp();
}

static Type getElementType(Value place) {
  return getPlaceOp(place).getTensor().getElementType();
}

LogicalResult CallOp::verifyRegions() {
  if (failed(verifyPlaces(*this, getDevice().value_or(""))))
    return failure();
  if (getOutputs().empty())
    return emitOpError("has no output");
  if (failed(verifyWritten(*this, getOutputs(), getScratch())))
    return failure();
  if (getScratch() && !getElementType(getScratch()).isUnsignedInteger(8))
    return emitOpError("needs scratch of bytes: a tensor of ui8");
  if (getExtras().size() != getKinds().size())
    return emitOpError("needs one kind for each of its extras");
  if (getPointwise() && (!getExtras().empty() || hasEmptyExpression()))
    return emitOpError("is pointwise: it has an expression of its inputs and "
                       "no extras");
  if (hasEmptyExpression())
    return getExtras().empty() ? success()
                               : emitOpError("has extras but no expression");
  Block &block = getExpression().front();
  SmallVector<Type> types;
  for (Value value : getPointwise() ? getInputs() : getExtras())
    types.push_back(getElementType(value));
  SmallVector<Type> arguments(block.getArgumentTypes());
  if (!getPointwise() && !arguments.empty())
    arguments.erase(arguments.begin());
  if (arguments != types || block.getNumArguments() == 0)
    return emitOpError("has an expression whose arguments are not the element "
                       "types of what it reads");
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield ||
      yield.getValue().getType() != getElementType(getOutputs().front()))
    return emitOpError("has an expression that does not yield an element of "
                       "its output");
  if (getRequantizes() && !findRequantization())
    return emitOpError("requantizes sums, but its expression does not");
  for (Operation &op : block.without_terminator())
    if (!isa<nn::ElementwiseOpInterface>(op) &&
        !op.hasTrait<OpTrait::ConstantLike>())
      return op.emitOpError("is not elementwise and stands in an expression");
  return success();
}

AffineMap CallOp::getVaryingField(StringRef field) {
  auto map = getVarying() ? getVarying()->getAs<AffineMapAttr>(field)
                          : AffineMapAttr();
  return map ? map.getAffineMap() : AffineMap();
}

bool CallOp::isSizedBy(StringRef field) {
  return getSized() &&
         llvm::is_contained(getSized()->getAsValueRange<StringAttr>(), field);
}

bool CallOp::isLike(CallOp other) {
  auto isEqual = [&](auto pair) {
    const auto &[a, b] = pair;
    return a == b || (a.getName() == b.getName() && isSizedBy(a.getName()));
  };
  ArrayRef<NamedAttribute> fields = getShape().getFields(),
                           others = other.getShape().getFields();
  return getSizedAttr() == other.getSizedAttr() &&
         fields.size() == others.size() &&
         llvm::all_of(llvm::zip(fields, others), isEqual) &&
         isLikeButForShape(other);
}

bool CallOp::isLikeButForShape(CallOp other) {
  auto haveSameTypes = [](OperandRange lhs, OperandRange rhs) {
    return llvm::equal(lhs, rhs, [](Value a, Value b) {
      return getElementType(a) == getElementType(b);
    });
  };
  return getRoutine() == other.getRoutine() &&
         getDevice() == other.getDevice() && getParams() == other.getParams() &&
         getKinds() == other.getKinds() &&
         getPointwise() == other.getPointwise() &&
         haveSameTypes(getInputs(), other.getInputs()) &&
         haveSameTypes(getOutputs(), other.getOutputs()) &&
         bool(getScratch()) == bool(other.getScratch()) &&
         OperationEquivalence::isRegionEquivalentTo(
             &getExpression(), &other.getExpression(),
             OperationEquivalence::IgnoreLocations);
}
