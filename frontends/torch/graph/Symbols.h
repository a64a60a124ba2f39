//===- Symbols.h - Sizes that a program leaves open -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_GRAPH_SYMBOLS_H
#define NNC_FRONTENDS_TORCH_GRAPH_SYMBOLS_H

#include "frontends/common/Lengths.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <set>
#include <string>

namespace nnc::torch {
using frontends::LengthExpression;
using frontends::Lengths;

/// The values of the symbols of a program, such as s77, which stand for sizes
/// of its inputs.
using Symbols = llvm::StringMap<int64_t>;

/// Returns the value of an expression of symbols, as a program writes it:
/// "Mul(Integer(2), Symbol('s77', positive=True))" or "2*s77 + 1". Returns
/// nullopt for an expression that nnc does not know, that has a symbol without
/// a value, that is no integer or whose computation overflows. A truth value is
/// 0 or 1.
std::optional<int64_t> evaluate(llvm::StringRef expression,
                                const Symbols &symbols);

/// Returns an expression of symbols as one of data-dependent sizes; null if
/// a function or a symbol has no such expression.
LengthExpression readLength(llvm::StringRef expression, const Lengths &lengths,
                            const llvm::StringMap<LengthExpression> &symbols);

/// Returns the names of the symbols in an expression.
std::set<std::string> findSymbols(llvm::StringRef expression);

/// Returns true if `expression` has the form of an expression, whose functions
/// may be any, and consists of symbols that `isKnown` accepts.
bool isExpression(llvm::StringRef expression,
                  llvm::function_ref<bool(llvm::StringRef)> isKnown);

/// Returns the value of the only symbol in `expression`, which grows linearly
/// with it, for which the expression is `value`; nullopt if there is none.
std::optional<int64_t> solve(llvm::StringRef expression, int64_t value,
                             const Symbols &symbols);

/// Returns an expression as users read it: "2*s77".
std::string describe(llvm::StringRef expression);

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_GRAPH_SYMBOLS_H
