//===- Evaluate.cpp - Reference evaluation of nn ops ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/evaluate/Evaluate.h"

#include "dialects/nn/control/Control.h"
#include "dialects/nn/legalize/ApplyPatterns.h"
#include "dialects/nn/legalize/LegalForms.h"
#include "dialects/nn/tensors/Empty.h"
#include "dialects/shapes/RoutineShape.h"
#include "runtime/reference.h"

#include "mlir/IR/Matchers.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// One call of a portable routine
//===----------------------------------------------------------------------===//

static std::optional<int> getDtype(Type type) {
  if (type.isF32())
    return NNC_F32;
  if (type.isF64())
    return NNC_F64;
  if (type.isF16())
    return NNC_F16;
  if (type.isBF16())
    return NNC_BF16;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return NNC_BOOL;
  case 8:
    return isUnsigned ? NNC_U8 : NNC_I8;
  case 16:
    return isUnsigned ? NNC_U16 : NNC_I16;
  case 32:
    return isUnsigned ? NNC_U32 : NNC_I32;
  case 64:
    return isUnsigned ? NNC_U64 : NNC_I64;
  default:
    return std::nullopt;
  }
}

static std::optional<nnc_tensor> describe(const TensorData &data) {
  std::optional<int> dtype = getDtype(data.getElementType());
  if (!dtype)
    return std::nullopt;
  // Inputs are only read, although the struct's pointer is not const.
  return nnc_tensor{const_cast<char *>(data.getBytes().data()), *dtype,
                    data.getNumElements()};
}

