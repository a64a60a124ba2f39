//===- StoredConv.cpp - nn.stored_conv ------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/convolution/SlidingWindow.h"
#include "runtime/routines/stored_weights/stored_conv2d/shape.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
/// The fields of a stored_conv2d_shape that determine which weights are stored.
struct Filters {
  int64_t k, c, kh, kw, order;
};
} // namespace

/// Returns the type of the uncompressed weights of the equivalent nn.conv.
template <class Op>
static RankedTensorType getWeightType(Op op, RankedTensorType x) {
  SmallVector<int64_t> shape = {static_cast<int64_t>(op.getFilters()),
                                x.getDimSize(1)};
  llvm::append_range(shape, op.getKernel());
  Type element = x.getElementType().isF32()
                     ? x.getElementType()
                     : Type(IntegerType::get(x.getContext(), 8));
  return RankedTensorType::get(shape, element);
}

LogicalResult StoredConvOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  RankedTensorType x = getTensorType(adaptor.getX()),
                   w = getTensorType(adaptor.getW());
  if (w.getRank() != 1 || !w.getElementType().isUnsignedInteger(8))
    return emitOptionalError(
        location,
        "reads weights of bytes, a tensor of ui8 with one axis; found ", w);
  if (x.getRank() != 3 && x.getRank() != 4)
    return emitOptionalError(location, "needs 1 or 2 spatial axes, not ",
                             x.getRank() - 2);
  if (adaptor.getFilters() < 1 || adaptor.getStrip() < 1 ||
      llvm::any_of(adaptor.getKernel(), [](int64_t size) { return size < 1; }))
    return emitOptionalError(location,
                             "needs a kernel, filters and a strip of at least "
                             "one each");
  int64_t order = adaptor.getOrder();
  if (order < 0 || order >= stored_filters_count)
    return emitOptionalError(location, "has weights in the order ", order,
                             ", which is not one of 0 to ",
                             stored_filters_count - 1);
  RankedTensorType weight = getWeightType(adaptor, x);
  SmallVector<int64_t> shape;
  if (failed(inferConv(location, x, weight, adaptor.getStrides(),
                       adaptor.getDilations(), adaptor.getPads(), 1, shape)) ||
      failed(verifyFill(location, x, adaptor.getFill())))
    return failure();
  ArrayRef<int64_t> sizes = weight.getShape();
  Filters filters{sizes[0], sizes[1], x.getRank() == 3 ? 1 : sizes[2],
                  sizes.back(), order};
  int64_t elements = stored_filters_elements(filters);
  int64_t found = adaptor.getShape().getInt("elements");
  if (found != elements)
    return emitOptionalError(location, "has filters of ", elements,
                             " weights, padding included; its shape has ",
                             found);
  std::string problem =
      DecodeOp::findShapeProblem(adaptor.getShape(), w.getNumElements(),
                                 getElementBytes(weight.getElementType()));
  if (!problem.empty())
    return emitOptionalError(location, "has a shape ", problem);
  Type element;
  if (failed(inferAccumulator(location, x.getElementType(),
                              weight.getElementType(), adaptor.getAccumulator(),
                              element)))
    return failure();
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

bool StoredConvOp::isLayoutTolerant() { return true; }

std::optional<int64_t> StoredConvOp::getChannelAxis() { return 1; }

Type StoredConvOp::getAccumulatorType() {
  return getAccumulator().value_or(Type());
}

int64_t StoredConvOp::getWeightBytes() {
  RankedTensorType weight = getWeightType(*this, getX().getType());
  return weight.getNumElements() * getElementBytes(weight.getElementType());
}

SmallVector<RoutineCall> StoredConvOp::getRoutineCalls() {
  RankedTensorType y = getY().getType();
  ShapeFields fields = getImageFields(getX().getType());
  fields.add("k", getFilters());
  addWindow(fields, {getKernel(), getStrides(), getDilations(), getPads()});
  addOutput(fields, y);
  fields.add("groups", 1).add("fill", getFill());
  decode_shape decoded = {};
  decoded.visit([&](const char *name, int) {
    fields.add(name, getShape().getInt(name));
  });
  fields.add("order", getOrder()).add("strip", getStrip());
  return {{"stored_conv2d", fields.get(), {0, 1}}};
}

Work StoredConvOp::getWork() {
  Work work = bytesOnly(*this);
  int64_t taps = getX().getType().getDimSize(1) * product(getKernel());
  work.multiplyAdds = getY().getType().getNumElements() * taps;
  return work;
}
