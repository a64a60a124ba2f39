//===- Layer.cpp - A node as its converter sees it ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/graph/Layer.h"

#include "frontends/common/Fold.h"

#include "llvm/Support/JSON.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::mxnet;

Layer::Layer(GraphImporter &importer, const SymbolNode &node,
             ArrayRef<Value> inputs, Location loc)
    : LayerBuilder(importer.getBuilder(), importer.getProblems(), loc, node.op),
      importer(importer), node(node), inputs(inputs.begin(), inputs.end()) {}

Value Layer::getOwnParameter(StringRef suffix) {
  return importer.getParameter((node.name + "_" + suffix).str());
}

void Layer::setResult(size_t i, Value value) {
  if (results.size() <= i)
    results.resize(i + 1);
  results[i] = value;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const std::string *Layer::find(StringRef name) const {
  auto found = node.attributes.find(name);
  bool isAbsent = found == node.attributes.end() || found->second == "None";
  return isAbsent ? nullptr : &found->second;
}

void Layer::failForm(StringRef name, StringRef form) {
  broken("has the attribute " + name + "='" +
         llvm::json::fixUTF8(StringRef(*find(name)).take_front(80)) +
         "', which is not " + form);
  failed = true;
}

StringRef Layer::getText(StringRef name, StringRef otherwise) const {
  const std::string *text = find(name);
  return text ? StringRef(*text) : otherwise;
}

int64_t Layer::getInt(StringRef name, int64_t otherwise) {
  const std::string *text = find(name);
  auto value = text ? parseInt(*text) : std::optional(otherwise);
  // Python may print an integer as a number with a fraction of 0.
  if (!value)
    if (auto real = parseReal(*text);
        real && *real == std::floor(*real) && std::abs(*real) < 1e15)
      value = static_cast<int64_t>(*real);
  if (!value)
    failForm(name, "an integer");
  return value.value_or(otherwise);
}

double Layer::getReal(StringRef name, double otherwise) {
  const std::string *text = find(name);
  auto value = text ? parseReal(*text) : std::optional(otherwise);
  if (!value)
    failForm(name, "a number");
  return value.value_or(otherwise);
}

bool Layer::getBool(StringRef name, bool otherwise) {
  const std::string *text = find(name);
  auto value = text ? parseBool(*text) : std::optional(otherwise);
  if (!value)
    failForm(name, "True or False");
  return value.value_or(otherwise);
}

OptionalInts Layer::getOptionalInts(StringRef name) {
  const std::string *text = find(name);
  auto value = text ? parseTuple(*text) : std::optional(OptionalInts());
  if (!value)
    failForm(name, "a tuple of integers");
  return value.value_or(OptionalInts());
}

std::optional<SmallVector<int64_t>> Layer::getInts(StringRef name) {
  if (!has(name))
    return std::nullopt;
  SmallVector<int64_t> ints;
  for (std::optional<int64_t> entry : getOptionalInts(name))
    if (entry)
      ints.push_back(*entry);
  return ints;
}

SmallVector<double> Layer::getReals(StringRef name,
                                    ArrayRef<double> otherwise) {
  const std::string *text = find(name);
  auto value =
      text ? parseReals(*text) : std::optional(SmallVector<double>(otherwise));
  if (!value)
    failForm(name, "a tuple of numbers");
  return value.value_or(SmallVector<double>(otherwise));
}

SmallVector<int64_t> Layer::getSizes(StringRef name, size_t count,
                                     int64_t otherwise, int64_t least) {
  SmallVector<int64_t> ones(count, otherwise);
  auto sizes = getInts(name);
  if (!sizes || sizes->empty())
    return ones;
  bool fits = sizes->size() == count && llvm::all_of(*sizes, [&](int64_t size) {
                return size >= least && size <= INT32_MAX;
              });
  if (!fits && !failed) {
    broken("has " + name + " " + toString(*sizes) + "; it needs " +
           Twine(count) + " numbers of at least " + Twine(least));
    failed = true;
  }
  return fits ? *sizes : ones;
}

std::optional<int64_t> Layer::getAxis(StringRef name, int64_t otherwise,
                                      int64_t rank) {
  return normalizeAxis(getInt(name, otherwise), rank);
}

Type Layer::getDtype(StringRef name, Type otherwise) {
  const std::string *text = find(name);
  if (!text)
    return otherwise;
  int64_t number = getTypeNumber(*text);
  // Hidden keys and old operators have the number of the type.
  if (number < 0)
    number = parseInt(*text).value_or(-1);
  Type type = getElementType(getLoc().getContext(), number);
  if (!type)
    unsupported("has the element type " + Twine(*text) +
                ", which nnc does not handle");
  return type;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Value Layer::slice(Value x, int64_t axis, int64_t begin, int64_t size,
                   int64_t step) {
  if (!x || (begin == 0 && step == 1 && getShape(x)[axis] == size))
    return x;
  SmallVector<int64_t> starts(getRank(x), 0), sizes(getShape(x)),
      steps(getRank(x), 1);
  starts[axis] = begin;
  sizes[axis] = size;
  steps[axis] = step;
  return create<nn::SliceOp>(x, starts, sizes, steps);
}

Value Layer::moveAxis(Value x, int64_t from, int64_t to) {
  SmallVector<int64_t> permutation = iota(getRank(x));
  permutation.erase(permutation.begin() + from);
  permutation.insert(permutation.begin() + to, from);
  return transpose(x, permutation);
}

Value Layer::reduce(nn::ReduceKind kind, Value x, ArrayRef<int64_t> axes,
                    bool keepdims) {
  Value y = create<nn::ReduceOp>(kind, x, axes, keepdims);
  // Graphs that were quantized while running compute the ranges of weights.
  Operation *op = y ? y.getDefiningOp() : nullptr;
  if (!op || !x.getDefiningOp<nn::ConstantOp>() ||
      getNumElements(y) > frontends::kMaxInlineElements)
    return y;
  ElementsAttr value = frontends::foldConstants(op, node.name);
  if (!value)
    return y;
  op->erase();
  return constant(value);
}

void nnc::mxnet::convertCustom(Layer &layer, Customs &customs,
                               const CustomFunction &function, StringRef op) {
  Customs::Call call;
  call.name = op.str();
  if (layer.getNumInputs() == 0 || !layer.getInput(0))
    return;
  for (Value operand : layer.getInputs()) {
    if (!operand)
      return;
    call.operands.push_back(operand);
    call.reads.push_back(
        describePlain(cast<RankedTensorType>(operand.getType())));
  }
  call.writes.push_back(call.reads.front());
  Builder &builder = layer.getBuilder();
  for (const auto &entry : layer.getNode().attributes)
    if (!entry.getKey().starts_with("__"))
      call.attributes.push_back(builder.getNamedAttr(
          entry.getKey(), builder.getStringAttr(entry.second)));
  SmallVector<Value> results = customs.create(function, call, layer);
  for (auto [i, result] : llvm::enumerate(results))
    layer.setResult(i, result);
}
