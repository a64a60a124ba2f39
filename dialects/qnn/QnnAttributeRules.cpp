//===- QnnAttributeRules.cpp - Who may carry which attribute of qnn -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/attributes/AttributeRules.h"
#include "dialects/qnn/Port.h"
#include "dialects/qnn/Ranges.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::qnn;

static constexpr HolderSet onRanged = {
    [](const AttributeHolder &holder) {
      return onArgument.contains(holder) ||
             (holder.isOp() && holder.op->getNumResults() == 1);
    },
    "an op with one result, or an argument of a function,"};

static constexpr ValueSet aRange = {
    [](Attribute value) { return readRange(value).has_value(); }, kRangeForm};
static constexpr ValueSet aPort = {
    [](Attribute value) {
      auto port = dyn_cast<DictionaryAttr>(value);
      auto rounding = port ? port.getAs<StringAttr>("rounding") : StringAttr();
      return rounding && symbolizeRounding(rounding.getValue()) &&
             readPortAttr(value);
    },
    "a dictionary with a quantized 'type' and the 'rounding' half_even or "
    "half_away"};

static constexpr AttributeRule qnnRules[] = {
    {kOfFloatsAttr, onInnerOp, noValue},      {kPortAttr, onPort, aPort},
    {kQuantizedAttr, onModule, noValue},      {kRangeAttr, onRanged, aRange},
    {kStaysFloatAttr, onInnerOp, filledText},
};

LogicalResult QnnDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  return verifyAttribute(qnnRules, {op}, attribute);
}

LogicalResult QnnDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned argument,
                                                   NamedAttribute attribute) {
  return verifyAttribute(
      qnnRules, {op, AttributeHolder::Kind::argument, argument}, attribute);
}

LogicalResult QnnDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  return verifyAttribute(qnnRules, {op, AttributeHolder::Kind::result, result},
                         attribute);
}
