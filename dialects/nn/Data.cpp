//===- Data.cpp - Ops that only move elements -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Most become calls of the `copy` family: strides on both sides.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

static int64_t product(ArrayRef<int64_t> dims) {
  int64_t result = 1;
  for (int64_t dim : dims)
    result *= dim;
  return result;
}

static SmallVector<int64_t> getStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

static RankedTensorType getPlain(Value value) {
  return getLogicalType(cast<RankedTensorType>(value.getType()));
}

static RankedTensorType withShape(RankedTensorType type,
                                  ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, type.getElementType());
}

/// A `copy` of `dims` elements between two strided places. Axes that both sides
/// walk as one become one.
static RoutineCall makeCopy(MLIRContext *context, ArrayRef<int64_t> dims,
                            ArrayRef<int64_t> source, ArrayRef<int64_t> target,
                            int64_t sourceOffset, int64_t targetOffset,
                            unsigned operand) {
  SmallVector<int64_t> d, s, t;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1)
      continue;
    if (!d.empty() && s.back() == source[i] * dims[i] &&
        t.back() == target[i] * dims[i]) {
      d.back() *= dims[i];
      s.back() = source[i];
      t.back() = target[i];
      continue;
    }
    d.push_back(dims[i]);
    s.push_back(source[i]);
    t.push_back(target[i]);
  }
  if (d.empty()) {
    d.push_back(1);
    s.push_back(1);
    t.push_back(1);
  }
  ShapeFields fields(context);
  fields.add("rank", d.size()).add("dims", d);
  fields.add("src_strides", s).add("dst_strides", t);
  fields.add("src_offset", sourceOffset).add("dst_offset", targetOffset);
  return {"copy", fields.get(), {operand}};
}

//===----------------------------------------------------------------------===//
// nn.constant
//===----------------------------------------------------------------------===//

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseAttribute(value, "value", result.attributes))
    return failure();
  Type type = value.getType();
  if (succeeded(parser.parseOptionalArrow()) && parser.parseType(type))
    return failure();
  result.addTypes(type);
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << " " << getValue();
  if (getValue().getType() != getY().getType())
    printer << " -> " << getY().getType();
}

void ConstantOp::getAsmResultNames(
    function_ref<void(Value, StringRef)> setName) {
  setName(getY(), "cst");
}

LogicalResult ConstantOp::verify() {
  if (getValue().getShapedType() != getLogicalType(getY().getType()))
    return emitOpError("has a value of type ")
           << getValue().getShapedType() << " and a result of type "
           << getY().getType();
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// nn.adapt
//===----------------------------------------------------------------------===//

LogicalResult AdaptOp::verify() {
  if (!haveSameLogicalTypes(getX().getType(), getY().getType()))
    return emitOpError("changes more than the layout");
  return success();
}

OpFoldResult AdaptOp::fold(FoldAdaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  auto inner = getX().getDefiningOp<AdaptOp>();
  if (!inner)
    return {};
  if (inner.getX().getType() == getY().getType())
    return inner.getX();
  getXMutable().assign(inner.getX());
  removeRoutineAttr(); // it was chosen for another pair of layouts
  removeParamsAttr();
  return getY();
}

bool AdaptOp::isView() { return isViewOf(getY().getType(), getX().getType()); }

/// Channel block of an NCHW or NCHW[x]c type: 1 for plain, 0 for any other.
static int64_t getChannelBlock(RankedTensorType type) {
  LayoutAttr layout = getLayout(type);
  if (!layout)
    return type.getRank() == 4 ? 1 : 0;
  auto blocks = layout.getBlocks();
  bool isBlocked = layout.getName().starts_with("NCHW") && blocks.size() == 1 &&
                   blocks[0].axis == 1;
  return isBlocked ? blocks[0].size : 0;
}

SmallVector<RoutineCall> AdaptOp::getRoutineCalls() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  int64_t from = getChannelBlock(x), to = getChannelBlock(y);
  if (from > 0 && to > 0) {
    ShapeFields fields(getContext());
    fields.add("n", x.getDimSize(0)).add("c", x.getDimSize(1));
    fields.add("h", x.getDimSize(2)).add("w", x.getDimSize(3));
    fields.add("block_in", from).add("block_out", to);
    return {{"adapt", fields.get(), {0}}};
  }
  // One side is plain and the other a permutation or divides without padding:
  // walk the other's physical order, the plain side by steps of its strides.
  RankedTensorType other = getLayout(x) ? x : y;
  SmallVector<int64_t> logical = getStrides(other.getShape()), plain;
  SmallVector<int64_t> physical = getPhysicalShape(other);
  for (auto [axis, step] : getLayout(other).getPhysicalSteps())
    plain.push_back(logical[axis] * step);
  SmallVector<int64_t> dense = getStrides(physical);
  bool packs = other == y;
  return {makeCopy(getContext(), physical, packs ? plain : dense,
                   packs ? dense : plain, 0, 0, 0)};
}
Work AdaptOp::getWork() { return bytesOnly(*this); }

