//===- Elementwise.cpp - Common code of elementwise ops -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns the float type of the same size for an integer type, the integer
/// type of the same size for a float type, or null if there is none.
static Type getTypeOfBits(Type type) {
  Builder builder(type.getContext());
  if (type.isF32())
    return builder.getI32Type();
  if (type.isF64())
    return builder.getI64Type();
  if (type.isSignlessInteger(32))
    return builder.getF32Type();
  if (type.isSignlessInteger(64))
    return builder.getF64Type();
  return {};
}

LogicalResult nn::inferElementwise(std::optional<Location> location,
                                   ValueRange operands, StringRef element,
                                   SmallVectorImpl<Type> &types) {
  MLIRContext *context = operands.front().getContext();
  auto tensors = llvm::count_if(operands, [](Value value) {
    return isa<RankedTensorType>(value.getType());
  });
  if (tensors != 0 && tensors != static_cast<int64_t>(operands.size()))
    return emitOptionalError(location, "mixes tensors and scalars");
  Value like = element == "last" ? operands.back() : operands.front();
  Type type = element == "bool" ? Type(IntegerType::get(context, 1))
                                : getElementTypeOrSelf(like.getType());
  if (element == "bits") {
    Type bits = getTypeOfBits(type);
    if (!bits)
      return emitOptionalError(location, "has no type with the bits of ", type);
    type = bits;
  }
  if (tensors == 0) {
    types.push_back(type);
    return success();
  }
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Value value : operands)
    shapes.push_back(cast<RankedTensorType>(value.getType()).getShape());
  auto shape = broadcastShapes(shapes);
  if (!shape)
    return emitOptionalError(location, "has operands that do not broadcast");
  // The result has the layout of an operand that is not broadcast.
  Attribute layout;
  for (Value value : operands) {
    auto tensor = cast<RankedTensorType>(value.getType());
    if (tensor.getShape() == ArrayRef<int64_t>(*shape) && !layout)
      layout = tensor.getEncoding();
  }
  types.push_back(RankedTensorType::get(*shape, type, layout));
  return success();
}

/// Returns the strides of `operand`, in elements, along each physical dimension
/// of `result`; 0 for dimensions along which it is broadcast. An operand whose
/// layout only orders its axes may have any shape that broadcasts; one in
/// another layout must have the result's layout.
static SmallVector<int64_t> getOperandStrides(RankedTensorType result,
                                              RankedTensorType operand) {
  int64_t lead = result.getRank() - operand.getRank();
  SmallVector<int64_t> strides;
  LayoutAttr layout = getLayout(result);
  SmallVector<std::pair<unsigned, int64_t>> steps;
  if (layout)
    steps = layout.getPhysicalSteps();
  else
    for (int64_t axis = 0; axis < result.getRank(); ++axis)
      steps.push_back({static_cast<unsigned>(axis), 1});
  SmallVector<int64_t> own(operand.getRank(), 1);
  SmallVector<int64_t> dense(steps.size(), 1);
  SmallVector<int64_t> physical = getPhysicalShape(operand);
  bool same = layout && getLayout(operand) == layout;
  SmallVector<std::pair<unsigned, int64_t>> ordered;
  if (LayoutAttr other = getLayout(operand); other && !same)
    ordered = other.getPhysicalSteps();
  else
    for (int64_t axis = 0; axis < operand.getRank(); ++axis)
      ordered.push_back({static_cast<unsigned>(axis), 1});
  int64_t count = 1;
  for (auto [axis, step] : llvm::reverse(ordered)) {
    own[axis] = count;
    count *= operand.getDimSize(axis);
  }
  if (same)
    for (size_t i = dense.size(); i-- > 1;)
      dense[i - 1] = dense[i] * physical[i];
  for (auto [dim, entry] : llvm::enumerate(steps)) {
    int64_t axis = static_cast<int64_t>(entry.first) - lead;
    if (axis < 0 || operand.getDimSize(axis) == 1)
      strides.push_back(0);
    else
      strides.push_back(same ? dense[dim] : own[axis] * entry.second);
  }
  return strides;
}

