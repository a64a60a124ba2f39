//===- Constant.cpp - nn.constant -----------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// nn.constant
//===----------------------------------------------------------------------===//

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseAttribute(value, "value", result.attributes))
    return failure();
  Type type = value.getType();
  if (succeeded(parser.parseOptionalArrow()) && parser.parseType(type))
    return failure();
  result.addTypes(type);
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << " " << getValue();
  if (getValue().getType() != getY().getType())
    printer << " -> " << getY().getType();
}

void ConstantOp::getAsmResultNames(
    function_ref<void(Value, StringRef)> setName) {
  setName(getY(), "cst");
}

LogicalResult ConstantOp::verify() {
  if (getValue().getShapedType() != getLogicalType(getY().getType()))
    return emitOpError("has a value of type ")
           << getValue().getShapedType() << " and a result of type "
           << getY().getType();
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }
