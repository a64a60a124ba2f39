//===- ComputedLengths.cpp - Computed data-dependent sizes ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/lengths/ComputedLengths.h"

#include "frontends/onnx/control/Sequences.h"
#include "frontends/onnx/graph/CarrierTypes.h"
#include "frontends/onnx/graph/Graph.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;
using ::onnx::NodeProto;

LengthReader::LengthReader(const GraphImporter &importer, const Scope &scope,
                           const std::vector<unsigned> *bases)
    : importer(importer), lengths(importer.getLengths()), scope(scope),
      given(bases) {}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

LengthExpression LengthReader::read(StringRef name, int64_t index) {
  auto known = importer.readNumbers(name, scope);
  Value value = importer.findValue(name, scope);
  // One element is broadcast to all.
  index = known && known->size() == 1 ? 0 : index;
  bool isList = known && (getRank(value) <= 1 || known->size() == 1);
  if (!isList || index < 0 || index >= int64_t(known->size()))
    return {};
  const int64_t number = (*known)[index];
  uint64_t sources = importer.findSources(name, scope);
  if (sources == 0)
    return number;
  const LengthMaker *maker = importer.findMaker(name, scope);
  LengthExpression result = maker ? readMade(*maker, index, number, sources)
                                  : readBase(number, sources);
  auto type = dyn_cast<IntegerType>(getElement(value));
  if (!result || !type || type.getWidth() > 32)
    return result;
  // A cast to a narrow type would drop bits of larger numbers.
  auto [low, high] = lengths.getBounds(result);
  const bool isSigned = !type.isUnsigned() && type.getWidth() > 1;
  const int64_t range = int64_t(1) << (type.getWidth() - isSigned);
  return low >= (isSigned ? -range : 0) && high < range ? result
                                                        : LengthExpression();
}

LengthExpression LengthReader::readMade(const LengthMaker &maker, int64_t index,
                                        int64_t number, uint64_t sources) {
  if (maker.size)
    return LengthExpression::getLength(*maker.size);
  StringRef op = maker.node.op_type();
  if (op == "Shape")
    return readShape(maker.node, index, number, sources);
  if (LengthExpression result = readNode(maker.node, index))
    return result;
  static const llvm::StringSet<> asked = {"Size", "Slice", "Split"};
  return asked.contains(op) ? readBase(number, sources) : LengthExpression();
}

LengthExpression LengthReader::readBase(int64_t number, uint64_t sources) {
  std::optional<unsigned> size;
  if (!given)
    size = lengths.findAmong(sources, number);
  else if (bases.size() < given->size())
    size = (*given)[bases.size()];
  // A constant may be equal to a length in one import, but not in all.
  if (!size || *size >= lengths.getSizes().size() ||
      lengths.getValue(*size) != number)
    return {};
  bases.push_back(*size);
  return LengthExpression::getLength(*size);
}

LengthExpression LengthReader::readShape(const NodeProto &node, int64_t index,
                                         int64_t number, uint64_t sources) {
  Value x = importer.findValue(node.input(0), scope);
  if (!x || !isTensor(x))
    return {};
  int64_t axis = index;
  for (const auto &attribute : node.attribute())
    if (attribute.name() == "start")
      axis += attribute.i() + (attribute.i() < 0 ? getRank(x) : 0);
  if (axis < 0 || axis >= getRank(x))
    return {};
  if (LengthExpression dim = lengths.describe(x, axis))
    return dim;
  // A data-dependent size is that of the first axis with this number of
  // elements; other axes have the same size by chance. Their sizes are recorded
  // as constants behind the marker `fixed`, by which later imports recognize
  // them.
  constexpr unsigned fixed = std::numeric_limits<unsigned>::max();
  ArrayRef<int64_t> shape = getShape(x);
  bool isFixed = given ? bases.size() + 1 < given->size() &&
                             (*given)[bases.size()] == fixed
                       : llvm::find(shape, number) - shape.begin() != axis;
  if (!isFixed)
    return readBase(number, sources);
  if (given && (*given)[bases.size() + 1] != unsigned(number))
    return {};
  bases.insert(bases.end(), {fixed, unsigned(number)});
  return number;
}

LengthExpression LengthReader::readSlice(const NodeProto &node, int64_t index) {
  std::optional<int64_t> start, step = 1;
  auto readFixed = [&](int i) {
    auto known = importer.readNumbers(node.input(i), scope);
    bool isFixed = known && known->size() == 1 &&
                   importer.findSources(node.input(i), scope) == 0;
    return isFixed ? std::optional(known->front()) : std::nullopt;
  };
  auto list = importer.readNumbers(node.input(0), scope);
  if (!list || node.input_size() < 3)
    return {};
  start = readFixed(1);
  if (node.input_size() > 4 && !node.input(4).empty())
    step = readFixed(4);
  const auto size = int64_t(list->size());
  if (!start || !step || std::abs(*start) > size || std::abs(*step) > size)
    return {};
  return read(node.input(0),
              (*start < 0 ? *start + size : *start) + index * *step);
}

