//===- Attributes.cpp - Numbers in the texts of attributes ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/file/Attributes.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace nnc::mxnet;

std::optional<int64_t> nnc::mxnet::parseInt(StringRef text) {
  text = text.trim();
  text.consume_front("+");
  text.consume_back("L"); // as Python 2 prints long integers
  int64_t value = 0;
  if (text.empty() || text.getAsInteger(10, value))
    return std::nullopt;
  return value;
}

std::optional<double> nnc::mxnet::parseReal(StringRef text) {
  text = text.trim();
  if (text.equals_insensitive("inf") || text.equals_insensitive("+inf"))
    return std::numeric_limits<double>::infinity();
  if (text.equals_insensitive("-inf"))
    return -std::numeric_limits<double>::infinity();
  double value = 0;
  if (text.empty() || text.getAsDouble(value) || std::isnan(value))
    return std::nullopt;
  return value;
}

std::optional<bool> nnc::mxnet::parseBool(StringRef text) {
  text = text.trim();
  if (text.equals_insensitive("true") || text == "1")
    return true;
  if (text.equals_insensitive("false") || text == "0")
    return false;
  return std::nullopt;
}

/// Calls `take` with each entry of a tuple in parentheses or brackets, or with
/// a text that is no tuple. A tuple of tuples has the entries of all. Returns
/// false if the text has another form or if `take` returns false.
static bool forEachEntry(StringRef text,
                         llvm::function_ref<bool(StringRef)> take) {
  text = text.trim();
  bool isTuple = false;
  for (auto [open, close] : {std::pair{"(", ")"}, std::pair{"[", "]"}})
    if (text.consume_front(open)) {
      if (!text.consume_back(close))
        return false;
      isTuple = true;
      break;
    }
  if (!isTuple)
    return take(text);
  text = text.trim();
  text.consume_back(","); // a Python tuple of one, or the end of a list
  if (text.empty())
    return true;
  SmallVector<StringRef> entries;
  text.split(entries, ',');
  if (text.starts_with("("))
    for (StringRef &entry : entries) {
      entry = entry.trim();
      entry.consume_front("(");
      entry.consume_back(")");
    }
  return llvm::all_of(entries, take);
}

std::optional<OptionalInts> nnc::mxnet::parseTuple(StringRef text) {
  OptionalInts entries;
  bool fits = forEachEntry(text, [&](StringRef entry) {
    auto value = parseInt(entry);
    bool isNone = entry.trim() == "None";
    if (value || isNone)
      entries.push_back(value);
    return value || isNone;
  });
  return fits ? std::optional(entries) : std::nullopt;
}

std::optional<SmallVector<double>> nnc::mxnet::parseReals(StringRef text) {
  SmallVector<double> entries;
  bool fits = forEachEntry(text, [&](StringRef entry) {
    auto value = parseReal(entry);
    if (value)
      entries.push_back(*value);
    return value.has_value();
  });
  return fits ? std::optional(entries) : std::nullopt;
}
