//===- AttributeRules.cpp - What attributes of a dialect say --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/attributes/AttributeRules.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace nnc;

Type AttributeHolder::getType() const {
  auto function = cast<FunctionOpInterface>(op);
  return kind == AttributeHolder::Kind::argument
             ? function.getArgumentTypes()[number]
             : function.getResultTypes()[number];
}

InFlightDiagnostic AttributeHolder::emitError() const {
  InFlightDiagnostic error = op->emitOpError();
  if (!isOp())
    error << (kind == AttributeHolder::Kind::argument ? "argument " : "result ")
          << number << " ";
  return error;
}

bool nnc::isIntegerFrom(Attribute value, int64_t least) {
  auto integer = dyn_cast<IntegerAttr>(value);
  return integer && integer.getType().isSignlessIntOrIndex() &&
         integer.getValue().getBitWidth() <= 64 && integer.getInt() >= least;
}

bool nnc::isModule(const AttributeHolder &holder) {
  return isOneOf<ModuleOp>(holder);
}

bool nnc::isFunction(const AttributeHolder &holder) {
  return isOneOf<FunctionOpInterface>(holder);
}

bool nnc::isInFunction(const AttributeHolder &holder) {
  return holder.isOp() && holder.op->getParentOfType<FunctionOpInterface>();
}

bool nnc::isPort(const AttributeHolder &holder) {
  // The ops of exec are not known here.
  return !holder.isOp() ||
         llvm::is_contained({"exec.input", "exec.output", "exec.state"},
                            holder.op->getName().getStringRef());
}

LogicalResult nnc::verifyAttribute(ArrayRef<AttributeRule> rules,
                                   const AttributeHolder &holder,
                                   NamedAttribute attribute) {
  StringRef name = attribute.getName();
  const auto *rule = llvm::find_if(
      rules, [&](const AttributeRule &each) { return each.attribute == name; });
  if (rule == rules.end()) {
    InFlightDiagnostic error = holder.emitError();
    error << "has '" << name << "', which is not an attribute of "
          << name.split('.').first << "; those are ";
    llvm::interleaveComma(rules, error, [&](const AttributeRule &each) {
      error << "'" << each.attribute << "'";
    });
    return error;
  }
  if (!rule->values.contains(attribute.getValue()))
    return holder.emitError()
           << "needs " << rule->values.name << " as '" << name << "'";
  if (!rule->holders.contains(holder))
    return holder.emitError() << "has '" << name << "', which only "
                              << rule->holders.name << " may have";
  return rule->verify ? rule->verify(holder, attribute.getValue()) : success();
}
