//===- Port.cpp - Quantized inputs and outputs of a model -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/qnn/Port.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace nnc;

DictionaryAttr qnn::makePortAttr(Type type, Rounding rounding) {
  Builder builder(type.getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("rounding",
                            builder.getStringAttr(stringifyRounding(rounding))),
       builder.getNamedAttr("type",
                            TypeAttr::get(getElementTypeOrSelf(type)))});
}

std::optional<qnn::Port> qnn::readPortAttr(Attribute attribute) {
  auto port = dyn_cast_or_null<DictionaryAttr>(attribute);
  auto type = port ? port.getAs<TypeAttr>("type") : TypeAttr();
  auto rounding = port ? port.getAs<StringAttr>("rounding") : StringAttr();
  if (!type || !rounding || !getQuantizedType(type.getValue()))
    return std::nullopt;
  return Port{
      getParameters(type.getValue()),
      symbolizeRounding(rounding.getValue()).value_or(Rounding::half_even)};
}
