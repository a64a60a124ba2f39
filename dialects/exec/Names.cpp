//===- Names.cpp - Names that printed code may use ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/exec/Exec.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc::exec;

/// Words of C99 and C++20, and names that the printed code is written with.
static const llvm::StringSet<> &getReservedNames() {
  static const llvm::StringSet<> names = {
  // clang-format off
#define NNC_NAME(name) #name,
#include "dialects/exec/ReservedNames.inc"
      // clang-format on
  };
  return names;
}

/// Ends of the names that a call's parts have beside its own.
static constexpr llvm::StringLiteral kParts[] = {"_shape", "_expression",
                                                 "_routine"};

static bool isIdentifier(StringRef name) {
  return !name.empty() && !llvm::isDigit(name[0]) && name[0] != '_' &&
         !name.contains("__") && llvm::all_of(name, [](char c) {
           return llvm::isAlnum(c) || c == '_';
         });
}

bool Names::isFree(StringRef name, bool isCall) const {
  if (taken.contains(name) || getReservedNames().contains(name))
    return false;
  return !isCall || llvm::none_of(kParts, [&](StringRef part) {
    return taken.contains((name + part).str());
  });
}

bool Names::take(StringRef name, bool isCall) {
  if (!isIdentifier(name) || !isFree(name, isCall))
    return false;
  taken.insert(name);
  if (isCall)
    for (StringRef part : kParts)
      taken.insert((name + part).str());
  return true;
}

std::string Names::addUnique(StringRef name, bool isCall) {
  std::string base;
  for (char c : name) {
    char next = llvm::isAlnum(c) ? c : '_';
    if (next != '_' || (!base.empty() && base.back() != '_'))
      base += next;
  }
  while (!base.empty() && base.back() == '_')
    base.pop_back();
  if (base.empty() || llvm::isDigit(base[0]))
    base.insert(0, "v");
  std::string unique = base;
  for (unsigned i = 2; !take(unique, isCall); ++i)
    unique = base + "_" + std::to_string(i);
  return unique;
}

std::string Names::add(StringRef name) { return addUnique(name, false); }
std::string Names::addCall(StringRef name) { return addUnique(name, true); }
