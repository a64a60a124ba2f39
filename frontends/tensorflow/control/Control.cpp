//===- Control.cpp - Operators that run functions -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Called functions, and the branch of an If with a known condition, are
// imported in place. If the network computes the condition, both branches
// become functions, of which nn.if runs one. Loops are in Loops.cpp.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/control/Control.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

void setResults(Layer &layer, ArrayRef<Passed> results) {
  for (auto [i, result] : llvm::enumerate(results))
    layer.setPassed(i, result);
}

Value convertCall(Layer &layer) {
  SmallVector<Passed> results;
  if (layer.inlineFunction(layer.getFunction("f"), layer.getInputs(), results))
    setResults(layer, results);
  return {};
}

/// Returns the condition as a scalar of type bool: a number other than 0, as
/// TensorFlow defines it.
static Value getCondition(Layer &layer) {
  Value condition = layer.getInput(0);
  if (!condition)
    return {};
  if (getNumElements(condition) != 1)
    return layer.broken("needs one condition, not a tensor of shape " +
                        toString(getShape(condition)));
  return layer.castTo(layer.reshape(condition, {}),
                      layer.getBuilder().getI1Type());
}

std::string nameOfBody(Layer &layer, StringRef name) {
  return (nn::getModelName(layer.getLoc(), "function") + "_" + name).str();
}

/// Imports a branch into `body`. Returns false after an error.
static bool importBranch(Layer &layer, Body &body, StringRef function,
                         ArrayRef<Passed> inputs,
                         SmallVectorImpl<Passed> &results) {
  auto capture = [&](Value value) { return body.capture(value); };
  SmallVector<Passed> given(inputs);
  for (Passed &input : given)
    if (input.hasValue())
      input.value = capture(input.value);
  GraphImporter::BodyScope scope(layer.getImporter(), capture);
  return layer.inlineFunction(function, given, results);
}

/// Returns true if the results of two branches are alike; otherwise reports an
/// error.
static bool areAlike(Layer &layer, ArrayRef<Passed> results,
                     ArrayRef<Passed> others) {
  if (results.size() != others.size()) {
    layer.broken("has branches with " + Twine(results.size()) + " and " +
                 Twine(others.size()) + " results");
    return false;
  }
  for (auto [a, b] : llvm::zip_equal(results, others)) {
    bool fits = a.kind == b.kind && a.hasValue() == b.hasValue() &&
                a.length == b.length && (a.hasValue() || a.name == b.name);
    if (fits && a.hasValue() && a.value.getType() != b.value.getType()) {
      layer.unsupported(
          "gives " + getTypeName(getElement(a.value)) + " of shape " +
          toString(getShape(a.value)) + " or " +
          getTypeName(getElement(b.value)) + " of shape " +
          toString(getShape(b.value)) +
          ", depending on what the network computes; nnc needs branches whose "
          "results are alike");
      return false;
    }
    if (!fits) {
      layer.unsupported("chooses a variable or a list depending on what the "
                        "network computes");
      return false;
    }
  }
  return true;
}

static SmallVector<Value> getValues(ArrayRef<Passed> all) {
  SmallVector<Value> values;
  for (const Passed &passed : all)
    if (passed.hasValue())
      values.push_back(passed.value);
  return values;
}

/// Imports both branches as functions of an nn.if.
static void chooseBranch(Layer &layer, Value condition,
                         ArrayRef<Passed> inputs) {
  OpBuilder &builder = layer.getImporter().getBuilder();
  SmallVector<Passed> results, others;
  Body taken(builder, nameOfBody(layer, "then"), layer.getLoc());
  bool isImported = importBranch(layer, taken, layer.getFunction("then_branch"),
                                 inputs, results);
  taken.setOutside();
  Body other(builder, nameOfBody(layer, "else"), layer.getLoc());
  isImported &= importBranch(layer, other, layer.getFunction("else_branch"),
                             inputs, others);
  other.setOutside();
  if (!isImported || !areAlike(layer, results, others)) {
    other.erase();
    taken.erase();
    return;
  }
  other.finish(getValues(others));
  other.dropUnread();
  taken.finish(getValues(results));
  taken.dropUnread();
  SmallVector<Value> chosen =
      createIf(builder, layer.getLoc(), condition, taken, other);
  auto next = chosen.begin();
  for (Passed &result : results)
    if (result.hasValue())
      result.value = *next++;
  setResults(layer, results);
}

Value convertIf(Layer &layer) {
  Value condition = getCondition(layer);
  if (!condition)
    return {};
  ArrayRef<Passed> inputs = layer.getInputs().drop_front();
  auto known = readElements(condition);
  if (!known) {
    chooseBranch(layer, condition, inputs);
    return {};
  }
  SmallVector<Passed> results;
  if (layer.inlineFunction(
          layer.getFunction(known->ints[0] ? "then_branch" : "else_branch"),
          inputs, results))
    setResults(layer, results);
  return {};
}

//===----------------------------------------------------------------------===//
// Branches of TensorFlow 1
//===----------------------------------------------------------------------===//

/// Converts Switch: its input is one of two results, depending on a condition;
/// the other result is dead, and so is what is computed from it.
Value convertSwitch(Layer &layer) {
  auto known = readElements(layer.getInput(1));
  if (!known || known->ints.size() != 1)
    return layer.unsupported("depends on what the network computes; nnc "
                             "handles conditions that are known when "
                             "compiling, or If and While of TensorFlow 2");
  bool isTrue = known->ints[0] != 0;
  layer.setPassed(isTrue, layer.getPassed(0));
  layer.setPassed(!isTrue, {Passed::dead});
  return {};
}

/// Converts Merge: the input that is not dead, and its number.
Value convertMerge(Layer &layer) {
  for (auto [i, input] : llvm::enumerate(layer.getInputs())) {
    if (input.kind == Passed::dead || input.kind == Passed::absent)
      continue;
    layer.setPassed(0, input);
    layer.setResult(1, layer.splat(double(i), layer.getBuilder().getI32Type()));
    return {};
  }
  layer.setPassed(0, {Passed::dead});
  return {};
}

} // namespace nnc::tensorflow