LengthExpression LengthReader::readSize(const NodeProto &node) {
  Value x = importer.findValue(node.input(0), scope);
  LengthExpression size = x && isTensor(x) ? 1 : LengthExpression();
  for (int64_t axis = 0; size && axis < getRank(x); ++axis)
    size = lengths.combine(Kind::mul, size, lengths.describe(x, axis));
  return size;
}

LengthExpression LengthReader::isNonZero(const LengthExpression &x) {
  return lengths.combine(Kind::sub, 1, lengths.combine(Kind::equal, x, 0));
}

LengthExpression LengthReader::readCast(const NodeProto &node, int64_t index) {
  LengthExpression x = read(node.input(0), index);
  for (const auto &attribute : node.attribute())
    if (attribute.name() == "to" && attribute.i() == ::onnx::TensorProto::BOOL)
      return isNonZero(x);
  return x;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

LengthExpression LengthReader::readUnary(StringRef op,
                                         const LengthExpression &x) {
  if (op == "Neg")
    return lengths.combine(Kind::sub, 0, x);
  if (op == "Abs")
    return lengths.combine(Kind::max, x, lengths.combine(Kind::sub, 0, x));
  if (op == "Sign")
    return lengths.combine(Kind::max, lengths.combine(Kind::min, x, 1), -1);
  if (op == "Relu")
    return lengths.combine(Kind::max, x, 0);
  if (op == "Not")
    return lengths.combine(Kind::sub, 1, x);
  return {};
}

LengthExpression LengthReader::readBinary(StringRef op,
                                          const LengthExpression &a,
                                          const LengthExpression &b) {
  static const llvm::StringMap<Kind> kinds = {
      {"Add", Kind::add},        {"Sum", Kind::add},
      {"ReduceSum", Kind::add},  {"Sub", Kind::sub},
      {"Mul", Kind::mul},        {"And", Kind::mul},
      {"ReduceProd", Kind::mul}, {"Div", Kind::div},
      {"Mod", Kind::mod},        {"Min", Kind::min},
      {"ReduceMin", Kind::min},  {"Max", Kind::max},
      {"ReduceMax", Kind::max},  {"Or", Kind::max},
      {"Less", Kind::less},      {"Equal", Kind::equal}};
  if (auto kind = kinds.find(op); kind != kinds.end())
    return lengths.combine(kind->second, a, b);
  if (op == "Greater")
    return lengths.combine(Kind::less, b, a);
  if (op == "LessOrEqual")
    return lengths.combine(Kind::sub, 1, lengths.combine(Kind::less, b, a));
  if (op == "GreaterOrEqual")
    return lengths.combine(Kind::sub, 1, lengths.combine(Kind::less, a, b));
  return {};
}

LengthExpression LengthReader::readList(const NodeProto &node) {
  auto list = importer.readNumbers(node.input(0), scope);
  LengthExpression result =
      list && !list->empty() ? read(node.input(0)) : LengthExpression();
  for (size_t i = 1; result && i < list->size(); ++i)
    result = readBinary(node.op_type(), result, read(node.input(0), i));
  return result;
}

LengthExpression LengthReader::readNode(const NodeProto &node, int64_t index) {
  StringRef op = node.op_type();
  if (!node.domain().empty() || node.input_size() == 0)
    return {};
  static const llvm::StringSet<> moves = {"Identity", "Squeeze", "Unsqueeze",
                                          "Reshape"};
  if (moves.contains(op))
    return read(node.input(0), index);
  if (op == "Cast")
    return readCast(node, index);
  if (op == "Concat") {
    for (const std::string &part : node.input()) {
      auto elements = importer.readNumbers(part, scope);
      if (!elements)
        return {};
      if (index < int64_t(elements->size()))
        return read(part, index);
      index -= int64_t(elements->size());
    }
    return {};
  }
  if (op == "Gather") {
    auto indices = importer.readNumbers(node.input(1), scope),
         list = importer.readNumbers(node.input(0), scope);
    if (!indices || !list || index >= int64_t(indices->size()) ||
        importer.findSources(node.input(1), scope) != 0)
      return {};
    const int64_t at = (*indices)[index];
    return read(node.input(0), at < 0 ? at + int64_t(list->size()) : at);
  }
  if (op == "Slice")
    return readSlice(node, index);
  if (op == "Size")
    return readSize(node);
  if (op == "Where")
    return lengths.select(read(node.input(0), index),
                          read(node.input(1), index),
                          read(node.input(2), index));
  if (op.starts_with("Reduce"))
    return readList(node);
  LengthExpression result = read(node.input(0), index);
  if (op == "Clip") {
    for (int i = 1; i < node.input_size(); ++i)
      if (!node.input(i).empty())
        result = lengths.combine(i == 1 ? Kind::max : Kind::min, result,
                                 read(node.input(i), index));
    return result;
  }
  static const llvm::StringSet<> ofMany = {"Sum", "Min", "Max"};
  if (node.input_size() == 1)
    return ofMany.contains(op) ? result : readUnary(op, result);
  for (const std::string &name : llvm::drop_begin(node.input()))
    result = readBinary(op, result, read(name, index));
  return result;
}

//===----------------------------------------------------------------------===//
// New data-dependent sizes
//===----------------------------------------------------------------------===//

Value GraphImporter::computeNumber(LayerBuilder &layer, StringRef name,
                                   const Scope &scope) {
  Value value = findValue(name, scope);
  if (findSources(name, scope) == 0 || isInBody() || !value ||
      !isTensor(value) || getNumElements(value) != 1)
    return {};
  LengthReader reader(*this, scope);
  LengthExpression number = reader.read(name);
  if (!number || !reader.bases.empty())
    return {};
  return layer.reshape(
      layer.castTo(buildLength(number, layer, lengths.getCounts()),
                   getElement(value)),
      getShape(value));
}

std::optional<unsigned>
GraphImporter::addComputedLength(LayerBuilder &layer, StringRef name,
                                 const LengthExpression &number,
                                 ArrayRef<unsigned> bases) {
  FoundSize size{name.str(), lengths.getBounds(number).second,
                 lengths.findOuter(number), bases.vec(), number};
  declarations.loosen();
  return lengths.addComputed(layer, size);
}

Value GraphImporter::makeLength(const NodeProto &node, Scope &scope,
                                Value result) {
  static const llvm::StringSet<> makers = {
      "Abs", "Add",   "Cast",      "Clip",      "Div",       "Max",
      "Min", "Mod",   "Mul",       "Relu",      "Sign",      "Sub",
      "Sum", "Where", "ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd"};
  auto type = result ? dyn_cast<RankedTensorType>(result.getType()) : nullptr;
  if (lengths.getSizes().empty() || !node.domain().empty() ||
      !makers.contains(node.op_type()) || !type ||
      getNumElements(result) != 1 || !isa<IntegerType>(type.getElementType()) ||
      type.getElementType().isInteger(1) ||
      !result.getDefiningOp<nn::ConstantOp>() || isInBody())
    return result;
  const std::string name = scope.prefix + node.output(0);
  if (findSources(node, scope) == 0)
    return result;
  const FoundSize *expected = lengths.getExpected();
  LengthReader reader(*this, scope, expected ? &expected->bases : nullptr);
  LengthExpression number = reader.readNode(node);
  if (!number)
    return result;
  LayerBuilder layer(builder, problems, getLoc(node, scope), node.op_type());
  auto makeConstant = [&](int64_t number) {
    Value value = layer.constant(ArrayRef<int64_t>{number});
    return layer.reshape(layer.castTo(value, type.getElementType()),
                         type.getShape());
  };
  auto size = number.getLength();
  if (!size && !number.isSum() && lengths.getBounds(number).first >= 0) {
    size = lengths.findEqual(number);
    if (!size && !lengths.mayBeNext(name))
      return result;
    if (!size)
      size = addComputedLength(layer, name, number, reader.bases);
    if (!size)
      return {};
  }
  if (size) {
    scope.makers[node.output(0)] = {node, size};
    return makeConstant(lengths.getValue(*size));
  }
  // An import at chosen sizes may combine values that no data can produce, for
  // which a minimum or maximum would select another operand.
  SmallVector<int64_t> values;
  for (unsigned i = 0; i < lengths.getSizes().size(); ++i)
    values.push_back(lengths.getValue(i));
  return number.isSum() ? makeConstant(number.evaluate(values)) : result;
}

void GraphImporter::computeNumbers(const NodeProto &node, Scope &scope,
                                   MutableArrayRef<Value> operands) {
  static const llvm::StringSet<> comparisons = {
      "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"};
  static const llvm::StringSet<> functions = {
      "Add", "And", "Div", "Gather", "If",  "Max",   "Min", "Mod",
      "Mul", "Or",  "Pow", "Sub",    "Sum", "Where", "Xor"};
  if (lengths.getSizes().empty() || isInBody() || !node.domain().empty() ||
      !llvm::all_of(operands, [](Value x) { return x && isTensor(x); }))
    return;
  auto isComputed = [](Value x) { return !x.getDefiningOp<nn::ConstantOp>(); };
  auto hasMany = [](Value x) { return getNumElements(x) != 1; };
  bool isCompared = comparisons.contains(node.op_type());
  bool isData = (isCompared || functions.contains(node.op_type())) &&
                (llvm::any_of(operands, isComputed) ||
                 (isCompared && llvm::any_of(operands, hasMany)) ||
                 node.op_type() == "If");
  if (!isData)
    return;
  LayerBuilder layer(builder, problems, getLoc(node, scope), node.op_type());
  for (auto [name, operand] : llvm::zip(node.input(), operands))
    if (!isComputed(operand) && !hasCarrier(getElement(operand)))
      if (Value number = computeNumber(layer, name, scope))
        operand = number;
}