static LogicalResult call(const RoutineCall &routine,
                          ArrayRef<TensorData> operands,
                          const TensorData &result, StringRef function = {},
                          ArrayRef<double> scalars = {}) {
  std::optional<RoutineShape> shape = readShape(routine);
  if (!shape)
    return failure();
  SmallVector<nnc_tensor> inputs;
  for (unsigned operand : routine.operands) {
    auto tensor = describe(operands[operand]);
    if (!tensor)
      return failure();
    inputs.push_back(*tensor);
  }
  auto output = describe(result);
  if (!output)
    return failure();
  std::string name = function.str();
  return success(nnc_reference_call(routine.family.c_str(), shape->get(),
                                    inputs.data(), inputs.size(), &*output, 1,
                                    name.empty() ? nullptr : name.c_str(),
                                    scalars.data(), scalars.size()) == 0);
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

/// Returns the type of the shape that the operands broadcast to, with the
/// element type of `like`.
static RankedTensorType getBroadcastType(ArrayRef<TensorData> operands,
                                         Type like) {
  SmallVector<ArrayRef<int64_t>> shapes;
  for (const TensorData &operand : operands)
    shapes.push_back(operand.getShape());
  return RankedTensorType::get(*broadcastShapes(shapes),
                               getElementTypeOrSelf(like));
}

/// Evaluates an elementwise function whose result has the type of `result`.
static LogicalResult evaluateFunction(StringRef function,
                                      ArrayRef<TensorData> operands,
                                      TensorData &result,
                                      ArrayRef<double> scalars = {}) {
  SmallVector<Type> types;
  for (const TensorData &operand : operands)
    types.push_back(operand.getType());
  return call(getElementwiseCall(result.getType(), types), operands, result,
              function, scalars);
}

/// Evaluates the functions that nn.requantize consists of, one after the other.
static LogicalResult evaluateRequantize(RequantizeOp op,
                                        ArrayRef<TensorData> operands,
                                        TensorData &result) {
  Builder builder(op.getContext());
  RankedTensorType type = result.getType();
  auto apply = [&](StringRef function, ArrayRef<TensorData> given, Type element,
                   TensorData &to) {
    TensorData y = TensorData::allocate(type.clone(element));
    if (failed(evaluateFunction(function, given, y)))
      return false;
    to = std::move(y);
    return true;
  };
  TensorData y;
  bool isOfParts = op.getRescale() == Rescale::parts;
  if (op.getRescale() == Rescale::real || isOfParts) {
    Type real = builder.getF32Type();
    TensorData x = TensorData::allocate(operands[0].getType().clone(real));
    if (failed(evaluateFunction("cast", operands[0], x)))
      return failure();
    if (isOfParts) {
      if (!apply("mul", {x, operands[2]}, real, y))
        return failure();
      float factor = operands[1].getAs<float>().front();
      auto *sums = y.getMutable<float>();
      for (auto [i, value] : llvm::enumerate(x.getAs<float>()))
        sums[i] = std::fma(value, factor, sums[i]);
    } else if (!apply("mul", {x, operands[1]}, real, y) ||
               (op.getShift() && !apply("add", {y, operands[2]}, real, y))) {
      return failure();
    }
    if (!apply("round", y, real, y))
      return failure();
    auto [low, high] = op.getRange();
    auto zero = static_cast<float>(op.getZeroPoint());
    auto *values = y.getMutable<float>();
    for (int64_t i = 0; i < y.getNumElements(); ++i)
      values[i] = std::isnan(values[i])
                      ? values[i]
                      : std::clamp(values[i] + zero, float(low), float(high));
    return evaluateFunction("cast", y, result);
  }
  if (!op.saturates())
    return evaluateFunction(op.getFunction(), operands, result);
  if (!apply(op.getSteps().front(), operands,
             operands[0].getType().getElementType(), y) ||
      !apply("cast", y, builder.getI32Type(), y))
    return failure();
  auto [low, high] = op.getRange();
  auto *values = y.getMutable<int32_t>();
  for (int64_t i = 0; i < y.getNumElements(); ++i) {
    // The sum wraps around.
    auto moved = static_cast<int32_t>(static_cast<uint32_t>(values[i]) +
                                      static_cast<uint32_t>(op.getZeroPoint()));
    values[i] = std::clamp(moved, int32_t(low), int32_t(high));
  }
  return evaluateFunction("cast", y, result);
}

/// Evaluates an elementwise op: an op on tensors, or an op on scalars that is
/// applied to all elements of tensors.
static FailureOr<TensorData>
evaluateElementwise(ElementwiseOpInterface op, ArrayRef<TensorData> operands) {
  TensorData result = TensorData::allocate(
      getBroadcastType(operands, op->getResult(0).getType()));
  if (result.getNumElements() == 0)
    return result;
  if (auto lookup = dyn_cast<LookupOp>(op.getOperation())) {
    std::optional<TensorData> table = TensorData::get(lookup.getTable());
    if (!table)
      return failure();
    auto *y = result.getMutable<uint8_t>();
    for (uint8_t x : operands.front().getAs<uint8_t>())
      *y++ = table->getAs<uint8_t>()[x];
    return result;
  }
  if (auto requantize = dyn_cast<RequantizeOp>(op.getOperation())) {
    if (failed(evaluateRequantize(requantize, operands, result)))
      return failure();
    return result;
  }
  if (failed(evaluateFunction(op.getFunction(), operands, result,
                              op.getScalars())))
    return failure();
  return result;
}

static FailureOr<TensorData> evaluateRoutine(RoutineOpInterface op,
                                             ArrayRef<TensorData> operands) {
  TensorData result =
      TensorData::allocate(cast<RankedTensorType>(op->getResult(0).getType()));
  if (result.getNumElements() == 0)
    return result;
  if (readsNothing(op)) {
    TypedAttr value = getEmptyResult(op);
    if (!value)
      return failure();
    return *TensorData::get(
        DenseElementsAttr::get(result.getType(), Attribute(value)));
  }
  for (const RoutineCall &routine : op.getRoutineCalls()) {
    // A concat may have parts without elements.
    if (operands[routine.operands.front()].getNumElements() == 0)
      continue;
    if (failed(call(routine, operands, result)))
      return failure();
  }
  return result;
}

/// Evaluates an op that no routine computes directly: rewrites it to the ops
/// that nnc-legalize creates for it, and evaluates those.
static FailureOr<TensorData> evaluateLegalized(Operation *op,
                                               ArrayRef<TensorData> operands) {
  OpBuilder builder(op->getContext());
  OwningOpRef<func::FuncOp> function = func::FuncOp::create(
      op->getLoc(), "legalized",
      builder.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
  builder.setInsertionPointToStart(function->addEntryBlock());
  Operation *clone = builder.clone(*op);
  clone->setOperands(function->getArguments());
  builder.create<func::ReturnOp>(op->getLoc(), clone->getResults());
  SmallVector<TensorData> results;
  RewritePatternSet patterns(op->getContext());
  populateLegalForms(patterns);
  if (failed(applyPatterns(*function, std::move(patterns))) ||
      failed(evaluateFunction(*function, operands, results)))
    return failure();
  return results.front();
}

/// Evaluates a literal in an epilogue.
static FailureOr<TensorData> evaluateLiteral(Attribute literal) {
  auto typed = dyn_cast<TypedAttr>(literal);
  if (!typed || !getDtype(typed.getType()))
    return failure();
  auto type = RankedTensorType::get({}, typed.getType());
  std::optional<TensorData> data =
      TensorData::get(DenseElementsAttr::get(type, Attribute(typed)));
  if (!data)
    return failure();
  return *data;
}

/// Evaluates a layer: the anchor on whole tensors, then each op of the epilogue
/// on whole tensors.
static FailureOr<TensorData> evaluateLayer(LayerOp layer,
                                           ArrayRef<TensorData> operands) {
  llvm::DenseMap<Value, TensorData> values;
  auto lookUp = [&](Operation *op) {
    SmallVector<TensorData> data;
    for (Value operand : op->getOperands())
      data.push_back(values.lookup(operand));
    return data;
  };
  Block &epilogue = layer.getEpilogue().front();
  ArrayRef<BlockArgument> arguments = epilogue.getArguments();
  size_t inputs = layer.getInputs().size();
  if (Operation *anchor = layer.getAnchorOp()) {
    for (auto [argument, data] :
         llvm::zip(layer.getAnchor().getArguments(), operands))
      values[argument] = data;
    FailureOr<TensorData> result = evaluate(anchor, lookUp(anchor));
    if (failed(result))
      return failure();
    values[arguments.front()] = *result;
    arguments = arguments.drop_front();
  }
  for (auto [argument, data] :
       llvm::zip(arguments, operands.drop_front(inputs)))
    values[argument] = data;
  for (Operation &op : epilogue.without_terminator()) {
    Attribute literal;
    FailureOr<TensorData> result = failure();
    if (matchPattern(&op, m_Constant(&literal)))
      result = evaluateLiteral(literal);
    else
      result =
          evaluateElementwise(cast<ElementwiseOpInterface>(op), lookUp(&op));
    if (failed(result))
      return failure();
    values[op.getResult(0)] = *result;
  }
  TensorData value =
      values.lookup(cast<YieldOp>(epilogue.getTerminator()).getValue());
  RankedTensorType type = layer.getY().getType();
  if (value.getShape() == type.getShape())
    return value;
  TensorData expanded = TensorData::allocate(type);
  if (failed(call(getExpandCall(type, value.getType()), value, expanded)))
    return failure();
  return expanded;
}

FailureOr<TensorData> nnc::evaluate(Operation *op,
                                    ArrayRef<TensorData> operands) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    std::optional<TensorData> data = TensorData::get(constant.getValue());
    if (!data)
      return failure();
    return *data;
  }
  if (isa<ReshapeOp, AdaptOp>(op))
    return operands.front().withType(
        cast<RankedTensorType>(op->getResult(0).getType()));
  // The result of the user's own function is not known here.
  if (isa<CustomOp>(op))
    return failure();
  if (auto part = dyn_cast<PartOp>(op)) {
    TensorData result = TensorData::allocate(part.getY().getType());
    llvm::copy(operands.front().getBytes().slice(part.getOffset(),
                                                 result.getBytes().size()),
               result.getMutableBytes());
    return result;
  }
  if (auto layer = dyn_cast<LayerOp>(op))
    return evaluateLayer(layer, operands);
  if (!hasLegalForm(op))
    return evaluateLegalized(op, operands);
  if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op))
    return evaluateElementwise(elementwise, operands);
  if (auto routine = dyn_cast<RoutineOpInterface>(op))
    return evaluateRoutine(routine, operands);
  return failure();
}

