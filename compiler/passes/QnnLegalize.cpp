//===- QnnLegalize.cpp - Operands of the types that instructions multiply -===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/patterns/Patterns.h"
#include "compiler/routines/Catalogue.h"
#include "dialects/qnn/Qnn.h"
#include "dialects/target/Target.h"

namespace nnc {
#define GEN_PASS_DEF_QNNLEGALIZE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

/// Returns the one element type of 8 bits that the machine's fastest routine
/// for sums of bytes takes as its first operand; null if there is none, or if
/// it takes both.
static IntegerType getWantedType(StringRef family,
                                 target::MachineAttr machine) {
  MLIRContext *context = machine.getContext();
  auto i8 = IntegerType::get(context, 8),
       u8 = IntegerType::get(context, 8, IntegerType::Unsigned);
  // The sets of a machine are listed from the best on.
  for (StringAttr isa : machine.getIsas().getAsRange<StringAttr>())
    for (const Routine *routine : Catalogue::get().getRoutinesOf(family)) {
      if (routine->isa != isa.getValue() ||
          !routine->takesSums(IntegerType::get(context, 32)))
        continue;
      bool takesSigned = routine->takesElement(i8),
           takesUnsigned = routine->takesElement(u8);
      if (takesSigned != takesUnsigned)
        return takesSigned ? i8 : u8;
      return {};
    }
  return {};
}

/// Returns `x`, of 8 bits, with every number and the zero point moved by half
/// of the range, so that the other signedness holds the same reals.
static Value flipSign(PatternRewriter &rewriter, Value x, IntegerType wanted) {
  Location loc = x.getLoc();
  auto type = cast<RankedTensorType>(x.getType());
  qnn::Parameters parameters = qnn::getParameters(type);
  int64_t distance = wanted.isUnsigned() ? 128 : -128;
  SmallVector<int64_t> zeroPoints = llvm::to_vector(llvm::map_range(
      parameters.zeroPoints, [=](int64_t zero) { return zero + distance; }));
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
               ArrayRef<int16_t>{static_cast<int16_t>(distance)})));
  Value moved = rewriter.create<nn::AddOp>(loc, cast(stored, wide), shift);
  return rewriter.create<qnn::ReinterpretOp>(
      loc,
      qnn::makeType(type.getShape(), wanted, parameters.scales, zeroPoints,
                    parameters.axis),
      cast(moved, wanted));
}

namespace {
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
