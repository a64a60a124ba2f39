//===- LabelEncoder.cpp - LabelEncoder and CategoryMapper -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/tensors/TensorData.h"
#include "frontends/onnx/learned/Learned.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

namespace {
/// The keys or the values of a table: numbers, or texts.
struct Side {
  SmallVector<double> reals;
  SmallVector<int64_t> integers;
  SmallVector<std::string> texts;
  Type element; ///< of numbers; null for texts

  bool isText() const { return !texts.empty(); }
  size_t size() const {
    return std::max({reals.size(), integers.size(), texts.size()});
  }
  bool isReal() const { return element && isa<FloatType>(element); }
  /// Creates a constant that holds the numbers.
  Value make(Node &node) const {
    if (!isReal())
      return node.castTo(node.constant(integers), element);
    return makeConstant(node, reals, element, int64_t(reals.size()));
  }
};
} // namespace

/// Adds the elements of a tensor.
static void appendElements(Side &side, const TensorData &data) {
  side.element = data.getElementType();
  for (int64_t i = 0; i < data.getNumElements(); ++i)
    if (side.isReal())
      side.reals.push_back(data.getReal(i));
    else if (side.element.isInteger(64))
      side.integers.push_back(data.getAs<int64_t>()[i]);
    else
      side.integers.push_back(static_cast<int64_t>(data.getReal(i)));
}

/// Reads the lists `prefix`_floats, _int64s, _strings or _tensor.
static Side readSide(Node &node, StringRef prefix) {
  Builder &builder = node.getBuilder();
  Side side;
  side.reals = node.getReals((prefix + "_floats").str());
  side.texts = node.getStrings((prefix + "_strings").str());
  if (auto list = node.getInts((prefix + "_int64s").str()))
    side.integers = *list;
  side.element = !side.reals.empty()      ? Type(builder.getF32Type())
                 : !side.integers.empty() ? Type(builder.getI64Type())
                                          : Type();
  std::string tensor = (prefix + "_tensor").str();
  if (!node.hasAttribute(tensor))
    return side;
  // Tensors of strings have no elements of the compiler's.
  const auto &proto = node.find(tensor)->t();
  if (proto.data_type() == ::onnx::TensorProto::STRING) {
    side.texts.append(proto.string_data().begin(), proto.string_data().end());
    return side;
  }
  ElementsAttr elements = node.getElements(tensor);
  if (auto data = elements ? TensorData::get(elements) : std::nullopt)
    appendElements(side, *data);
  return side;
}

/// Appends the default value, which is used for keys that are not in the table.
static void appendDefault(Node &node, Side &values) {
  if (values.isText())
    values.texts.push_back(node.getString("default_string").str());
  else if (node.hasAttribute("default_tensor")) {
    Type element = values.element;
    ElementsAttr elements = node.getElements("default_tensor");
    if (auto data = elements ? TensorData::get(elements) : std::nullopt)
      appendElements(values, *data);
    values.element = element;
  } else if (values.isReal())
    values.reals.push_back(node.getFloat("default_float"));
  else
    values.integers.push_back(node.getInt("default_int64", -1));
}

/// Returns for each element of operand 0 the index of the first equal key, or
/// the number of keys if there is none. NaN equals NaN from version 4 on.
static Value findPlaces(Node &node, const Side &keys) {
  Builder &builder = node.getBuilder();
  Type i64 = builder.getI64Type();
  auto count = static_cast<int64_t>(keys.size());
  Value x = node.getOperand(0);
  if (ArrayAttr texts = node.getTexts(0)) {
    SmallVector<int64_t> places;
    for (Attribute text : texts)
      places.push_back(llvm::find(keys.texts, cast<StringAttr>(text).str()) -
                       keys.texts.begin());
    return node.create<nn::GatherOp>(node.constant(places), x, 0);
  }
  if (!x || !keys.element)
    return {};
  // An additional last key is equal to all elements.
  Side all = keys;
  std::vector<double> isAny(count + 1), isNan(count + 1);
  isAny[count] = 1;
  for (auto [i, key] : llvm::enumerate(keys.reals))
    isNan[i] = std::isnan(key);
  (all.isReal() ? (void)all.reals.push_back(0) : all.integers.push_back(0));
  SmallVector<int64_t> shape(getShape(x));
  shape.push_back(1);
  x = node.reshape(x, shape);
  Type element = getElement(x);
  Value isEqual = node.createElementwise(
      "equal", {x, node.castTo(all.make(node), element)});
  Type flag = builder.getIntegerType(1);
  auto add = [&](Value flags) {
    isEqual = node.createElementwise("logical_or", {isEqual, flags});
  };
  auto makeFlags = [&](ArrayRef<double> values) {
    return node.castTo(
        makeConstant(node, values, builder.getIntegerType(8), count + 1), flag);
  };
  add(makeFlags(isAny));
  if (llvm::is_contained(isNan, 1) && isa<FloatType>(element) &&
      node.getVersion() >= 4)
    add(node.createElementwise(
        "logical_and",
        {node.createElementwise("is_nan", x), makeFlags(isNan)}));
  isEqual = node.castTo(isEqual, builder.getIntegerType(8, false));
  Value place = node.create<nn::ArgMaxOp>(isEqual, int64_t(shape.size()) - 1,
                                          /*keepdims=*/false,
                                          /*select_last=*/false);
  return node.castTo(place, i64);
}

/// Returns the values of the keys that are equal to the elements of operand 0.
static Value lookUp(Node &node, const Side &keys, Side values) {
  if (keys.size() != values.size() || keys.size() == 0)
    return node.broken("has " + Twine(keys.size()) + " keys and " +
                       Twine(values.size()) + " values");
  if (keys.isText() != bool(node.getTexts(0)))
    return node.broken("has keys of another type than its input");
  appendDefault(node, values);
  Value places = findPlaces(node, keys);
  if (values.isText())
    return node.asStrings(places, values.texts);
  return node.create<nn::GatherOp>(values.make(node), places, 0);
}

Value convertLabelEncoder(Node &node) {
  // The first version numbered a list of strings, in both directions.
  if (node.getVersion() < 2) {
    Side names, numbers;
    names.texts = node.getStrings("classes_strings");
    numbers.integers = iota(names.texts.size());
    numbers.element = node.getBuilder().getI64Type();
    return node.getTexts(0) ? lookUp(node, names, numbers)
                            : lookUp(node, numbers, names);
  }
  return lookUp(node, readSide(node, "keys"), readSide(node, "values"));
}

Value convertCategoryMapper(Node &node) {
  Side names, numbers;
  names.texts = node.getStrings("cats_strings");
  numbers.element = node.getBuilder().getI64Type();
  if (auto list = node.getInts("cats_int64s"))
    numbers.integers = *list;
  return node.getTexts(0) ? lookUp(node, names, numbers)
                          : lookUp(node, numbers, names);
}

} // namespace nnc::onnx
