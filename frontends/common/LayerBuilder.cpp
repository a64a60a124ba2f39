//===- LayerBuilder.cpp - Builds the nn ops of one layer of a model -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/LayerBuilder.h"

#include "dialects/nn/tensors/Empty.h"
#include "frontends/common/Fold.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

SmallVector<int64_t> nnc::frontends::iota(int64_t count) {
  return llvm::to_vector(llvm::seq<int64_t>(0, count));
}

int64_t nnc::frontends::product(ArrayRef<int64_t> sizes) {
  return ShapedType::getNumElements(sizes);
}

Value LayerBuilder::fail(ImportStatus status, const Twine &why,
                         const Twine &expected, const Twine &found) {
  auto diagnostic = problems.report(status, loc, op);
  diagnostic << op << " " << why;
  if (!expected.isTriviallyEmpty())
    addExpectation(diagnostic, expected, found);
  return {};
}

//===----------------------------------------------------------------------===//
// Known values
//===----------------------------------------------------------------------===//

StringAttr nnc::frontends::getInputName(Value value) {
  auto argument = value ? dyn_cast<BlockArgument>(value) : BlockArgument();
  auto main = argument
                  ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                  : func::FuncOp();
  return main ? main.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                  nn::kNameAttr)
              : StringAttr();
}

Value LayerBuilder::needsKnown(Value value, const Twine &what) {
  if (StringAttr name = getInputName(value))
    return fail(
        ImportStatus::unsupported,
        "needs " + what +
            " that are known when compiling; here they are the input '" +
            name.getValue() + "': pass --value=" + name.getValue() +
            "=... with what it is going to hold",
        what + " that are constants", "an input");
  return fail(ImportStatus::unsupported,
              "needs " + what +
                  " that are known when compiling; here they are computed from "
                  "the network's inputs",
              what + " that are constants", "values that the network computes");
}

std::optional<SmallVector<int64_t>> LayerBuilder::readInts(Value value,
                                                           StringRef what) {
  auto elements = value ? readElements(value) : std::nullopt;
  if (elements && !elements->isReal())
    return elements->ints;
  needsKnown(value, what);
  return std::nullopt;
}

std::optional<SmallVector<double>> LayerBuilder::readReals(Value value,
                                                           StringRef what) {
  auto elements = value ? readElements(value) : std::nullopt;
  if (elements && elements->isReal())
    return elements->reals;
  if (elements)
    return SmallVector<double>(elements->ints.begin(), elements->ints.end());
  needsKnown(value, what);
  return std::nullopt;
}

std::optional<int64_t> LayerBuilder::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  fail(ImportStatus::broken,
       "has axis " + Twine(axis) + " of a tensor of " + Twine(rank) + " axes",
       "an axis from " + Twine(-rank) + " to " + Twine(rank - 1), Twine(axis));
  return std::nullopt;
}

bool LayerBuilder::normalizeAxes(MutableArrayRef<int64_t> axes, int64_t rank) {
  for (int64_t &axis : axes) {
    auto normal = normalizeAxis(axis, rank);
    if (!normal)
      return false;
    axis = *normal;
  }
  SmallVector<int64_t> sorted(axes);
  llvm::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end())
    return true;
  broken("names an axis twice");
  return false;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

bool LayerBuilder::checkSize(Type type, bool isMade) {
  auto tensor = cast<RankedTensorType>(type);
  auto problem = findSizeProblem(tensor.getShape(), tensor.getElementType(),
                                 getLimits(), isMade);
  if (problem)
    fail(ImportStatus::limit, "has a result " + *problem);
  return !problem;
}

/// Returns the text of a diagnostic with types in the form 1x3xi8 instead of
/// 'tensor<1x3xi8>'.
static std::string withPlainTypes(StringRef text) {
  std::string plain;
  for (StringRef open = "'tensor<"; !text.empty();) {
    size_t begin = text.find(open), end = text.find(">'", begin);
    if (end == StringRef::npos)
      return plain + text.str();
    plain += text.take_front(begin);
    plain += text.slice(begin + open.size(), end);
    text = text.drop_front(end + 2);
  }
  return plain;
}

