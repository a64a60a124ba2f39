//===- QnnLegalize.cpp - Operands of the types that instructions multiply -===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/patterns/QuantizedLayers.h"
#include "compiler/routines/Catalogue.h"
#include "dialects/nn/legalize/ApplyPatterns.h"
#include "dialects/qnn/Qnn.h"
#include "dialects/target/Target.h"

namespace nnc {
#define GEN_PASS_DEF_QNNLEGALIZE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

/// Returns the 8-bit element type of the first operand that routines of
/// `family` take in the machine's best instruction set that has such routines;
/// null if there are none, or if they take both types.
static IntegerType getWantedType(StringRef family,
                                 target::MachineAttr machine) {
  MLIRContext *context = machine.getContext();
  auto i8 = IntegerType::get(context, 8),
       u8 = IntegerType::get(context, 8, IntegerType::Unsigned);
  // A machine lists its instruction sets from the best to the worst.
  for (StringAttr isa : machine.getHost().getIsas().getAsRange<StringAttr>()) {
    bool takesSigned = false, takesUnsigned = false;
    for (const Routine *routine : Catalogue::get().getRoutinesOf(family)) {
      if (routine->isa != isa.getValue() ||
          !routine->takesSums(IntegerType::get(context, 32)))
        continue;
      takesSigned |= routine->takesElement(i8);
      takesUnsigned |= routine->takesElement(u8);
    }
    if (takesSigned != takesUnsigned)
      return takesSigned ? i8 : u8;
    if (takesSigned)
      return {};
  }
  return {};
}

/// Returns the number to add to 8-bit integers when they are converted to the
/// type `wanted`.
static int getDistance(IntegerType wanted) {
  return wanted.isUnsigned() ? 128 : -128;
}

/// Returns the quantized 8-bit type with the storage type `wanted` for the same
/// real numbers: its range and its zero points are shifted by half of the
/// range.
static Type flipType(RankedTensorType type, IntegerType wanted) {
  qnn::Parameters parameters = qnn::getParameters(type);
  for (int64_t &zeroPoint : parameters.zeroPoints)
    zeroPoint += getDistance(wanted);
  parameters.min += getDistance(wanted);
  parameters.max += getDistance(wanted);
  return qnn::makeType(type.getShape(), wanted, parameters);
}

/// Returns the 8-bit value `x` with the other signedness: all integers and the
/// zero point are shifted by half of the range, so that the real numbers stay
/// the same.
static Value flipSign(PatternRewriter &rewriter, Value x, IntegerType wanted) {
  Location loc = x.getLoc();
  auto type = cast<RankedTensorType>(x.getType());
  auto cast = [&](Value value, Type element) -> Value {
    return rewriter.create<nn::CastOp>(
        loc, RankedTensorType::get(type.getShape(), element), value);
  };
  Value stored =
      rewriter.create<qnn::ReinterpretOp>(loc, qnn::getStorageType(type), x);
  auto wide = rewriter.getIntegerType(16);
  Value shift = rewriter.create<nn::ConstantOp>(
      loc, ElementsAttr(DenseElementsAttr::get(
               RankedTensorType::get({}, wide),
               ArrayRef<int16_t>{static_cast<int16_t>(getDistance(wanted))})));
  Value moved = rewriter.create<nn::AddOp>(loc, cast(stored, wide), shift);
  return rewriter.create<qnn::ReinterpretOp>(loc, flipType(type, wanted),
                                             cast(moved, wanted));
}

namespace {
/// The values that must have the same signedness as a quantized value because
/// ops that move elements or reinterpret them connect them.
class SameIntegers {
public:
  explicit SameIntegers(Value value) { isClosed = add(value); }

  /// Gives all values the storage type `wanted`. Returns false without changes
  /// unless ops that quantize produce them and all readers take both types.
  bool flip(PatternRewriter &rewriter, IntegerType wanted) {
    if (!isClosed)
      return false;
    for (Value value : values) {
      auto type = cast<RankedTensorType>(value.getType());
      value.setType(isa<IntegerType>(type.getElementType())
                        ? type.clone(wanted)
                        : flipType(type, wanted));
      Operation *maker = value.getDefiningOp();
      if (auto pad = dyn_cast<nn::PadOp>(maker))
        pad.setValue(
            APFloat(pad.getValue().convertToDouble() + getDistance(wanted)));
      rewriter.modifyOpInPlace(maker, []() {});
      for (Operation *user : value.getUsers())
        rewriter.modifyOpInPlace(user, []() {});
    }
    return true;
  }

private:
  llvm::SetVector<Value> values;
  bool isClosed;

  bool add(Value value) {
    if (!values.insert(value))
      return true;
    Operation *maker = value.getDefiningOp();
    return maker && addMaker(maker) &&
           llvm::all_of(value.getUses(),
                        [&](OpOperand &use) { return addUser(use); });
  }
  bool addMaker(Operation *maker) {
    if (isa<qnn::QuantizeOp, qnn::RequantizeOp>(maker))
      return true;
    if (auto reinterpret = dyn_cast<qnn::ReinterpretOp>(maker))
      return add(reinterpret.getX());
    return addMoved(maker);
  }
  bool addUser(OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<qnn::DequantizeOp, qnn::RequantizeOp, qnn::ConvOp, qnn::MatMulOp>(
            user))
      return true;
    if (auto reinterpret = dyn_cast<qnn::ReinterpretOp>(user))
      return add(reinterpret.getY());
    return use.getOperandNumber() < countMoved(user) && add(user->getResult(0));
  }
  bool addMoved(Operation *move) {
    unsigned count = countMoved(move);
    return count && llvm::all_of(move->getOperands().take_front(count),
                                 [&](Value operand) { return add(operand); });
  }
};

/// Gives the first operand of a product the element type that the target
/// multiplies fastest.
template <class Op> struct LegalizeProduct : OpRewritePattern<Op> {
  LegalizeProduct(MLIRContext *context, IntegerType wanted)
      : OpRewritePattern<Op>(context), wanted(wanted) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Value x = op->getOperand(0);
    Type stored = qnn::getStorageType(x.getType()).getElementType();
    if (stored == wanted || stored.getIntOrFloatBitWidth() != 8)
      return failure();
    if (SameIntegers(x).flip(rewriter, wanted))
      return success();
    Value flipped = flipSign(rewriter, x, wanted);
    rewriter.modifyOpInPlace(op, [&]() { op->setOperand(0, flipped); });
    return success();
  }

private:
  IntegerType wanted;
};

struct QnnLegalizePass : nnc::impl::QnnLegalizeBase<QnnLegalizePass> {
  using QnnLegalizeBase::QnnLegalizeBase;
  void runOnOperation() override {
    auto machine = target::setTarget(getOperation(), target);
    if (failed(machine))
      return signalPassFailure();
    IntegerType conv = getWantedType("conv2d", *machine),
                matmul = getWantedType("matmul", *machine);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      RewritePatternSet patterns(&getContext());
      if (conv)
        patterns.add<LegalizeProduct<qnn::ConvOp>>(&getContext(), conv);
      if (matmul)
        patterns.add<LegalizeProduct<qnn::MatMulOp>>(&getContext(), matmul);
      if (failed(applyPatterns(function, std::move(patterns))))
        return signalPassFailure();
    }
  }
};
} // namespace
