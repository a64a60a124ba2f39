//===- Declarations.cpp - Types that a model declares for its values ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Declarations.h"

#include "frontends/common/Limits.h"

using namespace mlir;
using namespace nnc::frontends;

/// Returns true if the model states a size. Some exporters write 0 for what
/// they do not know.
static bool isKnown(const Dim &dim) { return dim.size.value_or(0) > 0; }

/// Returns a text such as "1x?x8": open and named dimensions are not numbers.
static std::string describe(ArrayRef<Dim> dims) {
  std::string text;
  for (const Dim &dim : dims) {
    text += text.empty() ? "" : "x";
    text += isKnown(dim) ? std::to_string(*dim.size) : "?";
  }
  return text.empty() ? "()" : text;
}

static bool fits(ArrayRef<Dim> dims, ArrayRef<int64_t> inferred) {
  if (dims.size() != inferred.size())
    return false;
  for (auto [dim, size] : llvm::zip(dims, inferred))
    if (isKnown(dim) && *dim.size != size)
      return false;
  return true;
}

void Declarations::check(const Scope &scope, StringRef name,
                         RankedTensorType inferred, StringRef origin,
                         Location loc) {
  auto found = scope.find(name);
  if (found == scope.end() || found->second.isDerived)
    return;
  const TensorInfo &declared = found->second.info;
  StringRef list = found->second.list;
  Type element = inferred.getElementType();
  if (!declared.elementName.empty() && declared.element != element) {
    auto diagnostic = problems.report(ImportStatus::broken, loc);
    diagnostic << origin << " gives '" << name << "' elements of type "
               << nameOf(element) << ", but the model declares "
               << declared.elementName << " for it among its " << list
               << "; correct the declaration, or add a Cast";
    addExpectation(diagnostic, declared.elementName, nameOf(element));
  }
  bool hasRank =
      declared.dims && declared.dims->size() == size_t(inferred.getRank());
  if (!declared.dims || (isLoose && hasRank) ||
      fits(*declared.dims, inferred.getShape()))
    return;
  std::string shape = describe(*declared.dims),
              actual = toString(inferred.getShape());
  if (isRebound) {
    if (stale++ == 0)
      firstStale =
          (name + "' (declared " + shape + ", now " + actual + ")").str();
    return;
  }
  auto diagnostic = problems.report(ImportStatus::broken, loc);
  diagnostic
      << origin << " gives '" << name << "' the shape " << actual
      << ", but the model declares " << shape << " for it among its " << list
      << "; correct the declaration, or remove it from the file: nnc infers "
         "shapes itself";
  addExpectation(diagnostic, shape, actual);
}

std::optional<SmallVector<int64_t>>
Declarations::getShape(const Scope &scope, StringRef name) const {
  auto found = scope.find(name);
  if (isRebound || isLoose || found == scope.end() || !found->second.info.dims)
    return std::nullopt;
  SmallVector<int64_t> shape;
  for (const Dim &dim : *found->second.info.dims) {
    if (!isKnown(dim) || *dim.size > kMaxDim)
      return std::nullopt;
    shape.push_back(*dim.size);
  }
  return shape;
}

void Declarations::warnOfStale() const {
  if (stale == 0)
    return;
  auto diagnostic = emitWarning(problems.getLoc());
  diagnostic << "declares other shapes than follow from the given --shape for "
             << stale << (stale == 1 ? " value" : " values");
  diagnostic << (stale == 1 ? ", '" : ", the first of them '") << firstStale
             << "; nnc goes by the given shapes";
}
