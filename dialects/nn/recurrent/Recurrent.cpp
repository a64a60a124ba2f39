//===- Recurrent.cpp - Recurrent cells and queues -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// nn.push
//===----------------------------------------------------------------------===//

LogicalResult PushOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX()), f = getPlain(adaptor.getF());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(location, axis, x.getRank())))
    return failure();
  SmallVector<int64_t> shape(x.getShape());
  if (f.getRank() == x.getRank() && f.getDimSize(axis) <= shape[axis])
    shape[axis] = f.getDimSize(axis);
  if (f != withShape(x, shape))
    return emitOptionalError(location, "adds a ", f, " along axis ", axis,
                             " to a queue of type ", x);
  types.push_back(x);
  return success();
}
SmallVector<RoutineCall> PushOp::getRoutineCalls() {
  ArrayRef<int64_t> x = getPlain(getX()).getShape();
  int64_t inner = product(x.drop_front(getAxis() + 1));
  ShapeFields fields(getContext());
  fields.add("outer", product(x.take_front(getAxis())));
  fields.add("size", x[getAxis()] * inner);
  fields.add("count", getPlain(getF()).getDimSize(getAxis()) * inner);
  return {{"enqueue", fields.get(), {0, 1}}};
}
Work PushOp::getWork() { return bytesOnly(*this); }

//===----------------------------------------------------------------------===//
// nn.lstm and nn.integer_lstm
//===----------------------------------------------------------------------===//

namespace {
/// The sizes of a layer of LSTM cells.
struct LstmSizes {
  int64_t batch, steps, input, units;
};
} // namespace

static LstmSizes getSizes(RankedTensorType x, RankedTensorType w,
                          bool isTimeMajor) {
  return {x.getDimSize(isTimeMajor ? 1 : 0), x.getDimSize(isTimeMajor ? 0 : 1),
          x.getDimSize(2), w.getDimSize(1)};
}

/// Checks the shapes of the operands and returns the type of the result. Each
/// cell takes `cellWidth` elements of the cell state.
template <class Adaptor>
static FailureOr<RankedTensorType> inferLstm(std::optional<Location> location,
                                             Adaptor adaptor,
                                             int64_t cellWidth) {
  RankedTensorType x = getPlain(adaptor.getX()), w = getPlain(adaptor.getW());
  if (x.getRank() != 3 || w.getRank() != 3)
    return emitOptionalError(location,
                             "needs sequences and weights of 3 axes, "
                             "not a ",
                             x, " and a ", w);
  LstmSizes sizes = getSizes(x, w, adaptor.getTimeMajor());
  int64_t batch = sizes.batch, input = sizes.input, units = sizes.units;
  auto check = [&](Value value, StringRef what, ArrayRef<int64_t> shape) {
    return getPlain(value).getShape() == shape
               ? success()
               : emitOptionalError(location, "has ", what, " of type ",
                                   getPlain(value), " for ", units,
                                   " cells and sequences of type ", x);
  };
  if (failed(check(adaptor.getW(), "weights", {4, units, input})) ||
      failed(check(adaptor.getR(), "recurrent weights", {4, units, units})) ||
      failed(check(adaptor.getBias(), "a bias", {4, units})) ||
      failed(check(adaptor.getH(), "an output state", {batch, units})) ||
      failed(check(adaptor.getC(), "a cell state", {batch, cellWidth * units})))
    return failure();
  return withShape(x, {(sizes.steps + cellWidth) * batch, units});
}

/// Returns the sizes of nn.lstm or nn.integer_lstm.
template <class Op> static LstmSizes getSizes(Op op) {
  return getSizes(getPlain(op.getX()), getPlain(op.getW()), op.getTimeMajor());
}

static Work getLstmWork(Work work, const LstmSizes &sizes) {
  int64_t cells = sizes.batch * sizes.steps * sizes.units;
  work.multiplyAdds = cells * 4 * (sizes.input + sizes.units);
  work.operations = 2 * work.multiplyAdds + 60 * cells;
  return work;
}

/// Adds the fields that the shapes of the lstm and integer_lstm families share.
static void addSizes(ShapeFields &fields, const LstmSizes &sizes,
                     bool isTimeMajor) {
  fields.add("batch", sizes.batch).add("steps", sizes.steps);
  fields.add("input", sizes.input).add("units", sizes.units);
  fields.add("time_major", static_cast<int64_t>(isTimeMajor));
}

