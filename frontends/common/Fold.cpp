//===- Fold.cpp - Computations of shapes while importing ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Fold.h"

#include "dialects/nn/Nn.h"
#include "frontends/common/Elements.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

/// The operands of a scalar function. They are all integers or all reals,
/// except that the condition of a select is always an integer.
namespace {
struct Scalars {
  llvm::SmallVector<int64_t, 3> ints;
  llvm::SmallVector<double, 3> reals;
};
} // namespace

/// Returns true if a / b is defined. Other operations on integers wrap around.
static bool divides(int64_t a, int64_t b) {
  return b != 0 && !(a == INT64_MIN && b == -1);
}

static int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

static int64_t power(int64_t base, int64_t exponent) {
  uint64_t result = 1, factor = base;
  for (; exponent > 0; exponent >>= 1, factor *= factor)
    result *= exponent & 1 ? factor : 1;
  return wrap(result);
}

namespace {
template <class T> struct Unary {
  StringLiteral name;
  T (*compute)(T);
};
template <class T> struct Binary {
  StringLiteral name;
  T (*compute)(T, T);
};
template <class T> struct Comparison {
  StringLiteral name;
  bool (*compute)(T, T);
};
} // namespace

static constexpr Unary<int64_t> kIntUnary[] = {
    {"abs", [](int64_t x) { return x < 0 ? wrap(-uint64_t(x)) : x; }},
    {"bit_not", [](int64_t x) { return ~x; }},
    {"logical_not", [](int64_t x) { return int64_t(x == 0); }},
    {"neg", [](int64_t x) { return wrap(-uint64_t(x)); }},
    {"sign", [](int64_t x) { return int64_t(x > 0) - int64_t(x < 0); }},
};

static constexpr Binary<int64_t> kIntBinary[] = {
    {"add", [](int64_t a, int64_t b) { return wrap(uint64_t(a) + b); }},
    {"bit_and", [](int64_t a, int64_t b) { return a & b; }},
    {"bit_or", [](int64_t a, int64_t b) { return a | b; }},
    {"bit_xor", [](int64_t a, int64_t b) { return a ^ b; }},
    {"div", [](int64_t a, int64_t b) { return a / b; }},
    {"fmod", [](int64_t a, int64_t b) { return a % b; }},
    {"logical_and", [](int64_t a, int64_t b) { return int64_t(a && b); }},
    {"logical_or", [](int64_t a, int64_t b) { return int64_t(a || b); }},
    {"logical_xor", [](int64_t a, int64_t b) { return int64_t(!a != !b); }},
    {"max", [](int64_t a, int64_t b) { return a > b ? a : b; }},
    {"min", [](int64_t a, int64_t b) { return a < b ? a : b; }},
    {"mod",
     [](int64_t a, int64_t b) {
       int64_t rest = a % b;
       return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
     }},
    {"mul", [](int64_t a, int64_t b) { return wrap(uint64_t(a) * b); }},
    {"pow", power},
    {"sub", [](int64_t a, int64_t b) { return wrap(uint64_t(a) - b); }},
};

// Computed in double and rounded to float, these functions give the same
// results as in float arithmetic.
static constexpr Unary<double> kRealUnary[] = {
    {"abs", [](double x) { return std::fabs(x); }},
    {"ceil", [](double x) { return std::ceil(x); }},
    {"floor", [](double x) { return std::floor(x); }},
    {"neg", [](double x) { return -x; }},
    {"reciprocal", [](double x) { return 1 / x; }},
    {"round", [](double x) { return std::nearbyint(x); }},
    {"sqrt", [](double x) { return std::sqrt(x); }},
};

static constexpr Binary<double> kRealBinary[] = {
    {"add", [](double a, double b) { return a + b; }},
    {"div", [](double a, double b) { return a / b; }},
    {"mul", [](double a, double b) { return a * b; }},
    {"sub", [](double a, double b) { return a - b; }},
};

template <class T>
static constexpr Comparison<T> kComparisons[] = {
    {"equal", [](T a, T b) { return a == b; }},
    {"greater", [](T a, T b) { return a > b; }},
    {"greater_equal", [](T a, T b) { return a >= b; }},
    {"less", [](T a, T b) { return a < b; }},
    {"less_equal", [](T a, T b) { return a <= b; }},
};

template <class Table> static auto find(const Table &table, StringRef name) {
  return llvm::find_if(table, [&](auto &entry) { return entry.name == name; });
}

