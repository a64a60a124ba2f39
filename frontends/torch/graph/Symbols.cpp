//===- Symbols.cpp - Sizes that a program leaves open ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Expressions are SymPy's: PyTorch 2.9 and later write the calls that build
// them, and earlier releases their usual form. One parser reads both.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Symbols.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstdlib>
#include <functional>
#include <limits>

using namespace nnc::torch;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace {
/// A fraction, because SymPy writes divisions as products with fractions or
/// with powers of -1. Its denominator is positive.
struct Number {
  int64_t top = 0, bottom = 1;
};
using Result = std::optional<Number>;
} // namespace

/// Returns top / bottom in lowest terms; nullopt for a division by zero or
/// after an overflow.
static Result makeFraction(__int128 top, __int128 bottom) {
  if (bottom == 0)
    return std::nullopt;
  __int128 a = top < 0 ? -top : top, b = bottom < 0 ? -bottom : bottom;
  while (b) {
    __int128 rest = a % b;
    a = b;
    b = rest;
  }
  if (a == 0)
    a = 1;
  top /= a;
  bottom /= a;
  if (bottom < 0) {
    top = -top;
    bottom = -bottom;
  }
  constexpr __int128 most = std::numeric_limits<int64_t>::max();
  if (top > most || top < -most || bottom > most)
    return std::nullopt;
  return Number{static_cast<int64_t>(top), static_cast<int64_t>(bottom)};
}

static Result add(Number a, Number b) {
  return makeFraction(__int128(a.top) * b.bottom + __int128(b.top) * a.bottom,
                      __int128(a.bottom) * b.bottom);
}
static Result multiply(Number a, Number b) {
  return makeFraction(__int128(a.top) * b.top, __int128(a.bottom) * b.bottom);
}
static Result divide(Number a, Number b) {
  return makeFraction(__int128(a.top) * b.bottom, __int128(a.bottom) * b.top);
}
static int64_t getFloor(Number a) {
  int64_t whole = a.top / a.bottom;
  return a.top % a.bottom < 0 ? whole - 1 : whole;
}
static Result power(Number base, Number exponent) {
  if (exponent.bottom != 1 || std::abs(exponent.top) > 64)
    return std::nullopt;
  Result result = Number{1, 1};
  for (int64_t i = 0; result && i < std::abs(exponent.top); ++i)
    result = multiply(*result, base);
  return result && exponent.top < 0 ? divide({1, 1}, *result) : result;
}
/// Returns a negative, zero or positive number as a is less than, equal to or
/// greater than b.
static int compare(Number a, Number b) {
  __int128 left = __int128(a.top) * b.bottom,
           right = __int128(b.top) * a.bottom;
  return left < right ? -1 : left > right;
}
static Result toNumber(bool is) { return Number{is ? 1 : 0, 1}; }
static Result round(Result x, bool isUp) {
  if (!x)
    return x;
  return Number{isUp ? -getFloor({-x->top, x->bottom}) : getFloor(*x), 1};
}

/// Returns the value of a function of SymPy or PyTorch.
static Result call(StringRef name, ArrayRef<Number> x) {
  auto fold = [&](auto &&function) {
    Result result = x[0];
    for (Number next : x.drop_front())
      result = result ? function(*result, next) : Result();
    return result;
  };
  if (x.empty())
    return std::nullopt;
  if (name == "Add")
    return fold(add);
  if (name == "Mul")
    return fold(multiply);
  if (name == "Max" || name == "Min")
    return fold([&](Number a, Number b) -> Result {
      return (compare(a, b) > 0) == (name == "Max") ? a : b;
    });
  if (name == "And" || name == "Or") {
    bool isAnd = name == "And", result = isAnd;
    for (Number next : x)
      result = isAnd ? result && next.top : result || next.top;
    return toNumber(result);
  }
  if (x.size() == 1) {
    if (name == "Integer" || name == "TruncToInt")
      return x[0].bottom == 1 ? Result(x[0]) : std::nullopt;
    if (name == "ToFloat")
      return x[0];
    if (name == "floor" || name == "FloorToInt")
      return round(x[0], /*isUp=*/false);
    if (name == "ceiling" || name == "CeilToInt")
      return round(x[0], /*isUp=*/true);
    if (name == "Not")
      return toNumber(!x[0].top);
    if (name == "Abs")
      return Number{std::abs(x[0].top), x[0].bottom};
  }
  if (x.size() == 2) {
    Number a = x[0], b = x[1];
    if (name == "FloorDiv")
      return round(divide(a, b), /*isUp=*/false);
    if (name == "CeilDiv")
      return round(divide(a, b), /*isUp=*/true);
    if (name == "CleanDiv" || name == "IntTrueDiv" || name == "FloatTrueDiv" ||
        name == "Rational")
      return divide(a, b);
    if (name == "Mod" || name == "PythonMod") {
      Result whole = round(divide(a, b), /*isUp=*/false);
      whole = whole ? multiply(*whole, {-b.top, b.bottom}) : whole;
      return whole ? add(a, *whole) : whole;
    }
    if (name == "Pow" || name == "PowByNatural")
      return power(a, b);
    int order = compare(a, b);
    if (name == "Eq" || name == "Equality")
      return toNumber(order == 0);
    if (name == "Ne" || name == "Unequality")
      return toNumber(order != 0);
    if (name == "Lt" || name == "StrictLessThan")
      return toNumber(order < 0);
    if (name == "Le" || name == "LessThan")
      return toNumber(order <= 0);
    if (name == "Gt" || name == "StrictGreaterThan")
      return toNumber(order > 0);
    if (name == "Ge" || name == "GreaterThan")
      return toNumber(order >= 0);
  }
  if (name == "Where" && x.size() == 3)
    return x[0].top ? x[1] : x[2];
  if (name == "ModularIndexing" && x.size() == 3) {
    Result whole = round(divide(x[0], x[1]), /*isUp=*/false);
    return whole ? call("Mod", {*whole, x[2]}) : whole;
  }
  return std::nullopt;
}

