//===- BatchSamples.cpp - Networks that compute samples one by one --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/BatchSamples.h"

#include "compiler/passes/AxisTypes.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/attributes/State.h"
#include "dialects/nn/tensors/TensorData.h"

using namespace mlir;
using namespace nnc;

/// Returns true if elements of the type take whole bytes in attributes; some
/// attributes pack elements of one bit.
static bool hasWholeBytes(RankedTensorType type) {
  return type.getElementType().isIntOrFloat() &&
         type.getElementTypeBitWidth() % 8 == 0;
}

/// Returns true if a constant consists of `count` equal parts.
static bool hasEqualParts(Value value, int64_t count) {
  std::optional<TensorData> data = TensorData::get(value);
  if (!data || !hasWholeBytes(data->getType()))
    return false;
  ArrayRef<char> bytes = data->getBytes();
  size_t part = bytes.size() / count;
  return bytes.drop_front(part) == bytes.drop_back(part);
}

bool BatchSamples::hasParts(Value value) const {
  RankedTensorType type = getRankedType(value);
  return type.getRank() > 0 && type.getDimSize(0) % count == 0;
}

/// Returns true if an extra operand of a layer fits its split result: it has
/// the same first axis if it is split, and else is broadcast along that axis.
static bool fitsResult(RankedTensorType extra, RankedTensorType result,
                       bool isSplit) {
  bool isWhole = extra.getRank() == result.getRank();
  return isSplit ? isWhole && extra.getDimSize(0) == result.getDimSize(0)
                 : !isWhole || extra.getDimSize(0) == 1;
}

/// Returns true if an op computes each part of its result's first axis from the
/// same part of its split operands, and else from operands that are not split.
static bool keepsApart(Operation *op, ArrayRef<bool> splitOperands,
                       int64_t count) {
  nn::AxisUse use = nn::getAxisUse(op, /*axis=*/0);
  if (!use.isApart() || count == 1)
    return use.isApart();
  return llvm::all_of(llvm::zip_equal(use.axes, splitOperands), [](auto each) {
    auto [own, isSplit] = each;
    return own == (isSplit ? 0 : -1);
  });
}

bool BatchSamples::keepsSamples(Operation *op,
                                ArrayRef<bool> splitOperands) const {
  if (op->getNumResults() != 1 || !hasParts(op->getResult(0)) ||
      op->hasAttr(nn::kVariesAttr))
    return false;
  auto layer = dyn_cast<nn::LayerOp>(op);
  Operation *anchor = layer ? layer.getAnchorOp() : op;
  size_t inputs = layer ? layer.getInputs().size() : op->getNumOperands();
  if (anchor && !keepsApart(anchor, splitOperands.take_front(inputs), count))
    return false;
  for (size_t i = inputs; i < op->getNumOperands(); ++i)
    if (!fitsResult(getRankedType(op->getOperand(i)),
                    getRankedType(op->getResult(0)), splitOperands[i]))
      return false;
  return true;
}

bool BatchSamples::keepsRepeated(Operation *op, ArrayRef<bool> splitOperands,
                                 size_t first) {
  SmallVector<bool> own(splitOperands);
  SmallVector<OpOperand *> found;
  for (OpOperand &operand : op->getOpOperands().drop_front(first))
    if (hasParts(operand.get()) && hasEqualParts(operand.get(), count)) {
      found.push_back(&operand);
      own[operand.getOperandNumber()] = true;
    }
  bool keeps = keepsSamples(op, own);
  if (keeps)
    repeated.insert(found.begin(), found.end());
  return keeps;
}