//===----------------------------------------------------------------------===//
// Functions that ops run
//===----------------------------------------------------------------------===//

/// Returns the element of a tensor with one integer.
template <class Integer> static int64_t getOne(const TensorData &data) {
  Integer value;
  std::memcpy(&value, data.getBytes().data(), sizeof value);
  return value;
}

static TensorData makeRunNumber(MLIRContext *context, int64_t run) {
  TensorData data = TensorData::allocate(
      RankedTensorType::get({}, IntegerType::get(context, 64)));
  std::memcpy(data.getMutableBytes(), &run, sizeof run);
  return data;
}

static bool continueAlways(Operation *, const TensorData &) { return true; }

static LogicalResult evaluateLoop(LoopOp loop, ArrayRef<TensorData> operands,
                                  SmallVectorImpl<TensorData> &results,
                                  CustomCallback customs) {
  func::FuncOp body = getBodies(loop).front();
  auto runs = static_cast<int64_t>(loop.getMax());
  if (loop.getCount()) {
    runs = std::min(runs, getOne<int64_t>(operands.front()));
    operands = operands.drop_front();
  }
  size_t count = loop.getInits().size();
  SmallVector<TensorData> carried(operands.take_front(count)), collected;
  ArrayRef<TensorData> captured = operands.drop_front(count);
  for (Value y : loop.getCollected())
    collected.push_back(
        TensorData::allocate(cast<RankedTensorType>(y.getType())));
  for (int64_t run = 0; run < runs; ++run) {
    if (loop.getConditional() && !getOne<char>(carried.front()))
      break;
    SmallVector<TensorData> arguments = {makeRunNumber(loop.getContext(), run)};
    llvm::append_range(arguments, carried);
    llvm::append_range(arguments, captured);
    SmallVector<TensorData> given;
    if (failed(
            evaluateFunction(body, arguments, given, continueAlways, customs)))
      return failure();
    for (auto [all, one] :
         llvm::zip_equal(collected, llvm::drop_begin(given, count)))
      llvm::copy(one.getBytes(),
                 all.getMutableBytes() + run * one.getBytes().size());
    given.truncate(count);
    carried = std::move(given);
  }
  llvm::append_range(results, carried);
  llvm::append_range(results, collected);
  return success();
}

