//===- Arguments.cpp - Arguments of nodes ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"

#include <limits>

using namespace mlir;
using namespace nnc;
using namespace nnc::torch;

/// Returns the argument of an entry of a node's list; null if it is None.
static const json::Object *getArgument(const json::Value &entry) {
  const json::Object *object = entry.getAsObject();
  const json::Object *argument = object ? object->getObject("arg") : nullptr;
  if (!argument || argument->empty() || argument->get("as_none"))
    return nullptr;
  return argument;
}

const json::Object *Node::find(StringRef name) const {
  if (const json::Array *inputs = node.getArray("inputs"))
    for (const json::Value &entry : *inputs)
      if (const json::Object *object = entry.getAsObject())
        if (object->getString("name") == name)
          return getArgument(entry);
  return nullptr;
}

const json::Object *Node::findAt(size_t i) const {
  const json::Array *inputs = node.getArray("inputs");
  return inputs && i < inputs->size() ? getArgument((*inputs)[i]) : nullptr;
}

void Node::refuse(StringRef name, const Twine &what) {
  if (!isFailed)
    broken("has an argument '" + name + "' that is not " + what);
  isFailed = true;
}

Value Node::readValue(StringRef name) {
  Value x = importer.getValue(scope, name, *this);
  Type result = scope.isAutocast ? getStatedType() : Type();
  if (!x || !result || !nn::isHalf(result) || getOp().starts_with("to.") ||
      getOp().starts_with("_to_copy.") || !getElement(x).isF32() ||
      importer.getStatedType(scope, name) != getElement(x))
    return x;
  return roundToHalf(x, cast<FloatType>(result));
}

Value Node::readTensor(const json::Object &argument, StringRef name) {
  const json::Object *tensor = argument.getObject("as_tensor");
  if (const json::Object *optional = argument.getObject("as_optional_tensor")) {
    if (optional->get("as_none"))
      return {};
    tensor = optional->getObject("as_tensor");
  }
  auto found = tensor ? tensor->getString("name") : std::nullopt;
  if (found)
    return readValue(*found);
  refuse(name, "a tensor");
  return {};
}

Value Node::getTensor(StringRef name) {
  if (const json::Object *argument = find(name))
    return readTensor(*argument, name);
  refuse(name, "given; it needs a tensor");
  return {};
}

Value Node::getOptionalTensor(StringRef name) {
  const json::Object *argument = find(name);
  return argument ? readTensor(*argument, name) : Value();
}

StringRef Node::getTensorName(StringRef name) const {
  const json::Object *argument = find(name);
  const json::Object *tensor =
      argument ? argument->getObject("as_tensor") : nullptr;
  return tensor ? tensor->getString("name").value_or("") : "";
}

SmallVector<Value> Node::readTensors(const json::Object &argument,
                                     StringRef name) {
  SmallVector<Value> values;
  const json::Array *list = argument.getArray("as_tensors");
  bool isOptional = !list;
  if (isOptional)
    list = argument.getArray("as_optional_tensors");
  // An empty list has no kind.
  if (!list && (list = argument.getArray("as_ints")) && !list->empty())
    list = nullptr;
  if (!list) {
    refuse(name, "a list of tensors");
    return {};
  }
  for (const json::Value &entry : *list) {
    const json::Object *tensor = entry.getAsObject();
    if (tensor && isOptional) {
      if (tensor->get("as_none")) {
        values.push_back({});
        continue;
      }
      tensor = tensor->getObject("as_tensor");
    }
    auto found = tensor ? tensor->getString("name") : std::nullopt;
    if (!found) {
      refuse(name, "a list of tensors");
      return {};
    }
    values.push_back(readValue(*found));
    isFailed |= !values.back();
  }
  return values;
}

SmallVector<Value> Node::getTensors(StringRef name) {
  if (const json::Object *argument = find(name))
    return readTensors(*argument, name);
  refuse(name, "given; it needs a list of tensors");
  return {};
}

Value Node::getTensorAt(size_t i) {
  if (const json::Object *argument = findAt(i))
    return readTensor(*argument, std::to_string(i));
  refuse(std::to_string(i), "given; it needs a tensor");
  return {};
}

size_t Node::getNumInputs() const { return getList(node, "inputs").size(); }

StringRef Node::getTensorNameAt(size_t i) const {
  const json::Object *argument = findAt(i);
  const json::Object *tensor =
      argument ? argument->getObject("as_tensor") : nullptr;
  return tensor ? tensor->getString("name").value_or("") : "";
}

