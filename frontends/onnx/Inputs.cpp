//===- Inputs.cpp - Shapes of the network's inputs ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Inputs.h"

#include "frontends/onnx/Types.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace nnc::onnx;
using ::onnx::GraphProto;
using ::onnx::TensorShapeProto;
using ::onnx::ValueInfoProto;
using Shapes = std::map<std::string, std::vector<int64_t>>;

/// Names of dimensions, with their sizes once they are known.
using Symbols = llvm::StringMap<int64_t>;

/// The dimension's name. Some exporters write "?" or -1 for one without.
static StringRef getSymbol(const TensorShapeProto::Dimension &dim) {
  StringRef name = dim.dim_param();
  return !name.empty() && (llvm::isAlpha(name[0]) || name[0] == '_')
             ? name
             : StringRef();
}

static bool isOpen(const TensorShapeProto::Dimension &dim) {
  return !dim.has_dim_value() || dim.dim_value() < 0;
}

/// Some exporters write 0 for what they do not know.
static bool mayBind(const TensorShapeProto::Dimension &dim) {
  return isOpen(dim) || dim.dim_value() == 0;
}

/// "1x3x?x320": the sizes that the model gives.
static std::string describe(const TensorShapeProto &shape,
                            const Symbols &symbols) {
  std::string text;
  for (const auto &dim : shape.dim()) {
    text += text.empty() ? "" : "x";
    auto bound = symbols.find(getSymbol(dim));
    if (!isOpen(dim))
      text += std::to_string(dim.dim_value());
    else if (bound != symbols.end())
      text += std::to_string(bound->second);
    else
      text += "?";
  }
  return text;
}

namespace {

class Binder {
public:
  Binder(const GraphProto &graph, const Shapes &shapes, Problems &problems)
      : graph(graph), shapes(shapes), problems(problems) {}
  std::vector<Input> run();

private:
  void checkNames();
  void learnSymbols(const ValueInfoProto &input);
  std::optional<SmallVector<int64_t>> getShape(const ValueInfoProto &input);
  RankedTensorType getType(const ValueInfoProto &input);

  const GraphProto &graph;
  const Shapes &shapes;
  Problems &problems;
  SmallVector<const ValueInfoProto *> inputs;
  Symbols symbols;
};

} // namespace

/// A shape for an input that is not there is a typing mistake.
void Binder::checkNames() {
  for (const auto &[name, shape] : shapes) {
    bool isKnown = llvm::any_of(inputs, [&, &name = name](auto *input) {
      return input->name() == name;
    });
    if (isKnown)
      continue;
    auto diagnostic = problems.report(ImportStatus::unbound);
    diagnostic << "has no input '" << name
               << "' to give a shape to; its inputs "
               << "are ";
    llvm::interleaveComma(inputs, diagnostic, [&](auto *input) {
      diagnostic << "'" << input->name() << "'";
    });
  }
}

void Binder::learnSymbols(const ValueInfoProto &input) {
  auto given = shapes.find(input.name());
  const auto &shape = input.type().tensor_type().shape();
  if (given == shapes.end() ||
      static_cast<int>(given->second.size()) != shape.dim_size())
    return;
  for (auto [dim, size] : llvm::zip(shape.dim(), given->second))
    if (StringRef symbol = getSymbol(dim); isOpen(dim) && !symbol.empty())
      symbols.try_emplace(symbol, size);
}