//===----------------------------------------------------------------------===//
// nn.reshape
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  if (x.getElementType() != y.getElementType() ||
      x.getNumElements() != y.getNumElements())
    return emitOpError("cannot turn ") << x << " into " << y;
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  if (auto inner = getX().getDefiningOp<ReshapeOp>()) {
    getXMutable().assign(inner.getX());
    return getY();
  }
  auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX());
  if (dense && !getLayout(getY().getType()))
    return dense.reshape(getY().getType());
  if (auto blob = dyn_cast_or_null<DenseResourceElementsAttr>(adaptor.getX());
      blob && !getLayout(getY().getType()))
    return DenseResourceElementsAttr::get(getY().getType(),
                                          blob.getRawHandle());
  return {};
}

LayoutClass ReshapeOp::getLayoutClass() { return LayoutClass::Dependent; }
SmallVector<RoutineCall> ReshapeOp::getRoutineCalls() {
  int64_t elements = getX().getType().getNumElements();
  return {makeCopy(getContext(), elements, 1, 1, 0, 0, 0)};
}
Work ReshapeOp::getWork() { return {}; }

//===----------------------------------------------------------------------===//
// nn.transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  SmallVector<int64_t> sorted(adaptor.getPermutation());
  llvm::sort(sorted);
  if (sorted != llvm::to_vector(llvm::seq<int64_t>(0, x.getRank())))
    return emitOptionalError(location, "needs a permutation of ", x.getRank(),
                             " axes");
  SmallVector<int64_t> shape;
  for (int64_t axis : adaptor.getPermutation())
    shape.push_back(x.getDimSize(axis));
  types.push_back(withShape(x, shape));
  return success();
}
LayoutClass TransposeOp::getLayoutClass() { return LayoutClass::Dependent; }
SmallVector<RoutineCall> TransposeOp::getRoutineCalls() {
  SmallVector<int64_t> strides = getStrides(getX().getType().getShape()),
                       source;
  for (int64_t axis : getPermutation())
    source.push_back(strides[axis]);
  ArrayRef<int64_t> dims = getY().getType().getShape();
  return {makeCopy(getContext(), dims, source, getStrides(dims), 0, 0, 0)};
}
Work TransposeOp::getWork() { return bytesOnly(*this); }

//===----------------------------------------------------------------------===//
// nn.expand
//===----------------------------------------------------------------------===//

LogicalResult ExpandOp::verify() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  auto shape = broadcastShapes({x.getShape(), y.getShape()});
  if (x.getElementType() != y.getElementType() || !shape ||
      ArrayRef<int64_t>(*shape) != y.getShape())
    return emitOpError("cannot broadcast ") << x << " to " << y;
  return success();
}
LayoutClass ExpandOp::getLayoutClass() { return LayoutClass::Dependent; }
SmallVector<RoutineCall> ExpandOp::getRoutineCalls() {
  ArrayRef<int64_t> x = getX().getType().getShape(),
                    y = getY().getType().getShape();
  SmallVector<int64_t> own = getStrides(x), source(y.size() - x.size(), 0);
  for (size_t i = 0; i < x.size(); ++i)
    source.push_back(x[i] == 1 ? 0 : own[i]);
  return {makeCopy(getContext(), y, source, getStrides(y), 0, 0, 0)};
}
Work ExpandOp::getWork() { return bytesOnly(*this); }

