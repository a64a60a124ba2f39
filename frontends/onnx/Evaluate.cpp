//===- Evaluate.cpp - Values of small constants while importing -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Evaluate.h"

#include "dialects/nn/Nn.h"
#include "frontends/onnx/Weights.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;

//===----------------------------------------------------------------------===//
// Between attributes and elements
//===----------------------------------------------------------------------===//

/// Calls `function` with a value of the C++ type that holds `element` in
/// memory; returns false for types that take no part in folding.
template <class Function>
static bool dispatch(Type element, Function function) {
  if (element.isF32())
    return function(float()), true;
  if (element.isF64())
    return function(double()), true;
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return false;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return function(uint8_t()), true;
  case 8:
    return isUnsigned ? function(uint8_t()) : function(int8_t()), true;
  case 16:
    return isUnsigned ? function(uint16_t()) : function(int16_t()), true;
  case 32:
    return isUnsigned ? function(uint32_t()) : function(int32_t()), true;
  case 64:
    // Half of the values of an unsigned 64-bit type do not fit in an int64_t.
    return isUnsigned ? false : (function(int64_t()), true);
  default:
    return false;
  }
}

std::optional<Elements> nnc::onnx::readElements(ElementsAttr attribute) {
  auto type = dyn_cast<RankedTensorType>(attribute.getShapedType());
  if (!type || type.getNumElements() > kMaxFoldedElements)
    return std::nullopt;
  Elements result{type, {}, {}};
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
    if (!dispatch(type.getElementType(), [](auto) {}))
      return std::nullopt;
    if (result.isReal())
      for (APFloat value : dense.getValues<APFloat>())
        result.reals.push_back(value.convertToDouble());
    else
      for (APInt value : dense.getValues<APInt>())
        result.ints.push_back(type.getElementType().isUnsignedInteger() ||
                                      type.getElementType().isInteger(1)
                                  ? value.getZExtValue()
                                  : value.getSExtValue());
    return result;
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(attribute);
  const AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return std::nullopt;
  bool isKnown = dispatch(type.getElementType(), [&](auto like) {
    using T = decltype(like);
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      T value;
      std::memcpy(&value, blob->getData().data() + i * sizeof(T), sizeof(T));
      if (result.isReal())
        result.reals.push_back(value);
      else
        result.ints.push_back(value);
    }
  });
  return isKnown ? std::optional(result) : std::nullopt;
}

std::optional<Elements> nnc::onnx::readElements(Value value) {
  auto constant = value.getDefiningOp<nn::ConstantOp>();
  return constant ? readElements(constant.getValue()) : std::nullopt;
}

