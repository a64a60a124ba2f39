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
  // Candidates are the name without a number, then the name with a number of
  // one digit, of two digits, and so on. For each number of digits the name is
  // shortened to leave room for the digits.
  for (unsigned from = 0, to = 1;;) {
    size_t room = from == 0 ? 0 : 1 + std::to_string(from).size();
    std::string stem = makeIdentifier(name, kind, limit - room, end);
    // Names are never released, so that numbers that were tried once are not
    // tried again.
    unsigned &next =
        tried[isCall][stem + std::string(1, '\0') + std::to_string(room)];
    for (next = std::max(next, from); next < to; ++next) {
      std::string unique = from == 0 ? stem : stem + "_" + std::to_string(next);
      // A name of one letter would become a name such as X_2 or X_shape, which
      // looks like a macro.
      if (!isUsableIdentifier(unique) || (isCall && unique.size() == 1))
        unique = StringRef(unique).lower();
      if (take(unique, isCall))
        return unique;
    }
    from = std::max(to, 2u);
    to = from == 2 ? 10 : 10 * from;
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
