//===- Identifiers.h - From a model's names to C identifiers --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The one place that makes C identifiers from names that a model, a file or a
// user gives. The README has the rule under "How names become C identifiers".
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_EXEC_IDENTIFIERS_H
#define NNC_DIALECTS_EXEC_IDENTIFIERS_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace nnc::exec {

/// The most characters that an identifier made from a model's name has.
inline constexpr size_t kMaxIdentifier = 40;

/// `text` with only letters and digits of ASCII, and single underscores between
/// words. Latin letters lose their accents; what else C does not take becomes
/// an underscore. Empty if nothing is left.
std::string toCWords(llvm::StringRef text);

/// Whether printed code may declare `name`: it is an identifier of C and C++
/// that neither language keeps for itself, that no macro of the standard or the
/// system's headers may be, and that the printed code does not use itself.
bool isUsableIdentifier(llvm::StringRef name);

/// A usable identifier of at most `limit` characters from the parts of a
/// model's `name` that tell most. `kind` ("input", "layer", ...) goes before
/// what is no identifier by itself, and stands in where nothing is left; `end`
/// is kept whole behind it. It depends on its arguments alone, so it is not
/// unique.
std::string makeIdentifier(llvm::StringRef name, llvm::StringRef kind,
                           size_t limit = kMaxIdentifier,
                           llvm::StringRef end = "");

/// Why a module cannot be called `name`, as the end of a sentence that begins
/// with the name ("is a keyword of C or C++"); empty if it can.
std::string findModuleNameProblem(llvm::StringRef name);

/// A name that a module can have, close to `name`: the stem of a file, or what
/// a user gave.
std::string makeModuleName(llvm::StringRef name);

} // namespace nnc::exec

#endif // NNC_DIALECTS_EXEC_IDENTIFIERS_H