LogicalResult LstmOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type =
      inferLstm(location, adaptor, /*cellWidth=*/1);
  if (failed(type))
    return failure();
  for (Value operand : adaptor.getOperands())
    if (getPlain(operand).getElementType() != type->getElementType())
      return emitOptionalError(location, "mixes types of elements");
  types.push_back(*type);
  return success();
}
SmallVector<RoutineCall> LstmOp::getRoutineCalls() {
  ShapeFields fields(getContext());
  addSizes(fields, getSizes(*this), getTimeMajor());
  fields.addReal("clip", getClip().convertToDouble());
  return {{"lstm", fields.get(), {0, 1, 2, 3, 4, 5}}};
}
Work LstmOp::getWork() {
  return getLstmWork(bytesOnly(*this), getSizes(*this));
}

LogicalResult FullLstmOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX()), w = getPlain(adaptor.getW()),
                   r = getPlain(adaptor.getR());
  if (x.getRank() != 3 || w.getRank() != 3 || r.getRank() != 3)
    return emitOptionalError(location,
                             "needs sequences and weights of 3 axes, "
                             "not a ",
                             x, ", a ", w, " and a ", r);
  LstmSizes sizes = getSizes(x, w, adaptor.getTimeMajor());
  int64_t units = sizes.units, output = r.getDimSize(2);
  int64_t gates = adaptor.getCoupled() ? 3 : 4;
  int64_t extras = 3 * units;
  if (adaptor.getNormalized())
    extras += gates * units;
  if (adaptor.getProjected())
    extras += output * (units + 1);
  auto has = [&](Value value, ArrayRef<int64_t> shape) {
    return getPlain(value) ==
           RankedTensorType::get(shape, Float32Type::get(x.getContext()));
  };
  if (!x.getElementType().isF32() ||
      !has(adaptor.getW(), {gates, units, sizes.input}) ||
      !has(adaptor.getR(), {gates, units, output}) ||
      !has(adaptor.getBias(), {gates, units}) ||
      !has(adaptor.getExtras(), {extras}) ||
      !has(adaptor.getH(), {sizes.batch, output}) ||
      !has(adaptor.getC(), {sizes.batch, units}) ||
      (!adaptor.getProjected() && output != units))
    return emitOptionalError(location, "has operands that do not fit ", units,
                             " cells that give ", output,
                             " elements for sequences of type ", x);
  types.push_back(RankedTensorType::get(
      {sizes.steps * sizes.batch * output + sizes.batch * units},
      x.getElementType()));
  return success();
}
SmallVector<RoutineCall> FullLstmOp::getRoutineCalls() {
  LstmSizes sizes = getSizes(*this);
  ShapeFields fields(getContext());
  fields.add("batch", sizes.batch).add("steps", sizes.steps);
  fields.add("input", sizes.input).add("units", sizes.units);
  fields.add("output", getPlain(getR()).getDimSize(2));
  fields.add("time_major", static_cast<int64_t>(getTimeMajor()));
  fields.add("coupled", static_cast<int64_t>(getCoupled()));
  fields.add("normalized", static_cast<int64_t>(getNormalized()));
  fields.add("projected", static_cast<int64_t>(getProjected()));
  fields.addReal("clip", getClip().convertToDouble());
  fields.addReal("output_clip", getOutputClip().convertToDouble());
  return {{"full_lstm", fields.get(), {0, 1, 2, 3, 4, 5, 6}}};
}
Work FullLstmOp::getWork() {
  return getLstmWork(bytesOnly(*this), getSizes(*this));
}

LogicalResult IntegerLstmOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  Type element = getPlain(adaptor.getX()).getElementType();
  bool isWide = element.isSignlessInteger(16);
  FailureOr<RankedTensorType> type =
      inferLstm(location, adaptor, /*cellWidth=*/isWide ? 1 : 2);
  if (failed(type))
    return failure();
  auto has = [](Value value, Type element, int64_t count) {
    RankedTensorType plain = getPlain(value);
    return plain.getElementType() == element && plain.getNumElements() == count;
  };
  Builder builder(type->getContext());
  Type wide = builder.getI32Type();
  for (Value weights : {adaptor.getW(), adaptor.getR()})
    if (!getPlain(weights).getElementType().isSignlessInteger(8))
      return emitOptionalError(location, "needs weights of type i8, not a ",
                               getPlain(weights));
  for (Value numbers : {adaptor.getX(), adaptor.getH(), adaptor.getC()})
    if (getPlain(numbers).getElementType() != element ||
        (!isWide && !element.isSignlessInteger(8)))
      return emitOptionalError(
          location, "needs numbers of type i8, or all of type i16, not a ",
          getPlain(numbers));
  int64_t biases = getPlain(adaptor.getBias()).getNumElements();
  Type ofBias = isWide ? builder.getI64Type() : wide;
  if (!has(adaptor.getBias(), ofBias, biases) ||
      !has(adaptor.getRbias(), ofBias, biases) ||
      !has(adaptor.getFactors(), wide, 22) ||
      !has(adaptor.getTable(), builder.getIntegerType(16, /*isSigned=*/false),
           256))
    return emitOptionalError(location, "needs two biases of type i32 (i64 "
                                       "beside i16), 22 "
                                       "factors of type i32 and a table of 256 "
                                       "numbers of type ui16");
  if (adaptor.getShift() < 0 || adaptor.getShift() > 30)
    return emitOptionalError(location, "shifts by ", adaptor.getShift(),
                             " bits");
  types.push_back(*type);
  return success();
}
SmallVector<RoutineCall> IntegerLstmOp::getRoutineCalls() {
  ShapeFields fields(getContext());
  addSizes(fields, getSizes(*this), getTimeMajor());
  fields.add("zero", getZero()).add("clip", getClip());
  fields.add("multiplier", getMultiplier()).add("shift", getShift());
  fields.add("single", static_cast<int64_t>(getSingle()));
  return {{"integer_lstm", fields.get(), {0, 1, 2, 3, 4, 5, 6, 7, 8}}};
}
Work IntegerLstmOp::getWork() {
  return getLstmWork(bytesOnly(*this), getSizes(*this));
}