int64_t Node::getIntAt(size_t i, int64_t otherwise) {
  const json::Object *argument = findAt(i);
  auto number = argument ? readScalar(*argument) : std::nullopt;
  if (argument && (!number || number->isReal || number->value))
    refuse(std::to_string(i), "an integer that is known when compiling");
  return number && !number->isReal ? number->integer : otherwise;
}

Value Node::getScalarAt(size_t i) {
  const json::Object *argument = findAt(i);
  auto number = argument ? readScalar(*argument) : std::nullopt;
  if (!number) {
    refuse(std::to_string(i), "a tensor or a number");
    return {};
  }
  return makeScalar(*number,
                    getDefaultType(getBuilder().getContext(),
                                   number->isReal   ? NumberKind::real
                                   : number->isBool ? NumberKind::boolean
                                                    : NumberKind::integer));
}

SmallVector<Value> Node::getTensorsAt(size_t i) {
  if (const json::Object *argument = findAt(i))
    return readTensors(*argument, std::to_string(i));
  return {};
}

/// Returns a number that JSON may write as a text, as it does infinities.
static std::optional<double> readReal(const json::Value *value) {
  if (!value)
    return std::nullopt;
  if (auto number = value->getAsNumber())
    return *number;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  auto text = value->getAsString();
  if (!text)
    return std::nullopt;
  if (*text == "Infinity")
    return infinity;
  if (*text == "-Infinity")
    return -infinity;
  if (*text == "NaN")
    return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

std::optional<std::pair<double, double>>
Node::getComplex(StringRef name) const {
  const json::Object *argument = find(name);
  const json::Object *number =
      argument ? argument->getObject("as_complex") : nullptr;
  auto real = number ? readReal(number->get("real")) : std::nullopt,
       imaginary = number ? readReal(number->get("imag")) : std::nullopt;
  if (!real || !imaginary)
    return std::nullopt;
  return std::pair(*real, *imaginary);
}

bool Node::isComplexInList(StringRef name, size_t i) const {
  const json::Object *argument = find(name);
  const json::Array *list =
      argument ? argument->getArray("as_tensors") : nullptr;
  const json::Object *tensor =
      list && i < list->size() ? (*list)[i].getAsObject() : nullptr;
  return tensor &&
         importer.isComplex(scope, tensor->getString("name").value_or(""));
}

bool Node::hasDoubleParts() const {
  StringRef first = names.empty() ? StringRef() : names[0];
  if (!importer.isComplex(scope, first))
    first = getTensorName("self");
  return importer.getDtype(scope, first) == kComplex128;
}

static Scalar makeInteger(int64_t integer) {
  return {/*isReal=*/false, /*isBool=*/false, integer,
          static_cast<double>(integer)};
}

std::optional<Scalar> Node::readScalar(const json::Object &argument) {
  if (auto integer = argument.getInteger("as_int"))
    return makeInteger(*integer);
  if (auto real = readReal(argument.get("as_float")))
    return Scalar{/*isReal=*/true, /*isBool=*/false, 0, *real};
  if (auto truth = argument.getBoolean("as_bool"))
    return Scalar{/*isReal=*/false, /*isBool=*/true, *truth,
                  static_cast<double>(*truth)};
  for (StringRef kind : {"as_sym_int", "as_sym_float", "as_sym_bool"})
    if (const json::Object *symbolic = argument.getObject(kind)) {
      if (auto name = symbolic->getString("as_name"))
        return importer.getScalar(scope, *name);
      return readScalar(*symbolic);
    }
  return std::nullopt;
}

std::optional<Scalar> Node::getScalar(StringRef name) {
  const json::Object *argument = find(name);
  if (!argument)
    return std::nullopt;
  auto number = readScalar(*argument);
  if (number)
    return number;
  for (StringRef kind : {"as_sym_int", "as_sym_float", "as_sym_bool"})
    if (argument->getObject(kind) && !isFailed) {
      unsupported("has a number '" + name +
                  "' that depends on data; nnc needs it when compiling");
      isFailed = true;
    }
  refuse(name, "a number");
  return std::nullopt;
}

void Node::refuseComputed(StringRef name, Value value) {
  isFailed = true;
  needsKnown(value, "an argument '" + name + "'");
}

int64_t Node::getInt(StringRef name, int64_t otherwise) {
  if (!has(name))
    return otherwise;
  auto number = getScalar(name);
  if (!number)
    return otherwise;
  if (number->value && !number->length) {
    refuseComputed(name, number->value);
    return otherwise;
  }
  if (!number->isReal)
    return number->integer;
  refuse(name, "an integer");
  return otherwise;
}

SmallVector<int64_t> Node::getInts(StringRef name,
                                   ArrayRef<int64_t> otherwise) {
  const json::Object *argument = find(name);
  if (!argument)
    return SmallVector<int64_t>(otherwise);
  const json::Array *list = argument->getArray("as_ints");
  if (!list)
    list = argument->getArray("as_sym_ints");
  if (!list)
    return {getInt(name)};
  SmallVector<int64_t> numbers;
  for (const json::Value &entry : *list) {
    std::optional<Scalar> number;
    if (auto integer = entry.getAsInteger())
      number = makeInteger(*integer);
    else if (const json::Object *symbolic = entry.getAsObject()) {
      if (auto symbol = symbolic->getString("as_name"))
        number = importer.getScalar(scope, *symbol);
      else
        number = readScalar(*symbolic);
    }
    if (number && number->value && !number->length) {
      refuseComputed(name, number->value);
      return SmallVector<int64_t>(otherwise);
    }
    if (!number || number->isReal) {
      refuse(name, "a list of integers that are known when compiling");
      return SmallVector<int64_t>(otherwise);
    }
    numbers.push_back(number->integer);
  }
  return numbers;
}

SmallVector<int64_t> Node::getInts(StringRef name, size_t count,
                                   int64_t otherwise) {
  SmallVector<int64_t> numbers = getInts(name);
  if (numbers.empty())
    return SmallVector<int64_t>(count, otherwise);
  if (numbers.size() == 1)
    return SmallVector<int64_t>(count, numbers[0]);
  if (numbers.size() == count)
    return numbers;
  refuse(name, "one integer or " + Twine(count));
  return SmallVector<int64_t>(count, otherwise);
}

double Node::getFloat(StringRef name, double otherwise) {
  if (!has(name))
    return otherwise;
  auto number = getScalar(name);
  if (!number)
    return otherwise;
  if (!number->value || number->isOfSizes)
    return number->real;
  refuseComputed(name, number->value);
  return otherwise;
}

SmallVector<double> Node::getFloats(StringRef name) {
  const json::Object *argument = find(name);
  if (!argument)
    return {};
  const json::Array *list = argument->getArray("as_floats");
  if (!list)
    list = argument->getArray("as_ints");
  SmallVector<double> numbers;
  if (!list) {
    refuse(name, "a list of numbers");
    return {};
  }
  for (const json::Value &entry : *list)
    if (auto real = readReal(&entry))
      numbers.push_back(*real);
    else
      refuse(name, "a list of numbers");
  return numbers;
}

bool Node::getBool(StringRef name, bool otherwise) {
  if (!has(name))
    return otherwise;
  auto number = getScalar(name);
  if (!number)
    return otherwise;
  if (!number->value && !number->isReal)
    return number->integer != 0;
  refuse(name, "a truth value that is known when compiling");
  return otherwise;
}

StringRef Node::getString(StringRef name, StringRef otherwise) {
  const json::Object *argument = find(name);
  if (!argument)
    return otherwise;
  if (auto text = argument->getString("as_string"))
    return *text;
  refuse(name, "a text");
  return otherwise;
}

Type Node::getDtype(StringRef name) {
  const json::Object *argument = find(name);
  if (!argument)
    return {};
  auto dtype = argument->getInteger("as_scalar_type");
  if (!dtype) {
    refuse(name, "a dtype");
    return {};
  }
  Type stored = getStoredType(getBuilder().getContext(), *dtype);
  if (!stored && !isFailed) {
    unsupported("has the dtype " + getTypeName(*dtype) +
                ", which nnc does not handle");
    isFailed = true;
  }
  return getComputedType(stored);
}

std::optional<int64_t> Node::getAxis(StringRef name, int64_t rank,
                                     int64_t otherwise) {
  return normalizeAxis(getInt(name, otherwise), std::max<int64_t>(rank, 1));
}

std::optional<SmallVector<int64_t>> Node::getAxes(StringRef name,
                                                  int64_t rank) {
  SmallVector<int64_t> axes = getInts(name);
  if (axes.empty())
    return iota(rank);
  if (!normalizeAxes(axes, std::max<int64_t>(rank, 1)))
    return std::nullopt;
  if (rank == 0)
    axes.clear();
  llvm::sort(axes);
  return axes;
}

std::pair<const json::Object *, std::string> Node::getGraph(size_t i) {
  const json::Object *argument = findAt(i);
  const json::Object *named =
      argument ? argument->getObject("as_graph") : nullptr;
  const json::Object *graph = named ? named->getObject("graph") : nullptr;
  if (graph)
    return {graph, named->getString("name").value_or("").str()};
  refuse(std::to_string(i), "a graph");
  return {nullptr, ""};
}