namespace {
/// A parser that computes the value of an expression. `Value` is a number that
/// may be missing: it is then false.
template <class Value> class Parser {
public:
  /// The functions that an expression consists of. `find` returns the value of
  /// a symbol, and `call` that of a function of SymPy.
  struct Functions {
    std::function<Value(StringRef)> find;
    std::function<Value(int64_t)> makeNumber;
    std::function<Value(StringRef, ArrayRef<Value>)> call;
  };
  Parser(StringRef text, Functions functions)
      : text(text), functions(std::move(functions)) {}

  Value run() {
    Value value = readComparison();
    skip();
    return text.empty() ? value : Value();
  }

private:
  void skip() { text = text.ltrim(); }
  bool take(StringRef word) {
    skip();
    return text.consume_front(word);
  }
  Value call(StringRef name, ArrayRef<Value> arguments) {
    for (const Value &argument : arguments)
      if (!argument)
        return Value();
    return functions.call(name, arguments);
  }
  Value negate(const Value &x) {
    return call("Mul", {functions.makeNumber(-1), x});
  }
  Value readComparison();
  Value readSum();
  Value readProduct();
  Value readPower();
  Value readAtom();
  Value readCall(StringRef name);

  StringRef text;
  Functions functions;
  unsigned depth = 0;
};
} // namespace

template <class Value> Value Parser<Value>::readComparison() {
  Value a = readSum();
  for (auto [sign, name] :
       {std::pair("==", "Eq"), std::pair("!=", "Ne"), std::pair("<=", "Le"),
        std::pair(">=", "Ge"), std::pair("<", "Lt"), std::pair(">", "Gt")})
    if (take(sign))
      return call(name, {a, readSum()});
  return a;
}

template <class Value> Value Parser<Value>::readSum() {
  Value sum = readProduct();
  while (true) {
    bool isMinus = take("-");
    if (!isMinus && !take("+"))
      return sum;
    Value next = readProduct();
    sum = call("Add", {sum, isMinus ? negate(next) : next});
  }
}

template <class Value> Value Parser<Value>::readProduct() {
  Value product = readPower();
  while (true) {
    skip();
    if (text.starts_with("**"))
      return product;
    StringRef name;
    for (auto [sign, function] :
         {std::pair("//", "FloorDiv"), std::pair("/", "CleanDiv"),
          std::pair("%", "Mod"), std::pair("*", "Mul")})
      if (name.empty() && take(sign))
        name = function;
    if (name.empty())
      return product;
    product = call(name, {product, readPower()});
  }
}

template <class Value> Value Parser<Value>::readPower() {
  if (take("-")) {
    if (++depth > 64)
      return Value();
    Value value = readPower();
    --depth;
    return negate(value);
  }
  Value base = readAtom();
  if (!take("**"))
    return base;
  if (++depth > 64)
    return Value();
  Value exponent = readPower();
  --depth;
  return call("Pow", {base, exponent});
}

template <class Value> Value Parser<Value>::readAtom() {
  if (++depth > 64)
    return Value();
  Value value = Value();
  if (take("(")) {
    value = readComparison();
    if (!take(")"))
      value = Value();
  } else {
    skip();
    StringRef word = text.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    text = text.drop_front(word.size());
    int64_t number;
    if (word.empty())
      value = Value();
    else if (take("("))
      value = readCall(word);
    else if (!word.getAsInteger(10, number))
      value = functions.makeNumber(number);
    else if (word == "True" || word == "true")
      value = functions.makeNumber(1);
    else if (word == "False" || word == "false")
      value = functions.makeNumber(0);
    else
      value = functions.find(word);
  }
  --depth;
  return value;
}

/// Reads the arguments and the closing parenthesis of a call.
template <class Value> Value Parser<Value>::readCall(StringRef name) {
  SmallVector<Value> arguments;
  std::string symbol;
  while (!take(")")) {
    skip();
    if (text.consume_front("'")) {
      auto [quoted, rest] = text.split('\'');
      symbol = quoted.str();
      text = rest;
    } else {
      StringRef word =
          text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
      StringRef behind = text.drop_front(word.size());
      // A keyword argument states a property of a symbol.
      if (!word.empty() && behind.starts_with("=") &&
          !behind.starts_with("==")) {
        text = behind.drop_front();
        text = text.drop_front(std::min(text.find_first_of(",)"), text.size()));
      } else {
        arguments.push_back(readComparison());
      }
    }
    skip();
    if (!text.starts_with(")") && !text.consume_front(","))
      return Value();
  }
  return name == "Symbol" ? functions.find(symbol) : call(name, arguments);
}

