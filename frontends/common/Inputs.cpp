//===- Inputs.cpp - Shapes of the network's inputs ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Inputs.h"

#include "frontends/common/GivenValues.h"
#include "frontends/common/Limits.h"
#include "frontends/common/SizeGuesses.h"
#include "frontends/common/Suggest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace nnc::frontends;

/// Names of dimensions, with their sizes once they are known.
using Symbols = llvm::StringMap<int64_t>;

/// Returns true if the user may give the size of the dimension.
static bool mayBind(const Dim &dim) { return dim.size.value_or(0) == 0; }

/// Returns the sizes according to the model and the symbols as text, such as
/// "1x3x?x320".
static std::string describe(ArrayRef<Dim> dims, const Symbols &symbols) {
  std::string text;
  for (const Dim &dim : dims) {
    text += text.empty() ? "" : "x";
    auto bound = symbols.find(dim.symbol);
    if (dim.size)
      text += std::to_string(*dim.size);
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
  Binder(ArrayRef<TensorInfo> inputs, const GivenShapes &given,
         const ImportOptions &options, Problems &problems)
      : inputs(inputs),
        shapes(addShapesOfValues(given, inputs, options.values)),
        values(options.values), options(options), problems(problems) {
    if (options.batch)
      takeBatch();
    for (const TensorInfo &input : this->inputs)
      learnSymbols(input);
    if (options.takesOneSample)
      takeOneSample();
  }
  std::vector<Input> run();

private:
  void checkName(const std::string &name, StringRef purpose);
  void checkNames();
  void takeBatch();
  void learnSymbols(const TensorInfo &input);
  void takeOneSample();
  std::optional<SmallVector<int64_t>> getShape(const TensorInfo &input);
  RankedTensorType getType(const TensorInfo &input);
  std::optional<TensorInfo> getOpen(const TensorInfo &input) const;

  ArrayRef<TensorInfo> inputs;
  std::vector<TensorInfo> batched; ///< what `inputs` refers to with a batch
  GivenShapes shapes;
  const GivenValues &values;
  const ImportOptions &options;
  Problems &problems;
  Symbols symbols;
  llvm::StringSet<> samples; ///< inputs that takeOneSample() gave a shape
};

} // namespace

/// Reports that an option names an input that the model does not have, which is
/// a typing mistake.
void Binder::checkName(const std::string &name, StringRef purpose) {
  auto isIt = [&](const TensorInfo &input) { return input.name == name; };
  if (llvm::any_of(inputs, isIt))
    return;
  auto diagnostic = problems.report(ImportStatus::unbound);
  diagnostic << "has no input '" << name << "' " << purpose
             << "; its inputs are ";
  llvm::interleaveComma(inputs, diagnostic, [&](const TensorInfo &input) {
    diagnostic << "'" << input.name << "'";
  });
  std::vector<std::string> names;
  for (const TensorInfo &input : inputs)
    names.push_back(input.name);
  diagnostic << didYouMean(name, names);
}

/// Binds the first dimension of each input that is passed in to the batch.
void Binder::takeBatch() {
  batched = inputs.vec();
  for (TensorInfo &input : batched) {
    if (values.count(input.name) || input.isReported)
      continue;
    auto given = shapes.find(input.name);
    if (given != shapes.end() && !given->second.empty() &&
        given->second.front() == 1)
      given->second.front() = options.batch;
    if (!input.dims)
      continue;
    if (input.dims->empty() || !mayBind(input.dims->front())) {
      problems.report(ImportStatus::unsupported, problems.getLoc(input.name))
          << "input '" << input.name << "' has shape "
          << (input.dims->empty() ? "()" : describe(*input.dims, symbols))
          << " in the model: --batch needs a first dimension that the model "
             "leaves open; export it with a dynamic batch";
      input.isReported = true;
      continue;
    }
    Dim &first = input.dims->front();
    if (!first.symbol.empty())
      symbols.try_emplace(first.symbol, options.batch);
    else
      first.size = options.batch;
  }
  inputs = batched;
}

void Binder::learnSymbols(const TensorInfo &input) {
  auto given = shapes.find(input.name);
  if (given == shapes.end() || !input.dims ||
      given->second.size() != input.dims->size())
    return;
  for (auto [dim, size] : llvm::zip(*input.dims, given->second))
    if (!dim.size && !dim.symbol.empty())
      symbols.try_emplace(dim.symbol, size);
}

/// Gives inputs the shape of one sample if in each of them only the first
/// dimension is open and may be the number of samples. Exporters may use
/// another name for that number in each input.
void Binder::takeOneSample() {
  SmallVector<const TensorInfo *> open;
  bool hasRows = false;
  for (const TensorInfo &input : inputs) {
    if (input.isReported || values.count(input.name))
      continue;
    if (!input.dims)
      return;
    ArrayRef<Dim> dims = *input.dims;
    auto isOpen = [&](const Dim &dim) {
      return !dim.size && !symbols.count(dim.symbol);
    };
    // If the user gives one input a number of samples, the others get the same.
    if (shapes.count(input.name)) {
      if (!dims.empty() && isOpen(dims.front()))
        return;
      continue;
    }
    if (llvm::none_of(dims, isOpen))
      continue;
    if (llvm::any_of(dims.drop_front(), isOpen))
      return;
    open.push_back(&input);
    hasRows |= dims.size() > 1;
  }
  for (const TensorInfo *input : open)
    if (!mayBeBatch(input->dims->front().symbol, hasRows))
      return;
  for (const TensorInfo *input : open) {
    std::vector<int64_t> &shape = shapes[input->name];
    for (const Dim &dim : *input->dims) {
      auto bound = symbols.find(dim.symbol);
      shape.push_back(dim.size                 ? *dim.size
                      : bound != symbols.end() ? bound->second
                                               : 1);
    }
    samples.insert(input->name);
  }
}

