//===- QuantizedPorts.cpp - What integers of inputs and outputs stand for -===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/QuantizedPorts.h"

#include "dialects/nn/Nn.h"
#include "dialects/qnn/Port.h"

using namespace mlir;
using namespace nnc;

/// Whether the elements of the op's result are elements of its operands.
static bool movesElements(Operation *op) {
  return isa<nn::ReshapeOp, nn::TransposeOp, nn::ExpandOp, nn::SliceOp,
             nn::ConcatOp, nn::GatherOp, nn::MaxPoolOp>(op);
}

/// Returns the operands of such an op that hold elements.
static OperandRange getMoved(Operation *op) {
  return isa<nn::ConcatOp>(op) ? op->getOperands()
                               : op->getOperands().take_front(1);
}

namespace {
/// The quantized type of several values, if it is one.
class CommonType {
public:
  /// `isMoved` says that elements change their places, where axes are others.
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

/// Adds what the readers of integers take them for.
static void addReaders(Value integers, bool isMoved, CommonType &type) {
  for (Operation *user : integers.getUsers())
    if (auto reinterpret = dyn_cast<qnn::ReinterpretOp>(user))
      type.add(reinterpret.getY().getType(), isMoved);
    else if (movesElements(user) &&
             llvm::is_contained(getMoved(user), integers))
      addReaders(user->getResult(0), /*isMoved=*/true, type);
}

/// Adds what integers were quantized to.
static void addMakers(Value integers, bool isMoved, CommonType &type) {
  Operation *maker = integers.getDefiningOp();
  if (auto reinterpret = dyn_cast_or_null<qnn::ReinterpretOp>(maker))
    type.add(reinterpret.getX().getType(), isMoved);
  else if (maker && movesElements(maker))
    for (Value operand : getMoved(maker))
      addMakers(operand, /*isMoved=*/true, type);
  else
    type.fail();
}

void nnc::onnx::markQuantizedPorts(func::FuncOp main) {
  auto makeAttr = [](const CommonType &type) {
    Type common = type.get();
    return common ? qnn::makePortAttr(common, qnn::Rounding::half_even)
                  : DictionaryAttr();
  };
  for (BlockArgument argument : main.getArguments()) {
    CommonType type;
    addReaders(argument, /*isMoved=*/false, type);
    if (DictionaryAttr port = makeAttr(type))
      main.setArgAttr(argument.getArgNumber(), qnn::kPortAttr, port);
  }
  Operation *end = main.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(end->getOperands())) {
    CommonType type;
    addMakers(result, /*isMoved=*/false, type);
    if (DictionaryAttr port = makeAttr(type))
      main.setResultAttr(i, qnn::kPortAttr, port);
  }
}