/// Returns the value of an expression, in which `find` gives the values of the
/// symbols.
static Result compute(StringRef expression,
                      std::function<Result(StringRef)> find) {
  return Parser<Result>(expression,
                        {std::move(find),
                         [](int64_t x) { return makeFraction(x, 1); },
                         [](StringRef name, ArrayRef<Result> arguments) {
                           SmallVector<Number> numbers;
                           for (const Result &argument : arguments)
                             numbers.push_back(*argument);
                           return call(name, numbers);
                         }})
      .run();
}

LengthExpression
nnc::torch::readLength(StringRef expression, const Lengths &lengths,
                       const llvm::StringMap<LengthExpression> &symbols) {
  using Kind = LengthExpression::Kind;
  auto callLength = [&](StringRef name,
                        ArrayRef<LengthExpression> x) -> LengthExpression {
    static const llvm::StringMap<Kind> kinds = {
        {"Add", Kind::add},      {"Mul", Kind::mul},      {"Min", Kind::min},
        {"Max", Kind::max},      {"FloorDiv", Kind::div}, {"Mod", Kind::mod},
        {"PythonMod", Kind::mod}};
    if (x.empty())
      return {};
    if (name == "Integer" || name == "TruncToInt")
      return x[0];
    auto kind = kinds.find(name);
    if (kind == kinds.end())
      return {};
    LengthExpression result = x[0];
    for (const LengthExpression &next : x.drop_front())
      result = lengths.combine(kind->second, result, next);
    return result;
  };
  return Parser<LengthExpression>(
             expression,
             {[&](StringRef name) { return symbols.lookup(name); },
              [](int64_t number) { return LengthExpression(number); },
              callLength})
      .run();
}

std::optional<int64_t> nnc::torch::evaluate(StringRef expression,
                                            const Symbols &symbols) {
  Result value = compute(expression, [&](StringRef name) -> Result {
    auto found = symbols.find(name);
    if (found == symbols.end())
      return std::nullopt;
    return makeFraction(found->second, 1);
  });
  if (!value || value->bottom != 1)
    return std::nullopt;
  return value->top;
}

std::set<std::string> nnc::torch::findSymbols(StringRef expression) {
  std::set<std::string> names;
  compute(expression, [&](StringRef name) -> Result {
    names.insert(name.str());
    return Number{1, 1};
  });
  return names;
}

bool nnc::torch::isExpression(StringRef expression,
                              llvm::function_ref<bool(StringRef)> isKnown) {
  Parser<bool> parser(expression,
                      {[&](StringRef name) {
                         // Decimal numbers are read as names.
                         return !name.empty() &&
                                (llvm::isDigit(name.front()) || isKnown(name));
                       },
                       [](int64_t) { return true; },
                       [](StringRef, ArrayRef<bool>) { return true; }});
  return parser.run();
}

std::optional<int64_t> nnc::torch::solve(StringRef expression, int64_t value,
                                         const Symbols &symbols) {
  std::string unknown;
  for (const std::string &name : findSymbols(expression))
    if (!symbols.count(name)) {
      if (!unknown.empty())
        return std::nullopt;
      unknown = name;
    }
  if (unknown.empty())
    return std::nullopt;
  auto at = [&](int64_t guess) {
    Symbols tried = symbols;
    tried[unknown] = guess;
    return evaluate(expression, tried);
  };
  auto first = at(0), second = at(1);
  if (!first || !second || *first == *second)
    return std::nullopt;
  int64_t slope, distance;
  if (llvm::SubOverflow(*second, *first, slope) ||
      llvm::SubOverflow(value, *first, distance) || distance % slope != 0)
    return std::nullopt;
  int64_t guess = distance / slope;
  return at(guess) == value ? std::optional(guess) : std::nullopt;
}

std::string nnc::torch::describe(StringRef expression) {
  std::set<std::string> names = findSymbols(expression);
  if (names.size() != 1)
    return expression.str();
  const std::string &name = *names.begin();
  Symbols symbols;
  symbols[name] = 0;
  auto offset = evaluate(expression, symbols);
  symbols[name] = 1;
  auto next = evaluate(expression, symbols);
  symbols[name] = 7;
  auto far = evaluate(expression, symbols);
  auto isSmall = [](std::optional<int64_t> x) {
    return x && std::abs(*x) < (int64_t(1) << 32);
  };
  if (!isSmall(offset) || !isSmall(next) || !isSmall(far) ||
      *far != *offset + 7 * (*next - *offset))
    return expression.str();
  int64_t slope = *next - *offset;
  std::string text = (slope == 1 ? "" : std::to_string(slope) + "*") + name;
  if (*offset != 0)
    text += (*offset < 0 ? " - " : " + ") + std::to_string(std::abs(*offset));
  return text;
}