/// Returns the number of outer physical dimensions that enumerate planes of an
/// image in a blocked layout: batch and channel blocks. Returns 0 for other
/// values and for images of one pixel.
static size_t countPlaneDims(RankedTensorType result) {
  LayoutAttr layout = getLayout(result);
  if (!layout || result.getRank() < 3 ||
      ShapedType::getNumElements(result.getShape().drop_front(2)) == 1)
    return 0;
  SmallVector<std::pair<unsigned, int64_t>> steps = layout.getPhysicalSteps();
  return llvm::find_if(steps, [](auto step) { return step.first > 1; }) -
         steps.begin();
}

RoutineCall nn::getElementwiseCall(RankedTensorType result, TypeRange types) {
  SmallVector<int64_t> dims = getPhysicalShape(result);
  SmallVector<SmallVector<int64_t>> strides;
  SmallVector<unsigned> operands;
  for (auto [i, type] : llvm::enumerate(types)) {
    strides.push_back(getOperandStrides(result, cast<RankedTensorType>(type)));
    operands.push_back(i);
  }
  // Merges neighbouring dimensions that are contiguous in every operand.
  const size_t outer = countPlaneDims(result);
  const int64_t planes =
      ShapedType::getNumElements(ArrayRef(dims).take_front(outer));
  const int64_t pixels =
      outer ? ShapedType::getNumElements(result.getShape().drop_front(2)) : 1;
  bool closed = false; // nothing is merged with the planes' dimension
  SmallVector<int64_t> merged;
  SmallVector<SmallVector<int64_t>> mergedStrides(strides.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    closed = closed || (d == outer && planes > 1);
    if (dims[d] == 1)
      continue;
    bool joins = !merged.empty() && !std::exchange(closed, false);
    for (size_t i = 0; i < strides.size() && joins; ++i)
      joins = mergedStrides[i].back() == strides[i][d] * dims[d];
    if (joins)
      merged.back() *= dims[d];
    else
      merged.push_back(dims[d]);
    for (size_t i = 0; i < strides.size(); ++i) {
      if (joins)
        mergedStrides[i].back() = strides[i][d];
      else
        mergedStrides[i].push_back(strides[i][d]);
    }
  }
  if (merged.empty()) {
    merged.push_back(1);
    for (auto &row : mergedStrides)
      row.push_back(0);
  }
  ShapeFields fields(result.getContext());
  fields.add("rank", merged.size()).add("dims", merged);
  fields.addRows("strides", mergedStrides);
  fields.add("planes", planes).add("pixels", pixels);
  return {"elementwise", fields.get(), operands};
}

//===----------------------------------------------------------------------===//
// nn.cast
//===----------------------------------------------------------------------===//

/// Verifies that operand and result of `op`, whose element types may differ,
/// have the same shape.
static LogicalResult verifySameShape(Operation *op) {
  auto x = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto y = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (bool(x) != bool(y))
    return op->emitOpError("mixes a tensor and a scalar");
  if (x && x.getShape() != y.getShape())
    return op->emitOpError("changes the shape");
  return success();
}

LogicalResult CastOp::verify() { return verifySameShape(*this); }