//===----------------------------------------------------------------------===//
// nn.concat
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getXs().empty())
    return emitOptionalError(location, "needs an operand");
  RankedTensorType first = getPlain(adaptor.getXs().front());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= first.getRank())
    return emitOptionalError(location, "has axis ", axis,
                             " of a tensor of rank ", first.getRank());
  SmallVector<int64_t> shape(first.getShape());
  shape[axis] = 0;
  for (Value x : adaptor.getXs()) {
    SmallVector<int64_t> own(getPlain(x).getShape());
    if (own.size() != shape.size())
      return emitOptionalError(location, "joins tensors of different rank");
    int64_t size = std::exchange(own[axis], shape[axis]);
    if (own != shape)
      return emitOptionalError(location,
                               "joins shapes that differ besides axis ", axis);
    shape[axis] += size;
  }
  types.push_back(withShape(first, shape));
  return success();
}
LayoutClass ConcatOp::getLayoutClass() { return LayoutClass::Tolerant; }
SmallVector<RoutineCall> ConcatOp::getRoutineCalls() {
  SmallVector<RankedTensorType> parts;
  for (Value x : getXs())
    parts.push_back(getPlain(x));
  return getRoutineCallsOn(parts, getPlain(getY()));
}
SmallVector<RoutineCall>
ConcatOp::getRoutineCallsOn(ArrayRef<RankedTensorType> parts,
                            RankedTensorType result) {
  int64_t block = getBlockSize(result, getAxis());
  unsigned dim = getOuterDim(result, getAxis());
  SmallVector<int64_t> target = getStrides(getPhysicalShape(result));
  SmallVector<RoutineCall> calls;
  int64_t offset = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    if (getLayout(part) != getLayout(result) ||
        part.getDimSize(getAxis()) % block != 0)
      return {};
    SmallVector<int64_t> dims = getPhysicalShape(part);
    calls.push_back(
        makeCopy(getContext(), dims, getStrides(dims), target, 0, offset, i));
    offset += dims[dim] * target[dim];
  }
  return calls;
}
Work ConcatOp::getWork() { return bytesOnly(*this); }

//===----------------------------------------------------------------------===//
// nn.slice
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  ArrayRef<int64_t> starts = adaptor.getStarts(), sizes = adaptor.getSizes(),
                    steps = adaptor.getSteps();
  size_t rank = x.getRank();
  if (starts.size() != rank || sizes.size() != rank || steps.size() != rank)
    return emitOptionalError(location, "needs starts, sizes and steps of ",
                             rank, " values");
  for (size_t i = 0; i < rank; ++i) {
    int64_t last = starts[i] + (sizes[i] - 1) * steps[i], dim = x.getDimSize(i);
    bool inside = starts[i] >= 0 && starts[i] < dim && last >= 0 && last < dim;
    if (sizes[i] < 0 || steps[i] == 0 || (sizes[i] > 0 && !inside))
      return emitOptionalError(location, "leaves its input along axis ", i);
  }
  types.push_back(withShape(x, sizes));
  return success();
}
LayoutClass SliceOp::getLayoutClass() { return LayoutClass::Tolerant; }
SmallVector<RoutineCall> SliceOp::getRoutineCalls() {
  return getRoutineCallsOn(getPlain(getX()), getPlain(getY()));
}
SmallVector<RoutineCall>
SliceOp::getRoutineCallsOn(ArrayRef<RankedTensorType> inputs,
                           RankedTensorType result) {
  RankedTensorType x = inputs.front();
  if (getLayout(x) != getLayout(result))
    return {};
  SmallVector<int64_t> source = getStrides(getPhysicalShape(x));
  int64_t offset = 0;
  for (int64_t axis = 0; axis < x.getRank(); ++axis) {
    int64_t start = getStarts()[axis], size = getSizes()[axis],
            step = getSteps()[axis], block = getBlockSize(x, axis);
    // Whole blocks only; the last may be the source's own padded one.
    bool whole = start % block == 0 && step == 1 &&
                 (size % block == 0 || start + size == x.getDimSize(axis));
    if (block > 1 && !whole)
      return {};
    unsigned dim = getOuterDim(x, axis);
    offset += start / block * source[dim];
    source[dim] *= step;
  }
  SmallVector<int64_t> dims = getPhysicalShape(result);
  return {makeCopy(getContext(), dims, source, getStrides(dims), offset, 0, 0)};
}
Work SliceOp::getWork() {
  Work work = bytesOnly(*this);
  work.bytesRead = work.bytesWritten;
  return work;
}