//===----------------------------------------------------------------------===//
// nn.recurrent
//===----------------------------------------------------------------------===//

/// Returns the number of gates of a cell.
static int64_t countGates(CellKind kind) {
  switch (kind) {
  case CellKind::rnn:
    return 1;
  case CellKind::gru:
    return 3;
  case CellKind::lstm:
    return 4;
  }
  llvm_unreachable("there are three kinds of cells");
}

LogicalResult RecurrentOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType sums = getPlain(adaptor.getSums());
  CellKind kind = adaptor.getKind();
  int64_t gates = countGates(kind);
  if (sums.getRank() != 4 || sums.getDimSize(2) != gates)
    return emitOptionalError(location, "needs sums of ", gates, " gates as ",
                             "steps x batch x gates x units, not a ", sums);
  int64_t steps = sums.getDimSize(0), batch = sums.getDimSize(1),
          units = sums.getDimSize(3);
  auto check = [&](Value value, StringRef what, ArrayRef<int64_t> shape) {
    return getPlain(value) == withShape(sums, shape)
               ? success()
               : emitOptionalError(location, "has ", what, " of type ",
                                   getPlain(value), " for sums of type ", sums);
  };
  bool isLstm = kind == CellKind::lstm;
  if (failed(
          check(adaptor.getR(), "recurrent weights", {gates, units, units})) ||
      failed(
          check(adaptor.getExtras(), "extras", {isLstm ? 3 * units : units})) ||
      failed(check(adaptor.getH(), "a first result", {batch, units})) ||
      failed(check(adaptor.getC(), "a first cell", {batch, units})))
    return failure();
  auto lengths = RankedTensorType::get({batch}, IntegerType::get(context, 64));
  if (getPlain(adaptor.getLengths()) != lengths ||
      adaptor.getNumbers().size() != 6)
    return emitOptionalError(location, "needs lengths of type ", lengths,
                             " and 6 numbers of activations");
  types.push_back(withShape(sums, {(steps + (isLstm ? 2 : 1)) * batch, units}));
  return success();
}
SmallVector<RoutineCall> RecurrentOp::getRoutineCalls() {
  RankedTensorType sums = getPlain(getSums());
  ShapeFields fields(getContext());
  fields.add("kind", static_cast<int64_t>(getKind()));
  fields.add("steps", sums.getDimSize(0)).add("batch", sums.getDimSize(1));
  fields.add("units", sums.getDimSize(3));
  fields.add("reverse", static_cast<int64_t>(getReverse()));
  fields.add("reset_after", static_cast<int64_t>(getResetAfter()));
  fields.add("coupled", static_cast<int64_t>(getCoupled()));
  fields.add("f", static_cast<int64_t>(getF()));
  fields.add("g", static_cast<int64_t>(getG()));
  fields.add("h", static_cast<int64_t>(getHActivation()));
  fields.addReal("clip", getClip().convertToDouble());
  static constexpr StringLiteral names[] = {"f_alpha", "f_beta",  "g_alpha",
                                            "g_beta",  "h_alpha", "h_beta"};
  for (auto [name, number] : llvm::zip_equal(names, getNumbers()))
    fields.addReal(name, number);
  return {{"recurrent", fields.get(), {0, 1, 2, 3, 4, 5}}};
}
Work RecurrentOp::getWork() {
  RankedTensorType sums = getPlain(getSums());
  Work work = bytesOnly(*this);
  work.multiplyAdds = sums.getNumElements() * sums.getDimSize(3);
  // An activation takes about twenty operations.
  work.operations = 2 * work.multiplyAdds + 20 * sums.getNumElements();
  return work;
}