template <class T, class Table>
static bool compare(const Table &table, StringRef function, ArrayRef<T> x,
                    int64_t &y) {
  auto entry = find(table, function);
  if (entry == std::end(table) || x.size() != 2)
    return false;
  y = entry->compute(x[0], x[1]);
  return true;
}

/// Computes `function` by the entry of the table that has it for this number of
/// operands. Returns false if there is none.
template <class T, class UnaryTable, class BinaryTable>
static bool compute(const UnaryTable &unary, const BinaryTable &binary,
                    StringRef function, ArrayRef<T> x, T &y) {
  if (auto entry = find(unary, function);
      entry != std::end(unary) && x.size() == 1) {
    y = entry->compute(x[0]);
    return true;
  }
  if (auto entry = find(binary, function);
      entry != std::end(binary) && x.size() == 2) {
    y = entry->compute(x[0], x[1]);
    return true;
  }
  return false;
}

static bool computeInt(StringRef function, const Scalars &x, int64_t &y) {
  if (!x.reals.empty()) {
    if (compare<double>(kComparisons<double>, function, x.reals, y))
      return true;
    // A value that does not fit in an integer has an undefined result, which is
    // not folded.
    if (function != "cast" || !(std::fabs(x.reals[0]) < 9e18))
      return false;
    y = static_cast<int64_t>(x.reals[0]);
    return true;
  }
  if (function == "cast" || function == "select") {
    y = function == "cast" ? x.ints[0] : x.ints[x.ints[0] ? 1 : 2];
    return true;
  }
  bool isDivision =
      function == "div" || function == "mod" || function == "fmod";
  if (isDivision && !divides(x.ints[0], x.ints[1]))
    return false;
  if (function == "pow" && x.ints[1] < 0)
    return false;
  return compare<int64_t>(kComparisons<int64_t>, function, x.ints, y) ||
         compute<int64_t>(kIntUnary, kIntBinary, function, x.ints, y);
}