//===----------------------------------------------------------------------===//
// nn.pad
//===----------------------------------------------------------------------===//

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  ArrayRef<int64_t> pads = adaptor.getPads();
  if (static_cast<int64_t>(pads.size()) != 2 * x.getRank())
    return emitOptionalError(location, "needs pads of ", 2 * x.getRank(),
                             " values");
  SmallVector<int64_t> shape(x.getShape());
  for (size_t i = 0; i < shape.size(); ++i) {
    shape[i] += pads[i] + pads[shape.size() + i];
    if (shape[i] < 0)
      return emitOptionalError(location, "removes more than there is of axis ",
                               i);
  }
  types.push_back(withShape(x, shape));
  return success();
}
LayoutClass PadOp::getLayoutClass() { return LayoutClass::Tolerant; }
SmallVector<RoutineCall> PadOp::getRoutineCalls() {
  return getRoutineCallsOn(getPlain(getX()), getPlain(getY()));
}
SmallVector<RoutineCall>
PadOp::getRoutineCallsOn(ArrayRef<RankedTensorType> inputs,
                         RankedTensorType result) {
  RankedTensorType x = inputs.front();
  double value = getValue().convertToDouble();
  if (getLayout(x) != getLayout(result) || (isPadded(x) && value != 0.0))
    return {};
  SmallVector<int64_t> dims = getPhysicalShape(result), before(dims.size(), 0);
  for (int64_t axis = 0; axis < x.getRank(); ++axis) {
    int64_t first = getPads()[axis], last = getPads()[x.getRank() + axis];
    if (getBlockSize(x, axis) > 1 && (first != 0 || last != 0))
      return {};
    before[getOuterDim(x, axis)] = first;
  }
  ShapeFields fields(getContext());
  fields.add("rank", dims.size()).add("dims", dims);
  fields.add("in_dims", getPhysicalShape(x)).add("before", before);
  fields.add("mode", static_cast<int64_t>(getMode()));
  fields.addReal("value", value);
  return {{"pad", fields.get(), {0}}};
}
Work PadOp::getWork() { return bytesOnly(*this); }

//===----------------------------------------------------------------------===//
// nn.gather
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= x.getRank())
    return emitOptionalError(location, "has axis ", axis,
                             " of a tensor of rank ", x.getRank());
  SmallVector<int64_t> shape(x.getShape().take_front(axis));
  llvm::append_range(shape, getPlain(adaptor.getIndices()).getShape());
  llvm::append_range(shape, x.getShape().drop_front(axis + 1));
  types.push_back(withShape(x, shape));
  return success();
}
LayoutClass GatherOp::getLayoutClass() { return LayoutClass::Dependent; }
SmallVector<RoutineCall> GatherOp::getRoutineCalls() {
  ArrayRef<int64_t> x = getX().getType().getShape();
  ShapeFields fields(getContext());
  fields.add("outer", product(x.take_front(getAxis())));
  fields.add("axis_size", x[getAxis()]);
  fields.add("inner", product(x.drop_front(getAxis() + 1)));
  fields.add("count", getIndices().getType().getNumElements());
  return {{"gather", fields.get(), {0, 1}}};
}
Work GatherOp::getWork() {
  Work work = bytesOnly(*this);
  work.bytesRead = work.bytesWritten;
  return work;
}
