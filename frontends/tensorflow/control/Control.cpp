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

/// A function that imports a branch on values; it returns false after an error.
using Branch = llvm::function_ref<bool(ArrayRef<Passed> given,
                                       SmallVectorImpl<Passed> &results)>;

namespace {
/// The values of the variables that a model assigns, at the beginning and at
/// the end of a branch.
struct BranchVariables {
  SmallVector<Value> given, last;
};
} // namespace

/// Imports a branch into `body`. Returns false after an error.
static bool importBranch(Layer &layer, Body &body, Branch branch,
                         ArrayRef<Passed> inputs,
                         SmallVectorImpl<Passed> &results,
                         BranchVariables &variables) {
  auto capture = [&](Value value) { return body.capture(value); };
  SmallVector<Passed> given(inputs);
  for (Passed &input : given)
    if (input.hasValue())
      input.value = capture(input.value);
  GraphImporter::BodyScope scope(layer.getImporter(), capture);
  bool isImported = branch(given, results);
  llvm::append_range(variables.given, scope.getGiven());
  variables.last = layer.getImporter().getVariables();
  return isImported;
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

/// Imports both branches as functions of an nn.if, and returns what it gives.
/// Returns false after an error.
static bool chooseBranch(Layer &layer, Value condition, Branch thenBranch,
                         Branch elseBranch, ArrayRef<Passed> inputs,
                         SmallVectorImpl<Passed> &results) {
  OpBuilder &builder = layer.getImporter().getBuilder();
  SmallVector<Passed> others;
  BranchVariables ofTaken, ofOther;
  Body taken(builder, nameOfBody(layer, "then"), layer.getLoc());
  bool isImported =
      importBranch(layer, taken, thenBranch, inputs, results, ofTaken);
  taken.setOutside();
  Body other(builder, nameOfBody(layer, "else"), layer.getLoc());
  isImported &= importBranch(layer, other, elseBranch, inputs, others, ofOther);
  other.setOutside();
  if (!isImported || !areAlike(layer, results, others)) {
    other.erase();
    taken.erase();
    return false;
  }
  SmallVector<Value> values = getValues(results),
                     otherValues = getValues(others);
  SmallVector<size_t> assigned;
  for (size_t i = 0; i < ofTaken.last.size(); ++i)
    if (ofTaken.last[i] != ofTaken.given[i] ||
        ofOther.last[i] != ofOther.given[i]) {
      assigned.push_back(i);
      values.push_back(ofTaken.last[i]);
      otherValues.push_back(ofOther.last[i]);
    }
  other.finish(otherValues);
  other.dropUnread();
  taken.finish(values);
  taken.dropUnread();
  SmallVector<Value> chosen =
      createIf(builder, layer.getLoc(), condition, taken, other);
  auto next = chosen.begin();
  for (Passed &result : results)
    if (result.hasValue())
      result.value = *next++;
  for (size_t i : assigned)
    layer.getImporter().setVariable(i, *next++);
  return true;
}

Value convertIf(Layer &layer) {
  Value condition = getCondition(layer);
  if (!condition)
    return {};
  ArrayRef<Passed> inputs = layer.getInputs().drop_front();
  auto known = readElements(condition);
  SmallVector<Passed> results;
  if (!known) {
    auto branch = [&](StringRef name) {
      return
          [&layer, name](ArrayRef<Passed> given, SmallVectorImpl<Passed> &all) {
            return layer.inlineFunction(layer.getFunction(name), given, all);
          };
    };
    if (chooseBranch(layer, condition, branch("then_branch"),
                     branch("else_branch"), inputs, results))
      setResults(layer, results);
    return {};
  }
  if (layer.inlineFunction(
          layer.getFunction(known->ints[0] ? "then_branch" : "else_branch"),
          inputs, results))
    setResults(layer, results);
  return {};
}

/// Imports the functions `names` as nested branches, of which `inputs[0]`, a
/// number, chooses one. Returns false after an error.
static bool chooseCase(Layer &layer, ArrayRef<StringRef> names, int64_t first,
                       ArrayRef<Passed> inputs,
                       SmallVectorImpl<Passed> &results) {
  if (names.size() == 1)
    return layer.inlineFunction(names[0], inputs.drop_front(), results);
  Value index = inputs[0].value;
  Value isFirst = layer.createElementwise(
      "equal", {index, layer.splat(double(first), getElement(index))});
  if (!isFirst)
    return false;
  return chooseBranch(
      layer, isFirst,
      [&](ArrayRef<Passed> given, SmallVectorImpl<Passed> &all) {
        return layer.inlineFunction(names[0], given.drop_front(), all);
      },
      [&](ArrayRef<Passed> given, SmallVectorImpl<Passed> &all) {
        return chooseCase(layer, names.drop_front(), first + 1, given, all);
      },
      inputs, results);
}

/// Converts Case, which runs the branch whose index is in input 0, and the last
/// one for an index that no branch has.
Value convertCase(Layer &layer) {
  Value index = layer.getInput(0);
  SmallVector<StringRef> names = layer.getFunctions("branches");
  if (!index)
    return {};
  if (names.empty() || getNumElements(index) != 1)
    return layer.broken("needs branches and one number");
  SmallVector<Passed> inputs = llvm::to_vector(layer.getInputs()), results;
  inputs[0] = makeTensor(layer.reshape(index, {}));
  if (auto known = readElements(index)) {
    auto last = int64_t(names.size()) - 1;
    int64_t number = known->ints[0];
    StringRef name = names[number < 0 || number > last ? last : number];
    if (layer.inlineFunction(name, layer.getInputs().drop_front(), results))
      setResults(layer, results);
    return {};
  }
  if (chooseCase(layer, names, 0, inputs, results))
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
