//===- EvaluateScalar.cpp - The arithmetic of shapes ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Evaluate.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cmath>

using namespace mlir;
using namespace nnc::onnx;

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

bool nnc::onnx::computeInt(StringRef function, const Scalars &x, int64_t &y) {
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

bool nnc::onnx::computeReal(StringRef function, const Scalars &x, double &y) {
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