static bool computeReal(StringRef function, const Scalars &x, double &y) {
  if (function == "cast") {
    y = x.reals.empty() ? static_cast<double>(x.ints[0]) : x.reals[0];
    return true;
  }
  if (function == "select") {
    y = x.reals[x.ints[0] ? 0 : 1];
    return true;
  }
  if (!x.ints.empty())
    return false;
  return compute<double>(kRealUnary, kRealBinary, function, x.reals, y);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static int64_t getField(DictionaryAttr fields, StringRef name) {
  return fields.getAs<IntegerAttr>(name).getInt();
}
static ArrayRef<int64_t> getList(DictionaryAttr fields, StringRef name) {
  return fields.getAs<DenseI64ArrayAttr>(name);
}

/// Copies element j of `from` to element i of `to`, for integers or reals.
static void copyElement(const Elements &from, int64_t j, Elements &to,
                        int64_t i) {
  if (to.isReal())
    to.reals[i] = from.reals[j];
  else
    to.ints[i] = from.ints[j];
}

static void runCopy(DictionaryAttr fields, const Elements &x, Elements &y) {
  ArrayRef<int64_t> dims = getList(fields, "dims"),
                    from = getList(fields, "src_strides"),
                    to = getList(fields, "dst_strides");
  int64_t total = 1;
  for (int64_t dim : dims)
    total *= dim;
  for (int64_t i = 0; i < total; ++i) {
    int64_t rest = i, source = getField(fields, "src_offset"),
            target = getField(fields, "dst_offset");
    for (size_t axis = dims.size(); axis-- > 0; rest /= dims[axis]) {
      source += rest % dims[axis] * from[axis];
      target += rest % dims[axis] * to[axis];
    }
    copyElement(x, source, y, target);
  }
}

static bool runGather(DictionaryAttr fields, const Elements &x,
                      const Elements &indices, Elements &y) {
  int64_t outer = getField(fields, "outer"), inner = getField(fields, "inner"),
          size = getField(fields, "axis_size"),
          count = getField(fields, "count");
  for (int64_t i = 0; i < outer * count * inner; ++i) {
    int64_t index = indices.ints[i / inner % count];
    index += index < 0 ? size : 0;
    if (index < 0 || index >= size)
      return false;
    copyElement(x, (i / inner / count * size + index) * inner + i % inner, y,
                i);
  }
  return true;
}

static bool runReduce(StringRef function, DictionaryAttr fields,
                      const Elements &x, Elements &y) {
  int64_t outer = getField(fields, "outer"), size = getField(fields, "size"),
          inner = getField(fields, "inner");
  // Sums of floats depend on the order of the terms and are not folded.
  if (x.isReal() || size == 0)
    return false;
  for (int64_t i = 0; i < outer * inner; ++i) {
    int64_t first = i / inner * size * inner + i % inner;
    int64_t value = x.ints[first];
    for (int64_t k = 1; k < size; ++k) {
      if (!computeInt(function, {{value, x.ints[first + k * inner]}, {}},
                      value))
        return false;
    }
    y.ints[i] = value;
  }
  return true;
}

static bool runRoutine(const nn::RoutineCall &call, ArrayRef<Elements> x,
                       Elements &y) {
  const Elements &first = x[call.operands[0]];
  StringRef family = call.family;
  if (family == "copy") {
    runCopy(call.fields, first, y);
    return true;
  }
  if (family == "gather")
    return runGather(call.fields, first, x[call.operands[1]], y);
  static constexpr std::pair<StringLiteral, StringLiteral> reductions[] = {
      {"reduce_sum", "add"},
      {"reduce_prod", "mul"},
      {"reduce_max", "max"},
      {"reduce_min", "min"}};
  for (auto [name, function] : reductions)
    if (family == name)
      return runReduce(function, call.fields, first, y);
  return false;
}

/// Returns the index of the element of an operand of shape `operand` that
/// broadcasts to element `i` of a result of shape `result`.
static int64_t broadcastIndex(int64_t i, ArrayRef<int64_t> result,
                              ArrayRef<int64_t> operand) {
  int64_t index = 0, stride = 1;
  for (size_t k = 0; k < result.size(); ++k, i /= result[result.size() - k]) {
    if (k >= operand.size())
      continue;
    int64_t dim = operand[operand.size() - 1 - k];
    index += dim == 1 ? 0 : i % result[result.size() - 1 - k] * stride;
    stride *= dim;
  }
  return index;
}

static bool runElementwise(StringRef function, ArrayRef<Elements> x,
                           Elements &y) {
  // The condition of a select is an integer, whatever the other operands are.
  for (const Elements &operand : x.drop_front(function == "select"))
    if (operand.isReal() != x.back().isReal())
      return false;
  for (int64_t i = 0; i < y.type.getNumElements(); ++i) {
    Scalars scalars;
    for (const Elements &operand : x) {
      int64_t at =
          broadcastIndex(i, y.type.getShape(), operand.type.getShape());
      if (operand.isReal())
        scalars.reals.push_back(operand.reals[at]);
      else
        scalars.ints.push_back(operand.ints[at]);
    }
    // A cast to bool gives true for every value that is not zero, rather than
    // its lowest bit.
    bool isTruth = function == "cast" && y.type.getElementType().isInteger(1);
    if (isTruth && !scalars.reals.empty())
      y.ints[i] = scalars.reals[0] != 0;
    else if (isTruth)
      y.ints[i] = scalars.ints[0] != 0;
    else if (!(y.isReal() ? computeReal(function, scalars, y.reals[i])
                          : computeInt(function, scalars, y.ints[i])))
      return false;
  }
  return true;
}

static std::optional<Elements> evaluate(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      isa<nn::ConstantOp>(op))
    return std::nullopt;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getNumElements() > kMaxReadElements ||
      !isReadable(type.getElementType()))
    return std::nullopt;
  SmallVector<Elements> x;
  for (Value operand : op->getOperands()) {
    auto elements = readElements(operand);
    if (!elements)
      return std::nullopt;
    x.push_back(std::move(*elements));
  }
  Elements y{type, {}, {}};
  (y.isReal() ? void(y.reals.resize(type.getNumElements()))
              : void(y.ints.resize(type.getNumElements())));
  if (auto elementwise = dyn_cast<nn::ElementwiseOpInterface>(op)) {
    bool isDone = elementwise.getScalars().empty() &&
                  runElementwise(elementwise.getFunction(), x, y);
    return isDone ? std::optional(y) : std::nullopt;
  }
  auto routine = dyn_cast<nn::RoutineOpInterface>(op);
  if (!routine)
    return std::nullopt;
  for (const nn::RoutineCall &call : routine.getRoutineCalls())
    if (!runRoutine(call, x, y))
      return std::nullopt;
  return y;
}

ElementsAttr nnc::frontends::foldShapes(Operation *op) {
  auto folded = evaluate(op);
  return folded ? makeAttribute(*folded) : ElementsAttr();
}
