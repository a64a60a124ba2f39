//===- AttributeRules.h - What attributes of a dialect say ------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A dialect declares the attributes in which passes tell each other facts by
// `discardableAttrs` in its .td file, which generates their names. A table of
// rules says who may carry each of them, and with which values.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_ATTRIBUTES_ATTRIBUTERULES_H
#define NNC_DIALECTS_NN_ATTRIBUTES_ATTRIBUTERULES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

#include <cstdint>

namespace nnc {

/// The carrier of an attribute: an op, or an argument or a result of a
/// function.
struct AttributeHolder {
  enum class Kind { op, argument, result };
  mlir::Operation *op; ///< op, or function of an argument or result
  Kind kind = Kind::op;
  unsigned number = 0; ///< index of the argument or result; 0 for an op

  bool isOp() const { return kind == Kind::op; }
  /// Returns the type of the argument or result.
  mlir::Type getType() const;
  /// Begins an error at `op`. For an argument or result, its text begins with
  /// the name of that argument or result.
  mlir::InFlightDiagnostic emitError() const;
};

/// A set of possible holders of an attribute, with the phrase by which messages
/// call one of them, such as "a module".
struct HolderSet {
  bool (*contains)(const AttributeHolder &);
  llvm::StringLiteral name;
};

/// A set of possible values of an attribute, with the phrase by which messages
/// call one of them, such as "a number of bytes".
struct ValueSet {
  bool (*contains)(mlir::Attribute);
  llvm::StringLiteral name;
};

/// The rule for one attribute: which holders may carry it, and with which
/// values.
struct AttributeRule {
  llvm::StringLiteral attribute; ///< full name, with the prefix of the dialect
  HolderSet holders;
  ValueSet values;
  /// Function for conditions that involve both the holder and the value; null
  /// if there are none. It emits an error if a condition does not hold.
  mlir::LogicalResult (*verify)(const AttributeHolder &,
                                mlir::Attribute) = nullptr;
};

/// Checks an attribute by its rule in `rules`. Emits an error that says which
/// holders may carry the attribute or which values it may have. If no rule has
/// its name, the error lists the names of all rules.
mlir::LogicalResult verifyAttribute(llvm::ArrayRef<AttributeRule> rules,
                                    const AttributeHolder &holder,
                                    mlir::NamedAttribute attribute);

//===----------------------------------------------------------------------===//
// Sets of holders and values that the rules of several attributes share
//===----------------------------------------------------------------------===//

bool isModule(const AttributeHolder &holder);
bool isFunction(const AttributeHolder &holder);
bool isInFunction(const AttributeHolder &holder);
bool isPort(const AttributeHolder &holder);

/// Returns true if the holder is an op of one of the classes `Ops`.
template <class... Ops> bool isOneOf(const AttributeHolder &holder) {
  return holder.isOp() && llvm::isa<Ops...>(holder.op);
}

inline constexpr HolderSet onModule = {isModule, "a module"};
inline constexpr HolderSet onFunction = {isFunction, "a function"};
inline constexpr HolderSet onArgument = {
    [](const AttributeHolder &holder) {
      return holder.kind == AttributeHolder::Kind::argument;
    },
    "an argument of a function"};
inline constexpr HolderSet onResult = {[](const AttributeHolder &holder) {
                                         return holder.kind ==
                                                AttributeHolder::Kind::result;
                                       },
                                       "a result of a function"};
inline constexpr HolderSet onArgumentOrResult = {
    [](const AttributeHolder &holder) { return !holder.isOp(); },
    "an argument or result of a function"};
/// The set of the model's inputs and outputs: arguments and results of its
/// function, and the ops of exec that replace them.
inline constexpr HolderSet onPort = {
    isPort, "an argument or result of a function, an exec.input, an "
            "exec.output or an exec.state"};
inline constexpr HolderSet onInnerOp = {isInFunction, "an op in a function"};
inline constexpr HolderSet onValue = {[](const AttributeHolder &holder) {
                                        return holder.isOp() &&
                                               holder.op->getNumResults() > 0;
                                      },
                                      "an op with a result"};

/// Returns true for a value of the kind `Kind`.
template <class Kind> bool isKind(mlir::Attribute value) {
  return llvm::isa<Kind>(value);
}

inline constexpr ValueSet noValue = {isKind<mlir::UnitAttr>, "no value"};
inline constexpr ValueSet anyText = {isKind<mlir::StringAttr>, "a text"};
inline constexpr ValueSet filledText = {
    [](mlir::Attribute value) {
      auto text = llvm::dyn_cast<mlir::StringAttr>(value);
      return text && !text.empty();
    },
    "a text that is not empty"};

/// Returns true for an integer of at most 64 bits that is at least `least`.
bool isIntegerFrom(mlir::Attribute value, int64_t least);

inline constexpr ValueSet anInteger = {
    [](mlir::Attribute value) { return isIntegerFrom(value, INT64_MIN); },
    "a number"};
inline constexpr ValueSet aCount = {
    [](mlir::Attribute value) { return isIntegerFrom(value, 0); },
    "a number from 0 on"};

/// Returns true for an array all of whose elements are of the kind `Element`.
template <class Element> bool isArrayOf(mlir::Attribute value) {
  auto array = llvm::dyn_cast<mlir::ArrayAttr>(value);
  return array && llvm::all_of(array, llvm::IsaPred<Element>);
}

} // namespace nnc

#endif // NNC_DIALECTS_NN_ATTRIBUTES_ATTRIBUTERULES_H
