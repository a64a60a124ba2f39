//===- SizeGuesses.cpp - Sizes to try for dimensions that are left open ---===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/SizeGuesses.h"

#include "frontends/common/Limits.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nnc::frontends;

//===----------------------------------------------------------------------===//
// The meaning of names
//===----------------------------------------------------------------------===//

namespace {
/// A word in the name of a dimension, and the size that it suggests. `isWhole`
/// is set for words that suggest it only if they are the whole name.
struct Meaning {
  StringLiteral word;
  bool isWhole;
  int64_t size;
};
} // namespace

/// The operator characters in a dimension's name that is an expression of other
/// names.
static constexpr StringLiteral kOperators = "+-*/";

/// The meanings of words. The first one that matches is used.
static constexpr Meaning kMeanings[] = {
    {"batch", false, 1},    {"past", false, 16},   {"cache", false, 16},
    {"height", false, 224}, {"width", false, 224}, {"channel", false, 3},
    {"seq", false, 128},    {"len", false, 128},   {"time", false, 128},
    {"token", false, 128},  {"frame", false, 128}, {"n", true, 1},
    {"b", true, 1},         {"bs", true, 1},       {"h", true, 224},
    {"w", true, 224},       {"c", true, 3},        {"t", true, 128},
    {"s", true, 128},
};

static bool isBatch(const Meaning &meaning) { return meaning.size == 1; }

static const Meaning *findMeaning(StringRef symbol) {
  std::string name = symbol.lower();
  for (const Meaning &meaning : kMeanings)
    if (meaning.isWhole ? name == meaning.word
                        : StringRef(name).contains(meaning.word))
      return &meaning;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

namespace {

/// A chooser of sizes. All dimensions except batches have the size `other`, if
/// that is not 0.
class Chooser {
public:
  explicit Chooser(int64_t other) : other(other) {}

  int64_t getSize(const Dim &dim, size_t axis, size_t rank) {
    if (dim.size)
      return *dim.size;
    if (dim.symbol.empty())
      return choose("", axis, rank);
    auto known = symbols.find(dim.symbol);
    if (known != symbols.end())
      return known->second;
    int64_t size = evaluate(dim.symbol).value_or(0);
    if (size < 1)
      size = choose(dim.symbol, axis, rank);
    return symbols[dim.symbol] = size;
  }

private:
  int64_t choose(StringRef symbol, size_t axis, size_t rank) const {
    const Meaning *meaning = findMeaning(symbol);
    bool batch = meaning ? isBatch(*meaning) : symbol.empty() && axis == 0;
    if (batch || other)
      return batch ? 1 : other;
    if (meaning)
      return meaning->size;
    if (axis == 0 && rank > 1)
      return 1;
    return rank >= 4 ? (axis == 1 ? 3 : 224) : 128;
  }

  /// Returns the value of an expression of +, -, *, //, parentheses, names and
  /// numbers, such as "past_length + 1" or "2*s0". Returns nullopt if `text` is
  /// a single name or no such expression.
  std::optional<int64_t> evaluate(StringRef text) {
    if (text.find_first_of(kOperators) == StringRef::npos)
      return std::nullopt;
    rest = text;
    depth = 0;
    auto value = parseSum();
    return rest.trim().empty() ? value : std::nullopt;
  }

  bool take(StringRef word) {
    rest = rest.ltrim();
    return rest.consume_front(word);
  }

  std::optional<int64_t> parseSum() {
    auto sum = parseProduct();
    while (sum) {
      bool isMinus = !take("+");
      if (isMinus && !take("-"))
        break;
      auto next = parseProduct();
      if (!next || (isMinus ? llvm::SubOverflow(*sum, *next, *sum)
                            : llvm::AddOverflow(*sum, *next, *sum)))
        return std::nullopt;
    }
    return sum;
  }

  std::optional<int64_t> parseProduct() {
    auto product = parseFactor();
    while (product) {
      bool isQuotient = take("//");
      if (!isQuotient && !take("*"))
        break;
      auto next = parseFactor();
      if (!next || (isQuotient && *next <= 0))
        return std::nullopt;
      if (isQuotient)
        *product /= *next;
      else if (llvm::MulOverflow(*product, *next, *product))
        return std::nullopt;
    }
    return product;
  }

  std::optional<int64_t> parseFactor() {
    if (take("(")) {
      // The nesting depth is limited to protect the stack.
      auto sum = ++depth < 16 ? parseSum() : std::nullopt;
      --depth;
      return take(")") ? sum : std::nullopt;
    }
    rest = rest.ltrim();
    StringRef word =
        rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    rest = rest.drop_front(word.size());
    int64_t number;
    if (word.empty() || !word.getAsInteger(10, number))
      return word.empty() ? std::nullopt : std::optional(number);
    auto known = symbols.find(word);
    if (known != symbols.end())
      return known->second;
    return symbols[word] = choose(word, /*axis=*/1, /*rank=*/2);
  }

  int64_t other;
  llvm::StringMap<int64_t> symbols;
  StringRef rest; ///< unparsed rest of the expression
  int depth = 0;
};

} // namespace

bool nnc::frontends::mayBeBatch(StringRef symbol, bool hasRows) {
  // An expression such as "2*batch" is another number.
  if (symbol.find_first_of(kOperators) != StringRef::npos)
    return false;
  const Meaning *meaning = findMeaning(symbol);
  return meaning ? isBatch(*meaning) : hasRows;
}

std::string nnc::frontends::quoteForShell(StringRef text) {
  bool isPlain = llvm::all_of(text, [](char c) {
    return llvm::isAlnum(c) || StringRef("_-./:=").contains(c);
  });
  if (isPlain && !text.empty())
    return text.str();
  std::string quoted = "'";
  for (char c : text)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::vector<SizeGuess> nnc::frontends::guessSizes(ArrayRef<TensorInfo> open,
                                                  const GivenShapes &given) {
  std::vector<SizeGuess> trials;
  for (int64_t other : {0, 32, 256, 1}) {
    Chooser chooser(other);
    SizeGuess trial;
    trial.shapes = given;
    llvm::StringSet<> bound;
    for (const TensorInfo &input : open) {
      std::vector<int64_t> &shape = trial.shapes[input.name];
      bool isNew = !input.dims;
      if (isNew)
        shape = {1, 3, other ? other : 224, other ? other : 224};
      for (size_t i = 0; input.dims && i < input.dims->size(); ++i) {
        const Dim &dim = (*input.dims)[i];
        shape.push_back(chooser.getSize(dim, i, input.dims->size()));
        if (!dim.size)
          isNew |= dim.symbol.empty() || bound.insert(dim.symbol).second;
      }
      if (isNew)
        trial.arguments += (trial.arguments.empty() ? "" : " ") +
                           std::string("--shape ") +
                           quoteForShell(input.name + "=" + toString(shape));
    }
    trials.push_back(std::move(trial));
  }
  return trials;
}
