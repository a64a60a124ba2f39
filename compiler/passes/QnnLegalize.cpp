//===- QnnLegalize.cpp - Operands of the types that instructions multiply -===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/patterns/QuantizedLayers.h"
#include "compiler/routines/Catalogue.h"
#include "compiler/routines/IntegerSums.h"
#include "dialects/nn/legalize/ApplyPatterns.h"
#include "dialects/qnn/Qnn.h"
#include "dialects/target/Target.h"

namespace nnc {
#define GEN_PASS_DEF_QNNLEGALIZE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

namespace {
/// The 8-bit type that the first operand of a product should have.
struct WantedType {
  IntegerType type; ///< null if either type is as good
  /// True if routines take this type alone. Otherwise other routines take the
  /// other type, too, and a conversion is not worth an op of its own.
  bool isRequired = false;
};
} // namespace

/// Returns the 8-bit element type of the first operand that most routines of
/// `family` take in the machine's best instruction set that has such routines.
/// Instructions that multiply unsigned by signed bytes make routines of their
/// own beside those that widen either of them.
static WantedType getWantedType(StringRef family, target::MachineAttr machine) {
  MLIRContext *context = machine.getContext();
  auto i8 = IntegerType::get(context, 8),
       u8 = IntegerType::get(context, 8, IntegerType::Unsigned);
  // A machine lists its instruction sets from the best to the worst.
  for (StringAttr isa : machine.getHost().getIsas().getAsRange<StringAttr>()) {
    int signedRoutines = 0, unsignedRoutines = 0;
    for (const Routine *routine : Catalogue::get().getRoutinesOf(family)) {
      if (routine->isa != isa.getValue() ||
          !routine->takesSums(IntegerType::get(context, 32)))
        continue;
      signedRoutines += routine->takesElement(i8);
      unsignedRoutines += routine->takesElement(u8);
    }
    if (signedRoutines != unsignedRoutines)
      return {signedRoutines > unsignedRoutines ? i8 : u8,
              signedRoutines == 0 || unsignedRoutines == 0};
    if (signedRoutines)
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
  LegalizeProduct(MLIRContext *context, WantedType wanted)
      : OpRewritePattern<Op>(context), wanted(wanted) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Value x = op->getOperand(0);
    Type stored = qnn::getStorageType(x.getType()).getElementType();
    if (stored == wanted.type || stored.getIntOrFloatBitWidth() != 8)
      return failure();
    if (SameIntegers(x).flip(rewriter, wanted.type))
      return success();
    if (!wanted.isRequired)
      return failure();
    Value flipped = flipSign(rewriter, x, wanted.type);
    rewriter.modifyOpInPlace(op, [&]() { op->setOperand(0, flipped); });
    return success();
  }

private:
  WantedType wanted;
};

/// Replaces a product of two bytes that are both computed at run time by four
/// terms (QNN, section 4), all of which are products of bytes:
///   sum (a - za) (b - zb) = sum a b - zb sum a - za sum b + k za zb
/// where k is the number of products in a sum. Without this pattern, operands
/// with a zero point are centred, which takes 16 bits.
struct SplitZeroPoints : OpRewritePattern<qnn::MatMulOp> {
  SplitZeroPoints(MLIRContext *context, WantedType wanted,
                  target::DeviceAttr device)
      : OpRewritePattern(context), wanted(wanted), device(device) {}
  LogicalResult matchAndRewrite(qnn::MatMulOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSplit(op))
      return failure();
    // LegalizeProduct gives the first operand its type.
    IntegerType first = getStored(op.getA());
    if (wanted.isRequired && first != wanted.type)
      return failure();
    IntegerType i8 = rewriter.getIntegerType(8);
    if (getStored(op.getB()) != i8) {
      if (!SameIntegers(op.getB()).flip(rewriter, i8))
        rewriter.modifyOpInPlace(op, [&]() {
          op.getBMutable().assign(flipSign(rewriter, op.getB(), i8));
        });
      return success();
    }
    int64_t za = qnn::getParameters(op.getA().getType()).zeroPoints[0],
            zb = qnn::getParameters(op.getB().getType()).zeroPoints[0];
    if (za == 0 && zb == 0)
      return failure();
    Location loc = op.getLoc();
    Value a = getIntegers(rewriter, op.getA()),
          b = getIntegers(rewriter, op.getB());
    int64_t depth = nn::getTensorType(b).getShape().end()[-2];
    Value y = multiply(rewriter, loc, a, b);
    if (zb != 0)
      y = add(rewriter, loc, y,
              multiply(rewriter, loc, a, makeOnes(rewriter, loc, depth, 1, i8)),
              -zb, depth * za * zb);
    if (za != 0)
      y = add(
          rewriter, loc, y,
          multiply(rewriter, loc, makeOnes(rewriter, loc, 1, depth, first), b),
          -za, 0);
    rewriter.replaceOpWithNewOp<qnn::ReinterpretOp>(op, op.getType(), y);
    return success();
  }

private:
  /// The fewest rows and columns of a product for which its sums cost more than
  /// those of the rows of `a` and the columns of `b`, which are products with
  /// a vector.
  static constexpr int64_t fewestRows = 4, fewestColumns = 32;