/// Returns true if `to` represents every value of `from`.
static bool holdsAll(Type to, Type from) {
  if (from == to)
    return true;
  auto toFloat = dyn_cast<FloatType>(to), fromFloat = dyn_cast<FloatType>(from);
  auto toInt = dyn_cast<IntegerType>(to), fromInt = dyn_cast<IntegerType>(from);
  if (toFloat && fromFloat)
    return toFloat.getWidth() > fromFloat.getWidth();
  if (toInt && toInt.getWidth() == 1)
    return false;
  unsigned digits = fromInt ? fromInt.getWidth() - !fromInt.isUnsigned() : 0;
  if (fromInt && fromInt.getWidth() == 1)
    digits = 1;
  if (toFloat && fromInt)
    return toFloat.getFPMantissaWidth() >= digits;
  if (!toInt || !fromInt)
    return false;
  bool fromSigned = !fromInt.isUnsigned() && fromInt.getWidth() != 1;
  return toInt.getWidth() - !toInt.isUnsigned() >= digits &&
         (!toInt.isUnsigned() || !fromSigned);
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  // A cast through a type that represents all values of the first one can be
  // skipped.
  auto inner = getX().getDefiningOp<CastOp>();
  if (!inner || !holdsAll(getElementTypeOrSelf(inner.getY().getType()),
                          getElementTypeOrSelf(inner.getX().getType())))
    return {};
  if (inner.getX().getType() == getY().getType())
    return inner.getX();
  getXMutable().assign(inner.getX());
  return getY();
}

StringRef CastOp::getFunction() { return "cast"; }
SmallVector<double> CastOp::getScalars() { return {}; }
Work CastOp::getWork() { return elementwiseWork(*this); }

//===----------------------------------------------------------------------===//
// nn.encode_float, nn.decode_float
//===----------------------------------------------------------------------===//

StringRef nn::getSmallFloatFunction(StringRef format, bool isEncoded) {
  // The functions of runtime/routines/elementwise/functions.inc.
#define NNC_FORMAT(NAME)                                                       \
  .Case(#NAME, isEncoded ? "encode_" #NAME : "decode_" #NAME)
  return llvm::StringSwitch<StringRef>(format)
      // clang-format off
      NNC_FORMAT(e2m1) NNC_FORMAT(e2m3) NNC_FORMAT(e3m2) NNC_FORMAT(e4m3fn)
      NNC_FORMAT(e4m3fnuz) NNC_FORMAT(e5m10) NNC_FORMAT(e5m2)
      NNC_FORMAT(e5m2fnuz) NNC_FORMAT(e8m0) NNC_FORMAT(e8m7)
                  // clang-format on
                  .Default("");
#undef NNC_FORMAT
}

/// Verifies an op on the codes of a format of small floats.
template <class Op> static LogicalResult verifySmallFloat(Op op) {
  if (op.getFunction().empty())
    return op.emitOpError("knows no format '") << op.getFormat() << "'";
  Type type = getElementTypeOrSelf(op.getX().getType());
  if (!type.isF32())
    return op.emitOpError("needs operands of f32, not ") << type;
  return success();
}

LogicalResult EncodeFloatOp::verify() {
  if (failed(verifySmallFloat(*this)))
    return failure();
  if (getRounding().has_value() != (getFormat() == "e8m0"))
    return emitOpError("needs a rounding for the format e8m0, and for no "
                       "other");
  return success();
}

SmallVector<double> EncodeFloatOp::getEncodingScalars() {
  SmallVector<double> scalars = {getSaturate() ? 1.0 : 0.0};
  if (getRounding())
    scalars.push_back(getRounding()->convertToDouble());
  return scalars;
}

LogicalResult DecodeFloatOp::verify() { return verifySmallFloat(*this); }

//===----------------------------------------------------------------------===//
// nn.lookup
//===----------------------------------------------------------------------===//

LogicalResult LookupOp::verify() {
  Type x = getElementTypeOrSelf(getX().getType()),
       y = getElementTypeOrSelf(getY().getType());
  for (Type type : {x, y})
    if (!type.isInteger(8))
      return emitOpError("looks up integers of 8 bits, not ") << type;
  if (getTable().getType() != RankedTensorType::get({256}, y))
    return emitOpError("needs a table of ") << RankedTensorType::get({256}, y)
                                            << ", not " << getTable().getType();
  return verifySameShape(*this);
}

StringRef LookupOp::getFunction() { return "lookup"; }
SmallVector<double> LookupOp::getScalars() { return {}; }
Work LookupOp::getWork() { return elementwiseWork(*this); }