ElementsAttr nnc::onnx::makeAttribute(const Elements &elements) {
  ElementsAttr result;
  dispatch(elements.type.getElementType(), [&](auto like) {
    using T = decltype(like);
    AsmResourceBlob blob = HeapAsmResourceBlob::allocate(
        elements.type.getNumElements() * sizeof(T), alignof(T));
    auto *to = reinterpret_cast<T *>(blob.getMutableData().data());
    // Integers wrap around at their width, as they do at run time.
    for (int64_t i = 0; i < elements.type.getNumElements(); ++i)
      to[i] = elements.isReal() ? static_cast<T>(elements.reals[i])
                                : static_cast<T>(elements.ints[i]);
    result = makeElements(elements.type, "folded", std::move(blob));
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static int64_t getField(DictionaryAttr fields, StringRef name) {
  return fields.getAs<IntegerAttr>(name).getInt();
}
static ArrayRef<int64_t> getList(DictionaryAttr fields, StringRef name) {
  return fields.getAs<DenseI64ArrayAttr>(name);
}

/// Copies element j of `from` to element i of `to`, for integers or reals.
static void copyElement(const Elements &from, int64_t j, Elements &to,
                        int64_t i) {
  if (to.isReal())
    to.reals[i] = from.reals[j];
  else
    to.ints[i] = from.ints[j];
}

static void runCopy(DictionaryAttr fields, const Elements &x, Elements &y) {
  ArrayRef<int64_t> dims = getList(fields, "dims"),
                    from = getList(fields, "src_strides"),
                    to = getList(fields, "dst_strides");
  int64_t total = 1;
  for (int64_t dim : dims)
    total *= dim;
  for (int64_t i = 0; i < total; ++i) {
    int64_t rest = i, source = getField(fields, "src_offset"),
            target = getField(fields, "dst_offset");
    for (size_t axis = dims.size(); axis-- > 0; rest /= dims[axis]) {
      source += rest % dims[axis] * from[axis];
      target += rest % dims[axis] * to[axis];
    }
    copyElement(x, source, y, target);
  }
}

static bool runGather(DictionaryAttr fields, const Elements &x,
                      const Elements &indices, Elements &y) {
  int64_t outer = getField(fields, "outer"), inner = getField(fields, "inner"),
          size = getField(fields, "axis_size"),
          count = getField(fields, "count");
  for (int64_t i = 0; i < outer * count * inner; ++i) {
    int64_t index = indices.ints[i / inner % count];
    index += index < 0 ? size : 0;
    if (index < 0 || index >= size)
      return false;
    copyElement(x, (i / inner / count * size + index) * inner + i % inner, y,
                i);
  }
  return true;
}

static bool runReduce(StringRef function, DictionaryAttr fields,
                      const Elements &x, Elements &y) {
  int64_t outer = getField(fields, "outer"), size = getField(fields, "size"),
          inner = getField(fields, "inner");
  // Sums of floats depend on the order of the terms and are not folded.
  if (x.isReal() || size == 0)
    return false;
  for (int64_t i = 0; i < outer * inner; ++i) {
    int64_t first = i / inner * size * inner + i % inner;
    int64_t value = x.ints[first];
    for (int64_t k = 1; k < size; ++k) {
      if (!computeInt(function, {{value, x.ints[first + k * inner]}, {}},
                      value))
        return false;
    }
    y.ints[i] = value;
  }
  return true;
}

static bool runRoutine(const nn::RoutineCall &call, ArrayRef<Elements> x,
                       Elements &y) {
  const Elements &first = x[call.operands[0]];
  StringRef family = call.family;
  if (family == "copy") {
    runCopy(call.fields, first, y);
    return true;
  }
  if (family == "gather")
    return runGather(call.fields, first, x[call.operands[1]], y);
  static constexpr std::pair<StringLiteral, StringLiteral> reductions[] = {
      {"reduce_sum", "add"},
      {"reduce_prod", "mul"},
      {"reduce_max", "max"},
      {"reduce_min", "min"}};
  for (auto [name, function] : reductions)
    if (family == name)
      return runReduce(function, call.fields, first, y);
  return false;
}

/// Returns the index of the element of an operand of shape `operand` that
/// broadcasts to element `i` of a result of shape `result`.
static int64_t broadcastIndex(int64_t i, ArrayRef<int64_t> result,
                              ArrayRef<int64_t> operand) {
  int64_t index = 0, stride = 1;
  for (size_t k = 0; k < result.size(); ++k, i /= result[result.size() - k]) {
    if (k >= operand.size())
      continue;
    int64_t dim = operand[operand.size() - 1 - k];
    index += dim == 1 ? 0 : i % result[result.size() - 1 - k] * stride;
    stride *= dim;
  }
  return index;
}

static bool runElementwise(StringRef function, ArrayRef<Elements> x,
                           Elements &y) {
  // The condition of a select is an integer, whatever the other operands are.
  for (const Elements &operand : x.drop_front(function == "select"))
    if (operand.isReal() != x.back().isReal())
      return false;
  for (int64_t i = 0; i < y.type.getNumElements(); ++i) {
    Scalars scalars;
    for (const Elements &operand : x) {
      int64_t at =
          broadcastIndex(i, y.type.getShape(), operand.type.getShape());
      if (operand.isReal())
        scalars.reals.push_back(operand.reals[at]);
      else
        scalars.ints.push_back(operand.ints[at]);
    }
    // A cast to bool gives true for every value that is not zero, rather than
    // its lowest bit.
    bool isTruth = function == "cast" && y.type.getElementType().isInteger(1);
    if (isTruth && !scalars.reals.empty())
      y.ints[i] = scalars.reals[0] != 0;
    else if (isTruth)
      y.ints[i] = scalars.ints[0] != 0;
    else if (!(y.isReal() ? computeReal(function, scalars, y.reals[i])
                          : computeInt(function, scalars, y.ints[i])))
      return false;
  }
  return true;
}

std::optional<Elements> nnc::onnx::evaluate(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      isa<nn::ConstantOp>(op))
    return std::nullopt;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getNumElements() > kMaxFoldedElements ||
      !dispatch(type.getElementType(), [](auto) {}))
    return std::nullopt;
  SmallVector<Elements> x;
  for (Value operand : op->getOperands()) {
    auto elements = readElements(operand);
    if (!elements)
      return std::nullopt;
    x.push_back(std::move(*elements));
  }
  Elements y{type, {}, {}};
  (y.isReal() ? void(y.reals.resize(type.getNumElements()))
              : void(y.ints.resize(type.getNumElements())));
  if (auto elementwise = dyn_cast<nn::ElementwiseOpInterface>(op)) {
    bool isDone = elementwise.getScalars().empty() &&
                  runElementwise(elementwise.getFunction(), x, y);
    return isDone ? std::optional(y) : std::nullopt;
  }
  auto routine = dyn_cast<nn::RoutineOpInterface>(op);
  if (!routine)
    return std::nullopt;
  for (const nn::RoutineCall &call : routine.getRoutineCalls())
    if (!runRoutine(call, x, y))
      return std::nullopt;
  return y;
}