  WantedType wanted;
  target::DeviceAttr device;

  static IntegerType getStored(Value x) {
    return cast<IntegerType>(qnn::getStorageType(x.getType()).getElementType());
  }
  bool isSplit(qnn::MatMulOp op) const {
    for (Value operand : {op.getA(), op.getB()})
      if (isKnown(operand) || getStored(operand).getWidth() != 8 ||
          qnn::getParameters(operand.getType()).axis >= 0)
        return false;
    ArrayRef<int64_t> rows = nn::getTensorType(op.getA()).getShape(),
                      columns = nn::getTensorType(op.getB()).getShape();
    if (rows.size() < 2 || columns.size() < 2 || rows.end()[-2] < fewestRows ||
        columns.back() < fewestColumns)
      return false;
    // The routines are asked about a product that is in no block.
    OpBuilder apart(op.getContext());
    auto a = apart.create<qnn::ReinterpretOp>(
             op.getLoc(), qnn::getStorageType(op.getA().getType()), op.getA()),
         b = apart.create<qnn::ReinterpretOp>(
             op.getLoc(), qnn::getStorageType(op.getB().getType()), op.getB());
    auto product = apart.create<nn::MatMulOp>(
        op.getLoc(), a, b, false, false, TypeAttr::get(apart.getI32Type()));
    bool hasDots = hasByteDots(product, device);
    product.erase();
    a.erase();
    b.erase();
    return hasDots;
  }
  static bool isKnown(Value x) {
    auto reinterpret = x.getDefiningOp<qnn::ReinterpretOp>();
    return reinterpret && reinterpret.getX().getDefiningOp<nn::ConstantOp>();
  }
  static Value makeConstant(PatternRewriter &rewriter, Location loc,
                            ArrayRef<int64_t> shape, IntegerType element,
                            int64_t value) {
    auto type = RankedTensorType::get(shape, element);
    APInt bits(element.getWidth(), value, /*isSigned=*/true);
    return rewriter.create<nn::ConstantOp>(
        loc, ElementsAttr(DenseElementsAttr::get(type, bits)));
  }
  static Value makeOnes(PatternRewriter &rewriter, Location loc, int64_t rows,
                        int64_t columns, IntegerType element) {
    return makeConstant(rewriter, loc, {rows, columns}, element, 1);
  }
  static Value multiply(PatternRewriter &rewriter, Location loc, Value a,
                        Value b) {
    return rewriter.create<nn::MatMulOp>(loc, a, b, false, false,
                                         TypeAttr::get(rewriter.getI32Type()));
  }
  /// Returns y + (x * factor + shift), modulo 2^32.
  static Value add(PatternRewriter &rewriter, Location loc, Value y, Value x,
                   int64_t factor, int64_t shift) {
    IntegerType i32 = rewriter.getI32Type();
    x = rewriter.create<nn::MulOp>(
        loc, x, makeConstant(rewriter, loc, {}, i32, factor));
    if (shift != 0)
      x = rewriter.create<nn::AddOp>(
          loc, x, makeConstant(rewriter, loc, {}, i32, shift));
    return rewriter.create<nn::AddOp>(loc, y, x);
  }
};

struct QnnLegalizePass : nnc::impl::QnnLegalizeBase<QnnLegalizePass> {
  using QnnLegalizeBase::QnnLegalizeBase;
  void runOnOperation() override {
    auto machine = target::setTarget(getOperation(), target);
    if (failed(machine))
      return signalPassFailure();
    WantedType conv = getWantedType("conv2d", *machine),
               matmul = getWantedType("matmul", *machine);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      RewritePatternSet patterns(&getContext());
      if (conv.type)
        patterns.add<LegalizeProduct<qnn::ConvOp>>(&getContext(), conv);
      if (matmul.type)
        patterns.add<LegalizeProduct<qnn::MatMulOp>>(&getContext(), matmul);
      patterns.add<SplitZeroPoints>(&getContext(), matmul, machine->getHost());
      if (failed(applyPatterns(function, std::move(patterns))))
        return signalPassFailure();
    }
  }
};
} // namespace
