//===- FoundSizes.cpp - Data-dependent sizes ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The program states the shapes of all tensors. A size that data decide is a
// symbol, such as u0, which the first operator that finds it binds to the value
// of the size in this import; shapes and numbers that are expressions of the
// symbol follow. A size that is computed from others by more than sums and
// products becomes a size of its own (frontends/common/Lengths.h).
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::torch;

bool GraphImporter::keepsEmpty() const {
  return options.isSample && llvm::is_contained(options.foundSizes, 0);
}

StringRef GraphImporter::getSizeText(const Scope &scope, StringRef name,
                                     int64_t axis) const {
  const json::Object *values = scope.graph->getObject("tensor_values");
  const json::Object *meta = values ? values->getObject(name) : nullptr;
  const json::Array *sizes = meta ? meta->getArray("sizes") : nullptr;
  return sizes && axis >= 0 && axis < static_cast<int64_t>(sizes->size())
             ? getSizeExpression((*sizes)[axis])
             : StringRef();
}

/// Returns the name of the symbol that an expression consists of; an empty
/// string if it is another expression.
static std::string getOnlySymbol(StringRef expression) {
  std::set<std::string> names = findSymbols(expression);
  return names.size() == 1 && describe(expression) == *names.begin()
             ? *names.begin()
             : "";
}

void GraphImporter::bindLength(StringRef symbol, unsigned size) {
  symbols[symbol] = lengths.getValue(size);
  found[symbol] = LengthExpression::getLength(size);
}

std::optional<unsigned> GraphImporter::findLength(const Scope &scope,
                                                  StringRef name,
                                                  int64_t axis) const {
  StringRef text = getSizeText(scope, name, axis);
  LengthExpression number =
      text.empty() ? LengthExpression() : readLength(text, lengths, found);
  if (!number || number.getConstant())
    return std::nullopt;
  auto size = number.getLength();
  return size ? size : lengths.findEqual(number);
}

std::optional<unsigned> GraphImporter::addLength(Node &node, size_t result,
                                                 int64_t axis, int64_t most,
                                                 Value count) {
  ArrayRef<StringRef> names = node.getResultNames();
  if (result >= names.size() || !count)
    return std::nullopt;
  if (auto known = findLength(node.getScope(), names[result], axis))
    return known;
  std::string symbol =
      getOnlySymbol(getSizeText(node.getScope(), names[result], axis));
  if (symbol.empty()) {
    node.unsupported("finds a number of elements, for which the program states "
                     "no symbol");
    return std::nullopt;
  }
  auto size = lengths.add(node, FoundSize{names[result].str(), most}, count);
  if (size)
    bindLength(symbol, *size);
  return size;
}

std::optional<int64_t> GraphImporter::findLargest(StringRef symbol) {
  const json::Object *ranges = program.getRoot().getObject("range_constraints");
  const json::Object *range = ranges ? ranges->getObject(symbol) : nullptr;
  auto most = range ? range->getInteger("max_val") : std::nullopt;
  if (!most || *most > INT32_MAX || *most < 0)
    return std::nullopt;
  return most;
}

std::optional<int64_t> GraphImporter::getLargestSize(Node &node, size_t result,
                                                     int64_t axis) {
  ArrayRef<StringRef> names = node.getResultNames();
  std::string symbol =
      result < names.size()
          ? getOnlySymbol(getSizeText(node.getScope(), names[result], axis))
          : "";
  auto most = symbol.empty() ? std::nullopt : findLargest(symbol);
  if (!most)
    node.unsupported("has a result whose size depends on data and has no upper "
                     "bound; state one in the model by "
                     "torch._check(result.shape[" +
                     Twine(axis) + "] <= 100)");
  return most;
}

void GraphImporter::bindKnown(Node &node, size_t result, int64_t axis,
                              int64_t size) {
  ArrayRef<StringRef> names = node.getResultNames();
  std::string symbol =
      result < names.size()
          ? getOnlySymbol(getSizeText(node.getScope(), names[result], axis))
          : "";
  if (!symbol.empty())
    symbols.try_emplace(symbol, size);
}

std::optional<unsigned>
GraphImporter::addComputedLength(Node &node, size_t result, int64_t axis) {
  ArrayRef<StringRef> names = node.getResultNames();
  if (lengths.getSizes().empty() || result >= names.size())
    return std::nullopt;
  StringRef text = getSizeText(node.getScope(), names[result], axis);
  LengthExpression number =
      text.empty() ? LengthExpression() : readLength(text, lengths, found);
  if (!number || number.getConstant())
    return std::nullopt;
  if (auto size = number.getLength())
    return size;
  if (number.isSum() || lengths.getBounds(number).first < 0)
    return std::nullopt;
  if (auto size = lengths.findEqual(number))
    return size;
  if (!lengths.mayBeNext(names[result]))
    return std::nullopt;
  return lengths.addComputed(node, FoundSize{names[result].str(),
                                             lengths.getBounds(number).second,
                                             lengths.findOuter(number),
                                             {},
                                             number});
}

void GraphImporter::addItemLength(Node &node, StringRef name, Value value) {
  const json::Object *stated = nullptr;
  if (const json::Object *values =
          node.getScope().graph->getObject("sym_int_values"))
    stated = values->getObject(name);
  const json::Object *expression =
      stated ? stated->getObject("as_expr") : nullptr;
  std::string symbol =
      expression ? getOnlySymbol(expression->getString("expr_str").value_or(""))
                 : "";
  if (symbol.empty() || found.count(symbol) || !value)
    return;
  // Sizes of tensors that consist of the symbol.
  bool isUsed = false;
  if (const json::Object *values =
          node.getScope().graph->getObject("tensor_values"))
    for (const auto &entry : *values)
      if (const json::Object *meta = entry.second.getAsObject())
        for (const json::Value &size : getList(*meta, "sizes"))
          isUsed |= findSymbols(getSizeExpression(size)).count(symbol) != 0;
  if (!isUsed)
    return;
  auto most = findLargest(symbol);
  if (!most) {
    node.unsupported("has a result that is the size of a tensor and has no "
                     "upper bound; state one in the model by "
                     "torch._check(number <= 100)");
    return;
  }
  // PyTorch raises an error for a number out of the bounds.
  Value count = node.createBinary(
      "max", node.createBinary("min", value, static_cast<double>(*most)), 0);
  if (auto size = count ? lengths.add(node, FoundSize{name.str(), *most}, count)
                        : std::nullopt)
    bindLength(symbol, *size);
}

Value GraphImporter::linkConstant(const Scope &scope, StringRef name,
                                  Value value) {
  if (lengths.getSizes().empty() || !value ||
      !value.getDefiningOp<nn::ConstantOp>() || getRank(value) == 0)
    return value;
  uint64_t used = 0;
  for (int64_t axis = 0; axis < getRank(value); ++axis) {
    StringRef text = getSizeText(scope, name, axis);
    LengthExpression number =
        text.empty() ? LengthExpression() : readLength(text, lengths, found);
    if (number)
      used |= number.getLengths();
  }
  for (unsigned size = 0; size < lengths.getSizes().size(); ++size)
    if (used >> size & 1)
      value = lengths.link(builder, value.getLoc(), value, size);
  return value;
}