bool LayerBuilder::check(llvm::function_ref<LogicalResult()> infer) {
  std::string why;
  LogicalResult result = failure();
  {
    ScopedDiagnosticHandler handler(getBuilder().getContext(),
                                    [&](Diagnostic &diagnostic) {
                                      why = diagnostic.str();
                                      return success();
                                    });
    result = infer();
  }
  if (failed(result))
    broken(withPlainTypes(why));
  return succeeded(result);
}

Value LayerBuilder::infer(OperationState &state) {
  auto *inference = state.name.getInterface<InferTypeOpInterface>();
  assert(inference && "createAs() is for ops that do not infer");
  MLIRContext *context = getBuilder().getContext();
  SmallVector<Type> types;
  bool isInferred = check([&] {
    return inference->inferReturnTypes(
        context, loc, state.operands, state.attributes.getDictionary(context),
        state.getRawProperties(), state.regions, types);
  });
  if (!isInferred || !checkSize(types[0]))
    return {};
  state.types.assign(types.begin(), types.end());
  return insert(state);
}

/// Returns the types of values as in "1x3xi8 and 4xf32".
static std::string describeTypes(ValueRange values) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      values, stream,
      [&](Value value) {
        auto type = cast<RankedTensorType>(value.getType());
        for (int64_t size : type.getShape())
          stream << size << "x";
        Type element = type.getElementType();
        if (auto quantized = dyn_cast<quant::QuantizedType>(element))
          element = quantized.getStorageType();
        stream << element;
      },
      " and ");
  return text;
}

bool LayerBuilder::isSound(Operation *op) {
  {
    ScopedDiagnosticHandler silent(getBuilder().getContext(),
                                   [](Diagnostic &) { return success(); });
    if (succeeded(verify(op, /*verifyRecursively=*/false)))
      return true;
  }
  unsupported("computes " + describeTypes(op->getResults()) +
              (op->getNumOperands() ? " from " : "") +
              describeTypes(op->getOperands()) +
              ", types or shapes that nnc does not handle together");
  return false;
}

Value LayerBuilder::insert(OperationState &state) {
  Operation *op = builder.create(state);
  if (!isSound(op)) {
    op->erase();
    return {};
  }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  ElementsAttr value;
  // An empty result becomes a constant, so that routines need not handle it;
  // one of a quantized type when it is lowered to integers.
  SmallVector<Value> empty;
  llvm::copy_if(op->getOperands(), std::back_inserter(empty), nn::isEmpty);
  bool isAlwaysEmpty =
      type.getNumElements() == 0 && !empty.empty() &&
      llvm::all_of(empty, [](Value value) {
        auto constant = value.getDefiningOp<nn::ConstantOp>();
        return constant && constant->hasAttr(nn::kAlwaysEmptyAttr);
      });
  if (keepsEmpty && isAlwaysEmpty && type.getElementType().isIntOrFloat()) {
    op->erase();
    return alwaysEmpty(type.getShape(), type.getElementType());
  }
  // Numbers with which the model computes are constants at other sizes, too.
  if (keepsEmpty && isa<nn::ElementwiseOpInterface>(op))
    value = foldShapes(op);
  if (keepsEmpty && !value && (type.getNumElements() == 0 || !empty.empty()))
    return op->getResult(0);
  if (!value && type.getNumElements() == 0 &&
      type.getElementType().isIntOrFloat())
    value = DenseElementsAttr::get(type, ArrayRef<Attribute>());
  else if (!value)
    value = foldShapes(op);
  if (!value)
    return op->getResult(0);
  op->erase();
  return constant(value);
}

Value LayerBuilder::createElementwise(StringRef op, ArrayRef<Value> operands,
                                      ArrayRef<NamedAttribute> attributes) {
  if (llvm::is_contained(operands, Value()))
    return {};
  OperationState state(loc, ("nn." + op).str(), operands, /*types=*/{},
                       attributes);
  return infer(state);
}