std::optional<SmallVector<int64_t>> Binder::getShape(const TensorInfo &input) {
  Location loc = problems.getLoc(input.name);
  ArrayRef<Dim> declared;
  if (input.dims)
    declared = *input.dims;
  auto given = shapes.find(input.name);
  if (given == shapes.end()) {
    std::string known = describe(declared, symbols);
    if (input.dims && !StringRef(known).contains('?')) {
      SmallVector<int64_t> sizes;
      for (const Dim &dim : declared)
        sizes.push_back(dim.size ? *dim.size : symbols.lookup(dim.symbol));
      return sizes;
    }
    auto diagnostic = problems.report(ImportStatus::unbound, loc);
    diagnostic << "input '" << input.name << "' has open dimensions";
    if (input.dims)
      diagnostic << ": pass --shape " << input.name << "=" << known
                 << " with a number for each '?'";
    else
      diagnostic << " and not even their number: pass --shape " << input.name
                 << "=1x3x224x224 or what it is";
    addExpectation(diagnostic, "a size for each dimension",
                   input.dims ? Twine(known) : Twine("no shape"));
    return std::nullopt;
  }
  SmallVector<int64_t> sizes(given->second.begin(), given->second.end());
  bool fits = !input.dims || sizes.size() == declared.size();
  for (size_t i = 0; fits && i < declared.size(); ++i) {
    auto bound = symbols.find(declared[i].symbol);
    fits = mayBind(declared[i])
               ? bound == symbols.end() || bound->second == sizes[i]
               : *declared[i].size == sizes[i];
  }
  if (fits)
    return sizes;
  std::string shape = declared.empty() ? "()" : describe(declared, symbols);
  auto diagnostic = problems.report(ImportStatus::unbound, loc);
  diagnostic << "input '" << input.name << "' has shape " << shape
             << " in the model, which the given " << toString(sizes)
             << " does not fit";
  addExpectation(diagnostic, shape, toString(sizes));
  return std::nullopt;
}

RankedTensorType Binder::getType(const TensorInfo &input) {
  if (input.isReported)
    return {};
  Location loc = problems.getLoc(input.name);
  if (input.elementName.empty())
    problems.report(ImportStatus::broken, loc)
        << "input '" << input.name << "' has no element type";
  else if (!input.element)
    problems.report(ImportStatus::unsupported, loc)
        << "input '" << input.name << "' has elements of type "
        << input.elementName << ", which nnc does not handle";
  auto shape = getShape(input);
  if (!shape || !input.element)
    return {};
  if (auto problem =
          findSizeProblem(*shape, input.element, problems.getLimits())) {
    problems.report(ImportStatus::limit, loc)
        << "input '" << input.name << "' is one " << *problem;
    return {};
  }
  if (llvm::is_contained(*shape, 0) && !shapes.count(input.name))
    emitWarning(loc) << "input '" << input.name << "' is of shape "
                     << toString(*shape) << ", which has no elements; pass "
                     << "--shape " << input.name << "=... if that is not so";
  return RankedTensorType::get(*shape, input.element);
}

/// Returns the known dimensions of an input that still has open dimensions.
std::optional<TensorInfo> Binder::getOpen(const TensorInfo &input) const {
  if (shapes.count(input.name))
    return std::nullopt;
  TensorInfo open = input;
  bool isOpen = !input.dims;
  for (size_t i = 0; input.dims && i < input.dims->size(); ++i) {
    Dim &dim = (*open.dims)[i];
    auto bound = symbols.find(dim.symbol);
    if (!dim.size && bound != symbols.end())
      dim.size = bound->second;
    isOpen |= !dim.size;
  }
  return isOpen ? std::optional(std::move(open)) : std::nullopt;
}

void Binder::checkNames() {
  // The names were already checked before the import with guessed sizes.
  if (!options.trial.empty())
    return;
  for (const auto &[name, shape] : shapes)
    checkName(name, "to give a shape to");
  for (const auto &[name, value] : values)
    checkName(name, "to give a value to");
  if (!options.streamed.empty())
    checkName(options.streamed, "that is a window of time");
}

std::vector<Input> Binder::run() {
  checkNames();
  std::vector<Input> result;
  for (const TensorInfo &input : inputs) {
    bool isOpen = !input.dims || llvm::any_of(*input.dims, mayBind);
    bool isGiven = isOpen && shapes.count(input.name) > 0;
    result.push_back({input.name,
                      getType(input),
                      isGiven || options.batch > 0,
                      {},
                      samples.contains(input.name),
                      getOpen(input)});
    auto given = values.find(input.name);
    if (given == values.end() || !result.back().type)
      continue;
    result.back().value =
        makeGivenValue(input, result.back().type, given->second, problems);
    result.back().isRebound = false;
    // A value that does not fit is reported. Without a type, its readers report
    // no further errors.
    if (!result.back().value)
      result.back().type = {};
  }
  return result;
}

std::vector<Input> nnc::frontends::bindInputs(ArrayRef<TensorInfo> inputs,
                                              const GivenShapes &shapes,
                                              const ImportOptions &options,
                                              Problems &problems) {
  return Binder(inputs, shapes, options, problems).run();
}
