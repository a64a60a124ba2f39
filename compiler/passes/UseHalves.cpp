//===- UseHalves.cpp - Layers that compute with halves --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "compiler/evaluate/Evaluate.h"
#include "compiler/routines/Candidates.h"
#include "compiler/routines/Precision.h"
#include "compiler/search/Search.h"
#include "dialects/exec/Exec.h"

namespace nnc {
#define GEN_PASS_DEF_USEHALVES
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static Type getElement(Value value) {
  return getTensorType(value).getElementType();
}

static void setElement(Value value, Type element) {
  value.setType(getTensorType(value).clone(element));
}

/// Returns true if the epilogue computes with float32 values only. Such an
/// epilogue can load halves as floats and round what it stores.
static bool computesWithFloats(LayerOp layer) {
  auto isFloat = [](Type type) { return type.isF32(); };
  Block &block = layer.getEpilogue().front();
  return isFloat(getElement(layer.getY())) &&
         llvm::all_of(block.getArgumentTypes(), isFloat) &&
         llvm::all_of(block.without_terminator(), [&](Operation &op) {
           Type type = op.getResult(0).getType();
           return isFloat(type) || type.isInteger(1);
         });
}

/// Casts what the epilogue reads to floats, and what it yields from them.
static void retypeEpilogue(LayerOp layer) {
  Block &block = layer.getEpilogue().front();
  bool isEmpty = layer.hasEmptyEpilogue();
  Type result = getElement(layer.getY());
  SmallVector<Type> elements;
  if (layer.getAnchorOp())
    elements.push_back(result);
  for (Value extra : layer.getExtras())
    elements.push_back(getElement(extra));
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  for (auto [argument, element] : llvm::zip(block.getArguments(), elements)) {
    Type old = argument.getType();
    argument.setType(element);
    if (old == element || isEmpty)
      continue;
    auto cast = builder.create<CastOp>(layer.getLoc(), old, argument);
    argument.replaceAllUsesExcept(cast, cast);
  }
  Operation *yield = block.getTerminator();
  Value yielded = yield->getOperand(0);
  builder.setInsertionPoint(yield);
  if (yielded.getType() != result)
    yield->setOperand(0,
                      builder.create<CastOp>(layer.getLoc(), result, yielded));
}

/// Returns true if only the function's caller reads the layer's result, which
/// is float32 for callers.
static bool isForCaller(LayerOp layer) {
  return llvm::all_of(layer->getUsers(), [](Operation *user) {
    return isa<func::ReturnOp>(user);
  });
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

namespace {
class Halver {
public:
  Halver(func::FuncOp function, const CostModel &cost)
      : block(function.getBody().front()), cost(cost),
        half(Float16Type::get(function.getContext())),
        single(Float32Type::get(function.getContext())) {
    for (LayerOp layer : block.getOps<LayerOp>())
      names.take(layer.getName(), /*isCall=*/true);
  }

  void run();

private:
  bool isHalf(Value value) const { return getElement(value) == half; }
  Value getAs(Value value, FloatType element);
  Value createCast(Value value, FloatType element);
  Value convertConstant(ConstantOp constant, FloatType element);
  bool setInputs(LayerOp layer, FloatType element);
  bool hasRoutine(LayerOp layer) const;
  bool gainsByHalves(LayerOp layer) const;
  bool computeWithHalves(LayerOp layer);
  void visit(LayerOp layer);
  void setResults(Operation &returns);

  Block &block;
  const CostModel &cost;
  FloatType half, single;
  exec::Names names;
  DenseMap<Value, Value> converted;
};
} // namespace

/// The constant rounded, or null where a value is too large.
Value Halver::convertConstant(ConstantOp constant, FloatType element) {
  std::optional<TensorData> data = TensorData::get(constant.getValue());
  OpBuilder builder(constant);
  auto cast = builder.create<CastOp>(
      constant.getLoc(), constant.getY().getType().clone(element), constant);
  FailureOr<TensorData> rounded = failure();
  if (data)
    rounded = evaluate(cast, *data);
  cast.erase();
  auto isFinite = [](uint16_t bits) { return (bits & 0x7c00) != 0x7c00; };
  if (failed(rounded) || !llvm::all_of(rounded->getAs<uint16_t>(), isFinite))
    return {};
  return builder.create<ConstantOp>(
      constant.getLoc(),
      rounded->toAttribute(getModelName(constant.getLoc(), "halves")));
}

/// A layer that casts the value, called after the one that makes it.
Value Halver::createCast(Value value, FloatType element) {
  Value made = value;
  while (auto reshape = made.getDefiningOp<ReshapeOp>())
    made = reshape.getX();
  auto maker = made.getDefiningOp<LayerOp>();
  std::string unique = names.addCall(maker ? maker.getName() : "input",
                                     element == half ? "_f16" : "_f32");
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  auto layer =
      builder.create<LayerOp>(loc, getTensorType(value).clone(element), unique,
                              ValueRange(), value, nullptr, nullptr);
  Block &epilogue = layer.getEpilogue().emplaceBlock();
  builder.setInsertionPointToStart(&epilogue);
  auto cast = builder.create<CastOp>(
      loc, element, epilogue.addArgument(getElement(value), loc));
  builder.create<YieldOp>(loc, cast);
  return layer.getY();
}

/// The value with elements of this type, or null where they cannot hold it.
Value Halver::getAs(Value value, FloatType element) {
  if (getElement(value) == element)
    return value;
  Value &other = converted[value];
  if (!other) {
    auto constant = value.getDefiningOp<ConstantOp>();
    other = constant ? convertConstant(constant, element)
                     : createCast(value, element);
  }
  return other;
}

/// Has the layer read its inputs of numbers with elements of this type, but for
/// those that stay floats. False where one cannot have it.
bool Halver::setInputs(LayerOp layer, FloatType element) {
  auto op = cast<RoutineOpInterface>(layer.getAnchorOp());
  for (auto [i, input] : llvm::enumerate(layer.getInputs())) {
    if (getElement(input) != half && getElement(input) != single)
      continue;
    FloatType own = op.takesHalf(i) ? element : single;
    Value other = getAs(input, own);
    if (!other)
      return false;
    layer.getInputsMutable()[i].set(other);
    setElement(layer.getAnchor().getArgument(i), own);
  }
  return true;
}

/// Returns true if a routine computes the layer and its operands can be brought
/// into the layouts that the routine reads.
bool Halver::hasRoutine(LayerOp layer) const {
  auto candidates = findCandidates(layer, cost, {});
  return llvm::any_of(candidates, [&](const Candidate &candidate) {
    return llvm::all_of(
        llvm::zip(layer.getInputs(), candidate.operands), [&](auto pair) {
          auto [input, type] = pair;
          return input.template getDefiningOp<ConstantOp>() ||
                 cost.getAdapt(getLogicalType(type), type).seconds !=
                     kImpossible;
        });
  });
}

/// Returns true if a layer with an anchor should compute with halves.
bool Halver::gainsByHalves(LayerOp layer) const {
  if (cast<CostOpInterface>(layer.getAnchorOp()).getWork().multiplyAdds > 0)
    return true;
  // Layers without multiply-adds compute in the type of their operands. If only
  // the caller reads the result, it is cast before the layer, which rounds
  // less, unless the operands have more elements than the result.
  SmallVector<Value> halves;
  llvm::copy_if(layer.getInputs(), std::back_inserter(halves),
                [&](Value input) { return isHalf(input); });
  auto count = [](Value value) {
    return getTensorType(value).getNumElements();
  };
  bool castsBefore = isForCaller(layer) && halves.size() == 1 &&
                     count(halves.front()) <= count(layer.getY());
  return !halves.empty() && !castsBefore;
}

/// Makes of a layer with an anchor one that computes with halves. False where
/// there is no routine for it.
bool Halver::computeWithHalves(LayerOp layer) {
  OpBuilder builder(layer);
  auto made = cast<LayerOp>(builder.clone(*layer));
  if (!setInputs(made, half)) {
    made.erase();
    return false;
  }
  setElement(made.getAnchorOp()->getResult(0), half);
  setElement(made.getY(), half);
  retypeEpilogue(made);
  if (!hasRoutine(made)) {
    made.erase();
    return false;
  }
  layer.getY().replaceAllUsesWith(made.getY());
  layer.erase();
  return true;
}

void Halver::visit(LayerOp layer) {
  if (layer.getAnchorOp()) {
    if (gainsByHalves(layer) && computesWithFloats(layer) &&
        computeWithHalves(layer))
      return;
    setInputs(layer, single);
  }
  auto readsHalf = [&](Value extra) { return isHalf(extra); };
  if (llvm::none_of(layer.getExtras(), readsHalf))
    return;
  if (!computesWithFloats(layer)) {
    // Inputs of float16 of the model's are halves for the epilogue, too.
    auto extras = layer.getExtrasMutable();
    auto arguments = layer.getEpilogue().front().getArguments();
    for (auto [extra, argument] :
         llvm::zip(extras, arguments.take_back(extras.size())))
      if (isHalf(extra.get()) && argument.getType() != half)
        extra.set(getAs(extra.get(), single));
    return;
  }
  // A result for the caller stays float32, which saves a cast.
  if (!layer.getAnchorOp() && !isForCaller(layer))
    setElement(layer.getY(), half);
  retypeEpilogue(layer);
}

/// Has the function return the types that it declares, which are those of the
/// model's outputs.
void Halver::setResults(Operation &returns) {
  auto function = returns.getParentOfType<func::FuncOp>();
  for (auto [operand, type] :
       llvm::zip(returns.getOpOperands(), function.getResultTypes())) {
    auto wanted = dyn_cast<FloatType>(getElementTypeOrSelf(type));
    if (wanted && wanted != getElement(operand.get()))
      operand.set(getAs(operand.get(), wanted));
  }
}

void Halver::run() {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto layer = dyn_cast<LayerOp>(op))
      visit(layer);
    else if (auto reshape = dyn_cast<ReshapeOp>(op))
      setElement(reshape.getResult(), getElement(reshape->getOperand(0)));
    else if (isa<func::ReturnOp>(op))
      setResults(op);
    else
      for (OpOperand &operand : op.getOpOperands())
        if (isHalf(operand.get()))
          operand.set(getAs(operand.get(), single));
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

namespace {
struct UseHalvesPass : nnc::impl::UseHalvesBase<UseHalvesPass> {
  using Base::Base;
  void runOnOperation() override {
    auto machine = target::setTarget(getOperation(), target);
    if (failed(machine) ||
        failed(checkHalves(*machine, getOperation().getLoc())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        Halver(function, CostModel(*machine, getWeightBytes(function))).run();
  }
};
} // namespace
