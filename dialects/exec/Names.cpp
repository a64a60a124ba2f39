//===- Names.cpp - The identifiers of one program, each given once --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/exec/Exec.h"
#include "dialects/exec/Identifiers.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc::exec;

/// The suffixes of the names of a call's parts.
static constexpr llvm::StringLiteral kParts[] = {"_shape", "_expression",
                                                 "_routine"};
static constexpr size_t kLongestPart = 11;

bool Names::isFree(StringRef name, bool isCall) const {
  if (taken.contains(name))
    return false;
  return !isCall || llvm::none_of(kParts, [&](StringRef part) {
    return taken.contains((name + part).str());
  });
}

bool Names::take(StringRef name, bool isCall) {
  if (!isUsableIdentifier(name) || !isFree(name, isCall))
    return false;
  taken.insert(name);
  if (isCall)
    for (StringRef part : kParts)
      taken.insert((name + part).str());
  return true;
}

std::string Names::addUnique(StringRef name, StringRef end, StringRef kind,
                             bool isCall) {
  size_t limit = kMaxIdentifier - (isCall ? kLongestPart : 0);
  std::string number;
  for (unsigned i = 2;; ++i) {
    std::string unique =
        makeIdentifier(name, kind, limit - number.size(), end) + number;
    // A name of one letter would become a name such as X_2 or X_shape, which
    // looks like a macro.
    if (!isUsableIdentifier(unique) || (isCall && unique.size() == 1))
      unique = StringRef(unique).lower();
    if (take(unique, isCall))
      return unique;
    number = "_" + std::to_string(i);
  }
}

std::string Names::add(StringRef name, StringRef kind) {
  return addUnique(name, "", kind, false);
}

std::string Names::addCall(StringRef name, StringRef end) {
  return addUnique(name, end, "layer", true);
}

std::string Names::addPart(StringRef name, StringRef end) {
  return addUnique(name, end, "value", false);
}