LogicalResult BatchSamples::add(Operation *op) {
  SmallVector<bool> own = llvm::map_to_vector(
      op->getOperands(), [&](Value operand) { return isSplit(operand); });
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    for (auto [i, isOwn] : llvm::enumerate(own))
      if (!isOwn)
        return op->emitError("output ")
               << i << " does not depend on the inputs, so that it has no part "
               << "for each sample of --batch";
    return success();
  }
  if (!llvm::is_contained(own, true))
    return success(); // Its results are the same for all samples.
  auto layer = dyn_cast<nn::LayerOp>(op);
  size_t inputs = layer ? layer.getInputs().size() : 0;
  bool keeps = keepsSamples(op, own);
  // Folding may have repeated the elements of a constant for all samples.
  for (size_t first : {inputs, size_t(0)})
    keeps = keeps || keepsRepeated(op, own, first);
  if (!keeps) {
    Operation *anchor = layer ? layer.getAnchorOp() : op;
    return op->emitError()
           << (anchor ? anchor->getName().getStringRef() : "an expression")
           << " may mix the samples of a batch, or has them along another axis "
              "than the first; --batch needs layers that compute each sample "
              "by itself";
  }
  split.insert(op->getResult(0));
  return success();
}

FailureOr<BatchSamples> BatchSamples::find(func::FuncOp function,
                                           int64_t count) {
  BatchSamples samples(count);
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (nn::getNextValue(function, i))
      return function.emitError(
          "keeps values between runs, which belong to one sequence; --batch "
          "takes no such model");
    if (!samples.hasParts(argument))
      return function.emitError("input ")
             << i << " is of type " << argument.getType() << ", whose first "
             << "axis does not hold " << count << " samples";
    samples.split.insert(argument);
  }
  for (Operation &op : function.getBody().front())
    if (failed(samples.add(&op)))
      return failure();
  return samples;
}

RankedTensorType BatchSamples::getType(Value value, int64_t samples) const {
  RankedTensorType type = getRankedType(value);
  return withSize(type, 0, type.getDimSize(0) / count * samples);
}

/// Creates a constant that holds the first of `count` parts of another one
/// `samples` times.
static Value repeatPart(Value value, int64_t count, int64_t samples,
                        OpBuilder &builder) {
  TensorData data = *TensorData::get(value);
  RankedTensorType type = data.getType();
  TensorData made = TensorData::allocate(
      withSize(type, 0, type.getDimSize(0) / count * samples));
  ArrayRef<char> part = data.getBytes().take_front(data.getBytes().size() /
                                                   static_cast<size_t>(count));
  char *next = made.getMutableBytes();
  for (int64_t i = 0; i < samples; ++i)
    next = llvm::copy(part, next);
  StringRef name = nn::getModelName(value.getLoc());
  return builder.create<nn::ConstantOp>(
      value.getLoc(), made.getType(),
      made.toAttribute(name.empty() ? "repeated" : name));
}

/// Gives the anchor of a layer, and the arguments of its block, the types of
/// the layer's result and inputs.
static void retypeAnchor(nn::LayerOp layer) {
  Operation *anchor = layer.getAnchorOp();
  if (!anchor)
    return;
  for (auto [argument, input] :
       llvm::zip_equal(anchor->getBlock()->getArguments(), layer.getInputs()))
    argument.setType(input.getType());
  Value result = anchor->getResult(0);
  result.setType(
      layer.getY().getType().clone(getRankedType(result).getElementType()));
}

Operation *BatchSamples::clone(Operation *op, int64_t samples,
                               OpBuilder &builder, IRMapping &values) const {
  for (OpOperand &operand : op->getOpOperands())
    if (!values.contains(operand.get()) && !repeated.contains(&operand))
      clone(operand.get().getDefiningOp(), samples, builder, values);
  Operation *copy = builder.clone(*op, values);
  if (op->getNumResults() != 1 || !isSplit(op->getResult(0)))
    return copy;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(copy);
  for (OpOperand &operand : op->getOpOperands())
    if (repeated.contains(&operand))
      copy->setOperand(operand.getOperandNumber(),
                       repeatPart(operand.get(), count, samples, builder));
  copy->getResult(0).setType(getType(op->getResult(0), samples));
  auto layer = dyn_cast<nn::LayerOp>(copy);
  if (layer)
    retypeAnchor(layer);
  Operation *anchor = layer ? layer.getAnchorOp() : copy;
  if (anchor)
    cast<nn::AxisOpInterface>(anchor).updateAxisSize(0);
  return copy;
}
