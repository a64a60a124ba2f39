//===- Build.cpp - Building nn ops for an ONNX node -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Node.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;

bool Node::checkSize(Type type, int64_t maxBytes) {
  auto tensor = cast<RankedTensorType>(type);
  auto problem =
      findSizeProblem(tensor.getShape(), tensor.getElementType(), maxBytes);
  if (problem)
    fail(ImportStatus::limit, "has a result " + *problem);
  return !problem;
}

Value Node::infer(OperationState &state) {
  auto *inference = state.name.getInterface<InferTypeOpInterface>();
  assert(inference && "createAs() is for ops that do not infer");
  MLIRContext *context = getBuilder().getContext();
  SmallVector<Type> types;
  std::string why;
  LogicalResult result = failure();
  {
    // The op's diagnostic is reported to the user as one of the node.
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      why = diagnostic.str();
      return success();
    });
    result = inference->inferReturnTypes(
        context, loc, state.operands, state.attributes.getDictionary(context),
        state.getRawProperties(), state.regions, types);
  }
  if (failed(result))
    return broken(why);
  if (!checkSize(types[0]))
    return {};
  state.types.assign(types.begin(), types.end());
  return insert(state);
}

Value Node::insert(OperationState &state) {
  Operation *op = importer.getBuilder().create(state);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  ElementsAttr value;
  // An empty result becomes a constant, so that routines need not handle it.
  if (type.getNumElements() == 0)
    value = DenseElementsAttr::get(type, ArrayRef<Attribute>());
  else if (auto folded = evaluate(op))
    value = makeAttribute(*folded);
  if (!value)
    return op->getResult(0);
  op->erase();
  return constant(value);
}

Value Node::createElementwise(StringRef op, ArrayRef<Value> operands,
                              ArrayRef<NamedAttribute> attributes) {
  if (llvm::is_contained(operands, Value()))
    return {};
  OperationState state(loc, ("nn." + op).str(), operands, /*types=*/{},
                       attributes);
  return infer(state);
}

Value Node::constant(ElementsAttr value) {
  return value ? importer.createConstant(value, loc) : Value();
}

Value Node::constant(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get(static_cast<int64_t>(values.size()),
                                    getBuilder().getI64Type());
  return constant(makeAttribute({type, llvm::to_vector(values), {}}));
}

Value Node::splat(TypedAttr value, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, value.getType());
  if (!checkSize(type, kMaxMadeBytes))
    return {};
  if (type.getNumElements() == 0)
    return constant(DenseElementsAttr::get(type, ArrayRef<Attribute>()));
  return constant(DenseElementsAttr::get(type, Attribute(value)));
}

Value Node::splat(double value, Type element, ArrayRef<int64_t> shape) {
  if (auto real = dyn_cast<FloatType>(element))
    return splat(FloatAttr::get(real, value), shape);
  return splat(IntegerAttr::get(element, static_cast<int64_t>(value)), shape);
}

Value Node::reshape(Value x, ArrayRef<int64_t> shape) {
  if (!x || getShape(x) == shape)
    return x;
  // A reshaped constant keeps its name and its memory.
  auto constant = x.getDefiningOp<nn::ConstantOp>();
  auto type = RankedTensorType::get(shape, getElement(x));
  if (auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                            : DenseElementsAttr())
    return importer.createConstant(dense.reshape(type), constant.getLoc());
  if (auto blob = constant
                      ? dyn_cast<DenseResourceElementsAttr>(constant.getValue())
                      : DenseResourceElementsAttr())
    return importer.createConstant(
        DenseResourceElementsAttr::get(type, blob.getRawHandle()),
        constant.getLoc());
  return createAs<nn::ReshapeOp>(type, x);
}

Value Node::transpose(Value x, ArrayRef<int64_t> permutation) {
  return llvm::is_sorted(permutation) ? x
                                      : create<nn::TransposeOp>(x, permutation);
}

Value Node::expand(Value x, ArrayRef<int64_t> shape) {
  if (!x || getShape(x) == shape)
    return x;
  auto broadcast = nn::broadcastShapes({getShape(x), shape});
  if (!broadcast || ArrayRef<int64_t>(*broadcast) != shape)
    return broken("cannot expand a tensor of shape " + toString(getShape(x)) +
                  " to " + toString(shape));
  return createAs<nn::ExpandOp>(RankedTensorType::get(shape, getElement(x)), x);
}

Value Node::castTo(Value x, Type element) {
  if (!x || getElement(x) == element)
    return x;
  return createAs<nn::CastOp>(RankedTensorType::get(getShape(x), element), x);
}