Value LayerBuilder::alwaysEmpty(ArrayRef<int64_t> shape, Type element) {
  Value value = constant(DenseElementsAttr::get(
      RankedTensorType::get(shape, element), ArrayRef<Attribute>()));
  if (keepsEmpty)
    value.getDefiningOp()->setAttr(nn::kAlwaysEmptyAttr, builder.getUnitAttr());
  return value;
}

Value LayerBuilder::constant(ElementsAttr value) {
  return value ? Value(builder.create<nn::ConstantOp>(loc, value)) : Value();
}

Value LayerBuilder::constant(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get(static_cast<int64_t>(values.size()),
                                    getBuilder().getI64Type());
  return constant(makeAttribute({type, llvm::to_vector(values), {}}));
}

Value LayerBuilder::splat(TypedAttr value, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, value.getType());
  if (!checkSize(type, /*isMade=*/true))
    return {};
  if (type.getNumElements() == 0)
    return constant(DenseElementsAttr::get(type, ArrayRef<Attribute>()));
  return constant(DenseElementsAttr::get(type, Attribute(value)));
}

Value LayerBuilder::splat(double value, Type element, ArrayRef<int64_t> shape) {
  if (auto real = dyn_cast<FloatType>(element))
    return splat(FloatAttr::get(real, value), shape);
  return splat(IntegerAttr::get(element, static_cast<int64_t>(value)), shape);
}

Value LayerBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  if (!x || getShape(x) == shape)
    return x;
  if (product(shape) != getNumElements(x))
    return fail(
        ImportStatus::broken,
        "has an operand of shape " + toString(getShape(x)) +
            " where it needs one of " + Twine(product(shape)) + " elements",
        "an operand of shape " + toString(shape), toString(getShape(x)));
  // A reshaped constant keeps its name and its memory.
  auto constant = x.getDefiningOp<nn::ConstantOp>();
  auto type = RankedTensorType::get(shape, getElement(x));
  if (auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                            : DenseElementsAttr()) {
    auto result =
        builder.create<nn::ConstantOp>(constant.getLoc(), dense.reshape(type));
    if (Attribute mark = constant->getAttr(nn::kAlwaysEmptyAttr))
      result->setAttr(nn::kAlwaysEmptyAttr, mark);
    return result;
  }
  if (auto blob = constant
                      ? dyn_cast<DenseResourceElementsAttr>(constant.getValue())
                      : DenseResourceElementsAttr())
    return builder.create<nn::ConstantOp>(
        constant.getLoc(),
        DenseResourceElementsAttr::get(type, blob.getRawHandle()));
  return createAs<nn::ReshapeOp>(type, x);
}

Value LayerBuilder::transpose(Value x, ArrayRef<int64_t> permutation) {
  return llvm::is_sorted(permutation) ? x
                                      : create<nn::TransposeOp>(x, permutation);
}

Value LayerBuilder::expand(Value x, ArrayRef<int64_t> shape) {
  if (!x || getShape(x) == shape)
    return x;
  auto broadcast = nn::broadcastShapes({getShape(x), shape});
  if (!broadcast || ArrayRef<int64_t>(*broadcast) != shape)
    return broken("cannot expand a tensor of shape " + toString(getShape(x)) +
                  " to " + toString(shape));
  return createAs<nn::ExpandOp>(RankedTensorType::get(shape, getElement(x)), x);
}

Value LayerBuilder::castTo(Value x, Type element) {
  if (!x || !element)
    return {};
  if (getElement(x) == element)
    return x;
  return createAs<nn::CastOp>(RankedTensorType::get(getShape(x), element), x);
}

/// Returns `value` rounded to the nearest number of the type `element`, or to
/// the one with an even last bit of two.
static double roundTo(FloatType element, double value) {
  APFloat number(value);
  bool isInexact;
  number.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &isInexact);
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &isInexact);
  return number.convertToDouble();
}

Value LayerBuilder::roundToHalf(Value x, FloatType half) {
  Type carrier = builder.getF32Type();
  x = castTo(x, carrier);
  auto known = x ? readElements(x) : std::nullopt;
  if (!known)
    return castTo(castTo(x, half), carrier);
  for (double &value : known->reals)
    value = roundTo(half, value);
  return constant(makeAttribute(*known));
}
