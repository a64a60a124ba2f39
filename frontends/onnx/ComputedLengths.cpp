//===- ComputedLengths.cpp - Numbers from lengths that data decide --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/ComputedLengths.h"

#include "frontends/onnx/Graph.h"
#include "frontends/onnx/Sequences.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;
using ::onnx::NodeProto;

/// Bounds beyond which no number is a length; their products do not overflow.
static constexpr int64_t kMost = int64_t(1) << 31;

static int64_t clampBound(int64_t bound) {
  return std::clamp(bound, -kMost, kMost);
}

Value LengthReader::create(StringRef op, ArrayRef<Value> operands) {
  return builder.createElementwise(op, operands);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

ComputedLength LengthReader::add(const ComputedLength &a,
                                 const ComputedLength &b) {
  return {create("add", {a.value, b.value}),
          clampBound(a.low + b.low),
          clampBound(a.high + b.high),
          std::gcd(a.divisor, b.divisor),
          b.high <= 0   ? a.within
          : a.high <= 0 ? b.within
                        : std::nullopt,
          a.isSum && b.isSum};
}

ComputedLength LengthReader::subtract(const ComputedLength &a,
                                      const ComputedLength &b) {
  return {create("sub", {a.value, b.value}),    clampBound(a.low - b.high),
          clampBound(a.high - b.low),           std::gcd(a.divisor, b.divisor),
          b.low >= 0 ? a.within : std::nullopt, a.isSum && b.isSum};
}

ComputedLength LengthReader::multiply(const ComputedLength &a,
                                      const ComputedLength &b) {
  auto [low, high] = std::minmax(
      {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  int64_t divisor = std::min(a.divisor, kMost) * std::min(b.divisor, kMost);
  return {create("mul", {a.value, b.value}),
          clampBound(low),
          clampBound(high),
          divisor,
          std::nullopt,
          a.isSum && b.isSum};
}

std::optional<ComputedLength> LengthReader::divide(const ComputedLength &a,
                                                   const ComputedLength &b) {
  if (b.low != b.high || b.low <= 0 || a.low < 0)
    return std::nullopt;
  bool isExact = a.divisor % b.low == 0;
  return ComputedLength{
      create("div", {a.value, b.value}), a.low / b.low, a.high / b.low,
      isExact ? a.divisor / b.low : 1,   a.within,      a.isSum && isExact};
}

std::optional<ComputedLength> LengthReader::takeRest(const ComputedLength &a,
                                                     const ComputedLength &b) {
  if (b.low != b.high || b.low <= 0 || a.low < 0)
    return std::nullopt;
  if (a.divisor % b.low == 0)
    return makeConstant(0);
  return ComputedLength{create("mod", {a.value, b.value}),
                        0,
                        std::min(a.high, b.low - 1),
                        std::gcd(a.divisor, b.low),
                        a.within,
                        /*isSum=*/false};
}

ComputedLength LengthReader::takeLeast(const ComputedLength &a,
                                       const ComputedLength &b) {
  if (a.high <= b.low)
    return a;
  if (b.high <= a.low)
    return b;
  return {create("min", {a.value, b.value}),
          std::min(a.low, b.low),
          std::min(a.high, b.high),
          std::gcd(a.divisor, b.divisor),
          a.within ? a.within : b.within,
          /*isSum=*/false};
}

ComputedLength LengthReader::takeMost(const ComputedLength &a,
                                      const ComputedLength &b) {
  if (a.high <= b.low)
    return b;
  if (b.high <= a.low)
    return a;
  auto within = a.within == b.within                        ? a.within
                : a.within && b.low == b.high && b.low <= 0 ? a.within
                : b.within && a.low == a.high && a.low <= 0 ? b.within
                                                            : std::nullopt;
  return {create("max", {a.value, b.value}),
          std::max(a.low, b.low),
          std::max(a.high, b.high),
          std::gcd(a.divisor, b.divisor),
          within,
          /*isSum=*/false};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

ComputedLength LengthReader::makeConstant(int64_t number) {
  Value value =
      builder.reshape(builder.constant(ArrayRef<int64_t>{number}), {});
  number = clampBound(number);
  return {value, number, number, std::abs(number)};
}

ComputedLength LengthReader::readSize(unsigned size) {
  const Lengths &lengths = importer.getLengths();
  Value value = builder.castTo(lengths.getCounts()[size],
                               builder.getBuilder().getI64Type());
  return {value,          0,   lengths.getSizes()[size].most, 1, size,
          /*isSum=*/true, size};
}

std::optional<ComputedLength> LengthReader::readBase(int64_t number,
                                                     uint64_t sources) {
  std::optional<unsigned> size;
  if (!given)
    size = importer.getLengths().findAmong(sources, number);
  else if (bases.size() < given->size())
    size = (*given)[bases.size()];
  // A fixed number may be equal to a length in one import, but not in all.
  if (!size || importer.getLengths().getValue(*size) != number)
    return std::nullopt;
  bases.push_back(*size);
  return readSize(*size);
}

std::optional<ComputedLength> LengthReader::read(StringRef name) {
  auto known = importer.readNumbers(name, scope);
  if (!known || known->size() != 1)
    return std::nullopt;
  uint64_t sources = importer.findSources(name, scope);
  if (sources == 0)
    return makeConstant(known->front());
  const LengthMaker *maker = importer.findMaker(name, scope);
  if (!maker)
    return readBase(known->front(), sources);
  if (maker->size)
    return readSize(*maker->size);
  if (maker->node.op_type() == "Shape")
    if (auto dim = readDim(maker->node, 0))
      return dim;
  static const llvm::StringSet<> asked = {"Shape", "Size", "Slice", "Split"};
  return asked.contains(maker->node.op_type())
             ? readBase(known->front(), sources)
             : readNode(maker->node);
}

std::optional<ComputedLength> LengthReader::readDim(const NodeProto &shape,
                                                    int64_t index) {
  Value x = importer.findValue(shape.input(0), scope);
  if (!x || !isTensor(x))
    return std::nullopt;
  for (const auto &attribute : shape.attribute())
    if (attribute.name() == "start")
      index += attribute.i() + (attribute.i() < 0 ? getRank(x) : 0);
  if (index < 0 || index >= getRank(x))
    return std::nullopt;
  if (auto size = importer.getLengths().findOf(x, index))
    return readSize(*size);
  if (importer.getLengths().isFixed(x, index))
    return makeConstant(getShape(x)[index]);
  return std::nullopt;
}

std::optional<ComputedLength> LengthReader::readElement(StringRef list,
                                                        int64_t index) {
  auto known = importer.readNumbers(list, scope);
  if (!known)
    return std::nullopt;
  auto count = static_cast<int64_t>(known->size());
  index += index < 0 ? count : 0;
  if (index < 0 || index >= count)
    return std::nullopt;
  const LengthMaker *maker = importer.findMaker(list, scope);
  if (count == 1)
    return read(list);
  if (maker && maker->node.op_type() == "Concat")
    for (const std::string &part : maker->node.input()) {
      auto elements = importer.readNumbers(part, scope);
      if (!elements)
        return std::nullopt;
      auto size = static_cast<int64_t>(elements->size());
      if (index < size)
        return readElement(part, index);
      index -= size;
    }
  if (maker && maker->node.op_type() == "Shape")
    if (auto dim = readDim(maker->node, index))
      return dim;
  const int64_t number = (*known)[index];
  uint64_t sources = importer.findSources(list, scope);
  if (sources == 0)
    return makeConstant(number);
  // Rows that data find lie along the first axis of that many elements; others
  // are as long by chance. Later imports find them by the same mark.
  constexpr unsigned fixed = std::numeric_limits<unsigned>::max();
  bool isFixed = given ? bases.size() + 1 < given->size() &&
                             (*given)[bases.size()] == fixed
                       : llvm::find(*known, number) - known->begin() != index;
  if (!isFixed)
    return readBase(number, sources);
  if (given && (*given)[bases.size() + 1] != unsigned(number))
    return std::nullopt;
  bases.insert(bases.end(), {fixed, unsigned(number)});
  return makeConstant(number);
}

/// Reads a Where: if one of the two values is chosen because it is the smaller
/// or the larger one, that is what the result is.
std::optional<ComputedLength> LengthReader::readChoice(const NodeProto &node) {
  const LengthMaker *condition = importer.findMaker(node.input(0), scope);
  if (!condition || condition->node.input_size() != 2)
    return std::nullopt;
  const NodeProto &compare = condition->node;
  static const llvm::StringMap<StringRef> functions = {
      {"Less", "less"},
      {"LessOrEqual", "less_equal"},
      {"Greater", "greater"},
      {"GreaterOrEqual", "greater_equal"},
      {"Equal", "equal"}};
  auto function = functions.find(compare.op_type());
  if (function == functions.end())
    return std::nullopt;
  auto a = read(compare.input(0)), b = read(compare.input(1)),
       chosen = read(node.input(1)), other = read(node.input(2));
  if (!a || !b || !chosen || !other)
    return std::nullopt;
  bool isEqual = compare.op_type() == "Equal";
  if (isEqual && (a->high < b->low || b->high < a->low))
    return other;
  bool isLess = StringRef(compare.op_type()).starts_with("Less");
  bool keepsOrder = compare.input(0) == node.input(1) &&
                    compare.input(1) == node.input(2),
       turnsOrder = compare.input(0) == node.input(2) &&
                    compare.input(1) == node.input(1);
  if (!isEqual && (keepsOrder || turnsOrder))
    return isLess == keepsOrder ? takeLeast(*chosen, *other)
                                : takeMost(*chosen, *other);
  Value isChosen = create(function->second, {a->value, b->value});
  return ComputedLength{
      create("select", {isChosen, chosen->value, other->value}),
      std::min(chosen->low, other->low),
      std::max(chosen->high, other->high),
      std::gcd(chosen->divisor, other->divisor),
      chosen->within == other->within ? chosen->within : std::nullopt,
      /*isSum=*/false};
}

std::optional<ComputedLength> LengthReader::readNode(const NodeProto &node) {
  StringRef op = node.op_type();
  if (!node.domain().empty() || node.input_size() == 0)
    return std::nullopt;
  static const llvm::StringSet<> moves = {"Identity",  "Cast",    "Squeeze",
                                          "Unsqueeze", "Reshape", "Concat"};
  if (moves.contains(op) && (op != "Concat" || node.input_size() == 1))
    return read(node.input(0));
  if (op == "Gather") {
    auto index = importer.readNumbers(node.input(1), scope);
    return index && index->size() == 1
               ? readElement(node.input(0), index->front())
               : std::nullopt;
  }
  if (op == "Where")
    return readChoice(node);
  SmallVector<ComputedLength> operands;
  if (op == "ReduceMin" || op == "ReduceMax") {
    auto list = importer.readNumbers(node.input(0), scope);
    for (size_t i = 0; list && i < list->size(); ++i)
      if (auto element = readElement(node.input(0), int64_t(i)))
        operands.push_back(*element);
    if (!list || operands.size() != list->size())
      return std::nullopt;
  } else {
    bool isClip = op == "Clip";
    for (auto [i, name] : llvm::enumerate(node.input())) {
      if (isClip && i > 0 && name.empty()) {
        operands.push_back(makeConstant(i == 1 ? -kMost : kMost));
        continue;
      }
      auto operand = read(name);
      if (!operand)
        return std::nullopt;
      operands.push_back(*operand);
    }
    if (isClip && operands.size() > 1)
      operands[0] = takeMost(operands[0], operands[1]);
    if (isClip)
      return operands.size() == 3 ? takeLeast(operands[0], operands[2])
                                  : operands[0];
  }
  if (operands.empty())
    return std::nullopt;
  if (op == "Neg")
    return subtract(makeConstant(0), operands[0]);
  ComputedLength result = operands[0];
  for (const ComputedLength &next : llvm::drop_begin(operands)) {
    std::optional<ComputedLength> combined;
    if (op == "Add" || op == "Sum")
      combined = add(result, next);
    else if (op == "Sub")
      combined = subtract(result, next);
    else if (op == "Mul")
      combined = multiply(result, next);
    else if (op == "Div")
      combined = divide(result, next);
    else if (op == "Mod")
      combined = takeRest(result, next);
    else if (op == "Min" || op == "ReduceMin")
      combined = takeLeast(result, next);
    else if (op == "Max" || op == "ReduceMax")
      combined = takeMost(result, next);
    if (!combined)
      return std::nullopt;
    result = *combined;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Lengths of their own
//===----------------------------------------------------------------------===//

Value GraphImporter::computeNumber(LayerBuilder &layer, StringRef name,
                                   const Scope &scope) {
  Value value = findValue(name, scope);
  if (findSources(name, scope) == 0 || isInBody() || !value ||
      !isTensor(value) || getNumElements(value) != 1)
    return {};
  LengthReader reader(*this, layer, scope, /*bases=*/nullptr);
  auto computed = reader.read(name);
  if (!computed || !reader.bases.empty())
    return {};
  return layer.reshape(layer.castTo(computed->value, getElement(value)),
                       getShape(value));
}

Value GraphImporter::makeLength(const NodeProto &node, Scope &scope,
                                Value result) {
  static const llvm::StringSet<> makers = {
      "Min", "Max", "Clip", "Div", "Mod", "Where", "ReduceMin", "ReduceMax"};
  auto type = result ? dyn_cast<RankedTensorType>(result.getType()) : nullptr;
  if (lengths.getSizes().empty() || !node.domain().empty() ||
      !makers.contains(node.op_type()) || !type ||
      getNumElements(result) != 1 || !isa<IntegerType>(type.getElementType()) ||
      !result.getDefiningOp<nn::ConstantOp>() || isInBody())
    return result;
  uint64_t sources = 0;
  for (const std::string &name : node.input())
    sources |= findSources(name, scope);
  const std::string name = scope.prefix + node.output(0);
  if (sources == 0 || !lengths.mayBeNext(name))
    return result;
  LayerBuilder layer(builder, problems, getLoc(node, scope), node.op_type());
  const FoundSize *expected = lengths.getExpected();
  LengthReader reader(*this, layer, scope,
                      expected ? &expected->bases : nullptr);
  auto computed = reader.readNode(node);
  if (!computed || computed->isSum || computed->low < 0 ||
      computed->high >= kMost)
    return result;
  auto size = addComputedLength(
      layer, {name, computed->high, computed->within, reader.bases},
      computed->value);
  if (!size)
    return {};
  scope.makers[node.output(0)] = {node, size};
  Value value = layer.constant(ArrayRef<int64_t>{lengths.getValue(*size)});
  return layer.reshape(layer.castTo(value, type.getElementType()),
                       type.getShape());
}
