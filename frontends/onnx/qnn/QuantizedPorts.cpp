//===- QuantizedPorts.cpp - Scales of the integers of inputs and outputs --===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/qnn/QuantizedPorts.h"

#include "dialects/nn/Nn.h"
#include "dialects/qnn/Port.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nnc;

/// Returns true if the elements of the op's result are elements of its
/// operands.
static bool movesElements(Operation *op) {
  return isa<nn::ReshapeOp, nn::TransposeOp, nn::ExpandOp, nn::SliceOp,
             nn::ConcatOp, nn::GatherOp, nn::MaxPoolOp>(op);
}

/// Returns true if operand `i` of an op that moves elements holds elements
/// instead of indices.
static bool isMoved(Operation *op, unsigned i) {
  return i == 0 || isa<nn::ConcatOp>(op);
}

namespace {
/// The common quantized type of several values, if there is one.
class CommonType {
public:
  /// Adds the type of a value. `isMoved` tells that ops move its elements, so
  /// that its axes may not be those of the port.
  void add(Type tensor, bool isMoved) {
    quant::QuantizedType own = qnn::getQuantizedType(tensor);
    bool isSame = own && (!type || type == own);
    isOne &= isSame && (!isMoved || isa<quant::UniformQuantizedType>(own));
    type = own;
  }
  quant::QuantizedType get() const {
    return isOne ? type : quant::QuantizedType();
  }
  void fail() { isOne = false; }

private:
  quant::QuantizedType type;
  bool isOne = true;
};
} // namespace

/// Adds the quantized types in which readers interpret the integers. Each value
/// behind ops that move elements is visited once.
static void addReaders(Value integers, CommonType &type) {
  llvm::SetVector<Value> reached;
  reached.insert(integers);
  for (size_t i = 0; i < reached.size(); ++i)
    for (OpOperand &use : reached[i].getUses()) {
      Operation *user = use.getOwner();
      if (auto reinterpret = dyn_cast<qnn::ReinterpretOp>(user))
        type.add(reinterpret.getY().getType(), /*isMoved=*/i > 0);
      else if (movesElements(user) && isMoved(user, use.getOperandNumber()))
        reached.insert(user->getResult(0));
    }
}

/// Adds the quantized types from which the integers were computed.
static void addMakers(Value integers, CommonType &type) {
  llvm::SetVector<Value> reached;
  reached.insert(integers);
  for (size_t i = 0; i < reached.size(); ++i) {
    Operation *maker = reached[i].getDefiningOp();
    if (auto reinterpret = dyn_cast_or_null<qnn::ReinterpretOp>(maker)) {
      type.add(reinterpret.getX().getType(), /*isMoved=*/i > 0);
      continue;
    }
    if (!maker || !movesElements(maker))
      return type.fail();
    for (OpOperand &operand : maker->getOpOperands())
      if (isMoved(maker, operand.getOperandNumber()))
        reached.insert(operand.get());
  }
}

void nnc::onnx::markQuantizedPorts(func::FuncOp main) {
  auto makeAttr = [](const CommonType &type) {
    Type common = type.get();
    return common ? qnn::makePortAttr(common, qnn::Rounding::half_even)
                  : DictionaryAttr();
  };
  auto isInteger = [](Value value) {
    return isa<IntegerType>(getElementTypeOrSelf(value));
  };
  for (BlockArgument argument : main.getArguments()) {
    if (!isInteger(argument))
      continue;
    CommonType type;
    addReaders(argument, type);
    if (DictionaryAttr port = makeAttr(type))
      main.setArgAttr(argument.getArgNumber(), qnn::kPortAttr, port);
  }
  Operation *end = main.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(end->getOperands())) {
    if (!isInteger(result))
      continue;
    CommonType type;
    addMakers(result, type);
    if (DictionaryAttr port = makeAttr(type))
      main.setResultAttr(i, qnn::kPortAttr, port);
  }
}
