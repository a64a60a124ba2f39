//===- Fold.cpp - Computations of shapes while importing ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Fold.h"

#include "dialects/evaluate/Evaluate.h"
#include "frontends/common/Elements.h"

#include "dialects/nn/Nn.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

/// Functions on integers and bools that are exact. All but divisions and powers
/// are defined for all operands: sums and products wrap around.
static constexpr StringLiteral kIntFunctions[] = {
    "abs",        "add",        "bit_and",       "bit_not",     "bit_or",
    "bit_xor",    "cast",       "div",           "equal",       "fmod",
    "greater",    "less",       "less_equal",    "max",         "min",
    "mod",        "mul",        "neg",           "pow",         "select",
    "sign",       "sub",        "greater_equal", "logical_and", "logical_not",
    "logical_or", "logical_xor"};

/// Functions on floats whose results are the same on every machine.
static constexpr StringLiteral kRealFunctions[] = {
    "abs",   "add",     "cast",          "ceil",  "div",        "equal",
    "floor", "greater", "greater_equal", "less",  "less_equal", "mul",
    "neg",   "pow",     "reciprocal",    "round", "select",     "sqrt",
    "sub"};

/// Families of routines that only move elements, or whose results on integers
/// do not depend on the order of operations.
static constexpr StringLiteral kMoves[] = {"copy", "gather"};
static constexpr StringLiteral kExact[] = {
    "argmax",     "argmin",  "cumprod",    "cumsum",     "distinct",
    "matmul",     "nonzero", "reduce_max", "reduce_min", "reduce_prod",
    "reduce_sum", "scatter", "top_k"};

/// Returns true if ONNX and other frameworks define the cast of x to `element`:
/// x without its fraction must be in the range of the type.
static bool isCastDefined(double x, Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || integer.getWidth() == 1)
    return true;
  bool isUnsigned = integer.isUnsigned();
  double end = std::ldexp(1.0, integer.getWidth() - (isUnsigned ? 0 : 1));
  return std::trunc(x) >= (isUnsigned ? 0 : -end) && x < end;
}

/// Returns true if x to the power of y is an integer that every machine
/// computes exactly. PyTorch exports the square root of a number of patches as
/// a power.
static bool isPowerExact(double x, double y) {
  constexpr double kMost = 1 << 24;
  if (x < 0 || x > kMost || std::trunc(x) != x)
    return false;
  double root = std::sqrt(x), power = std::pow(x, y);
  if (y == 0.5)
    return std::trunc(root) == root;
  return y >= 0 && std::trunc(y) == y && power <= kMost;
}

static bool isDefined(StringRef function, ArrayRef<Elements> x, Type result) {
  if (function == "cast" && x[0].isReal())
    return llvm::all_of(x[0].reals,
                        [&](double v) { return isCastDefined(v, result); });
  if (function == "pow" && x[0].isReal()) {
    ArrayRef<double> exponents = x[1].reals;
    return exponents.size() == 1 && llvm::all_of(x[0].reals, [&](double base) {
             return isPowerExact(base, exponents[0]);
           });
  }
  if (x.back().isReal())
    return true;
  if (function == "div" || function == "mod" || function == "fmod")
    return !llvm::is_contained(x[1].ints, 0);
  if (function == "pow")
    return llvm::all_of(x[1].ints, [](int64_t v) { return v >= 0; });
  return true;
}

static bool isFoldable(nn::ElementwiseOpInterface op, ArrayRef<Elements> x,
                       Type result) {
  StringRef function = op.getFunction();
  bool isKnown = x.back().isReal()
                     ? llvm::is_contained(kRealFunctions, function)
                     : llvm::is_contained(kIntFunctions, function);
  return isKnown && op.getScalars().empty() && isDefined(function, x, result);
}

static bool isFoldable(const nn::RoutineCall &call, ArrayRef<Elements> x) {
  StringRef family = call.family;
  const Elements &first = x[call.operands[0]];
  // Sums of floats depend on the order of the terms.
  if (llvm::is_contained(kExact, family)) {
    if (first.isReal() || first.type.getNumElements() == 0)
      return false;
  } else if (!llvm::is_contained(kMoves, family)) {
    return false;
  }
  bool isScatter = family == "scatter";
  if (family != "gather" && !isScatter)
    return true;
  // The routines clamp an index that is out of range or leave out its element.
  // Only gather accepts negative indices, which count from the end.
  StringRef ofAxis = isScatter ? "size" : "axis_size";
  int64_t size = cast<IntegerAttr>(call.fields.get(ofAxis)).getInt();
  return llvm::all_of(x[call.operands[1]].ints, [&](int64_t index) {
    return index >= (isScatter ? 0 : -size) && index < size;
  });
}

/// Returns the largest number of elements of a tensor that is folded. The masks
/// of attention, of integers, have the square of a length: a model whose length
/// varies needs them to be folded at all of its lengths or at none.
static int64_t getMostElements(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  bool isOfMasks =
      integer && (integer.getWidth() == 1 || integer.getWidth() == 32 ||
                  integer.getWidth() == 64);
  return isOfMasks ? 1 << 18 : kMaxReadElements;
}

/// Returns true if the type of an op's result occurs in computations of shapes.
static bool isOfShapes(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !isReadable(type.getElementType()) ||
      type.getNumElements() > getMostElements(type.getElementType()))
    return false;
  // Computations of shapes use floats only in scalars and lists. Other
  // constants of floats are folded later, when the compiler knows which
  // constants depend on the sizes.
  return !isa<FloatType>(type.getElementType()) || type.getRank() <= 1;
}

std::optional<TensorData>
nnc::frontends::foldShapes(Operation *op, ArrayRef<TensorData> operands) {
  if (!isOfShapes(op))
    return std::nullopt;
  SmallVector<Elements> x;
  for (const TensorData &operand : operands) {
    auto elements = readElements(
        operand, getMostElements(operand.getType().getElementType()));
    if (!elements)
      return std::nullopt;
    x.push_back(std::move(*elements));
  }
  Type element = getElementTypeOrSelf(op->getResult(0));
  if (auto elementwise = dyn_cast<nn::ElementwiseOpInterface>(op)) {
    if (!isFoldable(elementwise, x, element))
      return std::nullopt;
  } else {
    auto routine = dyn_cast<nn::RoutineOpInterface>(op);
    if (!routine ||
        !llvm::all_of(routine.getRoutineCalls(),
                      [&](const auto &call) { return isFoldable(call, x); }))
      return std::nullopt;
  }
  FailureOr<TensorData> result = evaluate(op, operands);
  return failed(result) ? std::nullopt : std::optional(*result);
}

ElementsAttr nnc::frontends::foldShapes(Operation *op) {
  if (!isOfShapes(op))
    return {};
  SmallVector<TensorData> operands;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    std::optional<TensorData> data;
    if (type && type.getNumElements() <= getMostElements(type.getElementType()))
      data = TensorData::get(operand);
    if (!data)
      return {};
    operands.push_back(*data);
  }
  std::optional<TensorData> result = foldShapes(op, operands);
  return result ? result->toAttribute("folded") : ElementsAttr();
}

ElementsAttr nnc::frontends::foldConstants(Operation *op, StringRef name) {
  SmallVector<TensorData> operands;
  for (Value operand : op->getOperands()) {
    auto known = TensorData::get(operand);
    if (!known)
      return {};
    operands.push_back(*known);
  }
  FailureOr<TensorData> result = evaluate(op, operands);
  return failed(result) ? ElementsAttr() : result->toAttribute(name);
}
