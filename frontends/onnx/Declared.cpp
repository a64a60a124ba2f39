//===- Declared.cpp - Types that a model declares for its values ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Declared.h"

#include "frontends/onnx/Types.h"

using namespace mlir;
using namespace nnc::onnx;
using ::onnx::GraphProto;
using ::onnx::TensorShapeProto;

Declarations::Scope Declarations::collect(const GraphProto &graph) {
  Scope scope;
  auto add = [&](const auto &values, StringRef list) {
    for (const ::onnx::ValueInfoProto &value : values)
      if (value.type().has_tensor_type())
        scope.try_emplace(value.name(), Declared{&value.type(), list});
  };
  add(graph.output(), "outputs");
  add(graph.value_info(), "value_info");
  add(graph.input(), "inputs");
  return scope;
}

/// "1x?x8": open and named dimensions are not numbers.
static std::string describe(const TensorShapeProto &shape) {
  std::string text;
  for (const auto &dim : shape.dim()) {
    text += text.empty() ? "" : "x";
    bool isKnown = dim.has_dim_value() && dim.dim_value() > 0;
    text += isKnown ? std::to_string(dim.dim_value()) : "?";
  }
  return text.empty() ? "()" : text;
}

static bool fits(const TensorShapeProto &shape, ArrayRef<int64_t> inferred) {
  if (shape.dim_size() != static_cast<int>(inferred.size()))
    return false;
  for (auto [dim, size] : llvm::zip(shape.dim(), inferred))
    if (dim.has_dim_value() && dim.dim_value() > 0 && dim.dim_value() != size)
      return false;
  return true;
}

void Declarations::check(const Scope &scope, StringRef name,
                         RankedTensorType inferred, StringRef origin,
                         Location loc) {
  auto found = scope.find(name);
  if (found == scope.end())
    return;
  const auto &declared = found->second.type->tensor_type();
  StringRef list = found->second.list;
  int32_t element = getDataType(inferred.getElementType());
  if (declared.elem_type() != 0 && declared.elem_type() != element)
    problems.report(ImportStatus::broken, loc)
        << origin << " gives '" << name << "' elements of type "
        << getDataTypeName(element) << ", but the model declares "
        << getDataTypeName(declared.elem_type()) << " for it among its " << list
        << "; correct the declaration, or add a Cast";
  if (!declared.has_shape() || fits(declared.shape(), inferred.getShape()))
    return;
  std::string shape = describe(declared.shape()),
              actual = toString(inferred.getShape());
  if (isRebound) {
    if (stale++ == 0)
      firstStale =
          (name + "' (declared " + shape + ", now " + actual + ")").str();
    return;
  }
  problems.report(ImportStatus::broken, loc)
      << origin << " gives '" << name << "' the shape " << actual
      << ", but the model declares " << shape << " for it among its " << list
      << "; correct the declaration, or remove it from the file: nnc infers "
         "shapes itself";
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