/// Computes the results of an op that runs functions.
static LogicalResult evaluateControl(Operation *op,
                                     ArrayRef<TensorData> operands,
                                     SmallVectorImpl<TensorData> &results,
                                     CustomCallback customs) {
  if (auto loop = dyn_cast<LoopOp>(op))
    return evaluateLoop(loop, operands, results, customs);
  bool holds = getOne<char>(operands.front()) != 0;
  return evaluateFunction(getBodies(op)[holds ? 0 : 1], operands.drop_front(),
                          results, continueAlways, customs);
}

//===----------------------------------------------------------------------===//
// A function
//===----------------------------------------------------------------------===//

LogicalResult nnc::evaluateFunction(func::FuncOp function,
                                    ArrayRef<TensorData> arguments,
                                    SmallVectorImpl<TensorData> &results,
                                    ResultCallback onResult,
                                    CustomCallback customs) {
  Block &body = function.getBody().front();
  // The computed values, each with the number of its remaining uses.
  llvm::DenseMap<Value, std::pair<TensorData, int64_t>> live;
  auto define = [&](Value value, const TensorData &data) {
    if (!value.use_empty())
      live[value] = {data, std::distance(value.use_begin(), value.use_end())};
  };
  auto use = [&](Value value) {
    auto entry = live.find(value);
    TensorData data = entry->second.first;
    if (--entry->second.second == 0)
      live.erase(entry);
    return data;
  };
  for (auto [argument, data] : llvm::zip(body.getArguments(), arguments))
    define(argument, data);
  for (Operation &op : body) {
    SmallVector<TensorData> operands;
    for (Value operand : op.getOperands())
      operands.push_back(use(operand));
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      llvm::append_range(results, operands);
      return success();
    }
    if (isa<ControlOpInterface>(op)) {
      SmallVector<TensorData> given;
      if (failed(evaluateControl(&op, operands, given, customs)))
        return failure();
      for (auto [value, data] : llvm::zip_equal(op.getResults(), given))
        define(value, data);
      continue;
    }
    FailureOr<TensorData> result = failure();
    if (auto custom = dyn_cast<CustomOp>(op))
      result = customs(custom, operands);
    else
      result = evaluate(&op, operands);
    if (failed(result))
      return op.emitOpError("has no reference routine for these types; no "
                            "result can be computed here");
    operands.clear();
    if (!onResult(&op, *result))
      return failure();
    define(op.getResult(0), *result);
  }
  return failure();
}