std::optional<SmallVector<int64_t>>
Binder::getShape(const ValueInfoProto &input) {
  Location loc = problems.getLoc(input.name());
  const auto &declared = input.type().tensor_type().shape();
  bool hasShape = input.type().tensor_type().has_shape();
  std::string stated = describe(declared, {});
  auto given = shapes.find(input.name());
  if (given == shapes.end()) {
    std::string known = describe(declared, symbols);
    if (hasShape && !StringRef(known).contains('?')) {
      SmallVector<int64_t> sizes;
      for (const auto &dim : declared.dim())
        sizes.push_back(isOpen(dim) ? symbols.lookup(getSymbol(dim))
                                    : dim.dim_value());
      return sizes;
    }
    auto diagnostic = problems.report(ImportStatus::unbound, loc);
    diagnostic << "input '" << input.name() << "' has open dimensions";
    if (hasShape)
      diagnostic << ": pass --shape " << input.name() << "=" << known
                 << " with a number for each '?'";
    else
      diagnostic << " and not even their number: pass --shape " << input.name()
                 << "=1x3x224x224 or what it is";
    return std::nullopt;
  }
  SmallVector<int64_t> sizes(given->second.begin(), given->second.end());
  bool fits =
      !hasShape || static_cast<int>(sizes.size()) == declared.dim_size();
  for (int i = 0; fits && hasShape && i < declared.dim_size(); ++i) {
    const auto &dim = declared.dim(i);
    auto bound = symbols.find(getSymbol(dim));
    fits = mayBind(dim) ? bound == symbols.end() || bound->second == sizes[i]
                        : dim.dim_value() == sizes[i];
  }
  if (fits)
    return sizes;
  problems.report(ImportStatus::unbound, loc)
      << "input '" << input.name() << "' has shape "
      << (declared.dim_size() ? describe(declared, symbols) : "()")
      << " in the model, which the given " << toString(sizes)
      << " does not fit";
  return std::nullopt;
}

RankedTensorType Binder::getType(const ValueInfoProto &input) {
  Location loc = problems.getLoc(input.name());
  if (!input.type().has_tensor_type()) {
    bool isNone = input.type().value_case() == ::onnx::TypeProto::VALUE_NOT_SET;
    problems.report(isNone ? ImportStatus::broken : ImportStatus::unsupported,
                    loc)
        << "input '" << input.name() << "' is "
        << (isNone ? "of no type" : "not a tensor; nnc handles only those");
    return {};
  }
  int32_t dataType = input.type().tensor_type().elem_type();
  Type element = getElementType(loc.getContext(), dataType);
  if (!element)
    problems.report(
        dataType == 0 ? ImportStatus::broken : ImportStatus::unsupported, loc)
        << "input '" << input.name() << "' has elements of type "
        << getDataTypeName(dataType) << ", which nnc does not handle yet";
  auto shape = getShape(input);
  if (!shape || !element)
    return {};
  if (auto problem = findSizeProblem(*shape, element)) {
    problems.report(ImportStatus::limit, loc)
        << "input '" << input.name() << "' is one " << *problem;
    return {};
  }
  if (llvm::is_contained(*shape, 0) && !shapes.count(input.name()))
    emitWarning(loc) << "input '" << input.name() << "' is of shape "
                     << toString(*shape) << ", which has no elements; pass "
                     << "--shape " << input.name() << "=... if that is not so";
  return RankedTensorType::get(*shape, element);
}

std::vector<Input> Binder::run() {
  llvm::StringSet<> initializers;
  for (const auto &tensor : graph.initializer())
    initializers.insert(tensor.name());
  for (const auto &input : graph.input())
    if (!initializers.contains(input.name()))
      inputs.push_back(&input);
  checkNames();
  for (const ValueInfoProto *input : inputs)
    learnSymbols(*input);
  std::vector<Input> result;
  for (const ValueInfoProto *input : inputs) {
    const auto &type = input->type().tensor_type();
    bool isOpen =
        !type.has_shape() || llvm::any_of(type.shape().dim(), mayBind);
    result.push_back({input->name(), getType(*input),
                      isOpen && shapes.count(input->name()) > 0});
  }
  return result;
}

std::vector<Input> nnc::onnx::bindInputs(const GraphProto &graph,
                                         const Shapes &shapes,
                                         Problems &problems) {
  return Binder(graph, shapes, problems).run();
}
