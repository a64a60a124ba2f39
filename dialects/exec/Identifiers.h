//===- Identifiers.h - From a model's names to C identifiers --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The one place that makes C identifiers from names that a model, a file or a
// user gives. codegen/calling.md has the rule under "How names become C
// identifiers".
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_EXEC_IDENTIFIERS_H
#define NNC_DIALECTS_EXEC_IDENTIFIERS_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace nnc::exec {

/// The largest number of characters of an identifier made from a model's name.
inline constexpr size_t kMaxIdentifier = 40;

/// Returns `text` with only ASCII letters and digits, and single underscores
/// between words. Latin letters lose their accents; all other characters become
/// underscores. The result is empty if nothing is left.
std::string toCWords(llvm::StringRef text);

/// Returns true if emitted code may declare `name`: it is an identifier that
/// neither C nor C++ reserves, that no macro of the standard or system headers
/// may have, and that the emitted code does not use for itself.
bool isUsableIdentifier(llvm::StringRef name);

/// Returns true if `name` has the form of a C identifier: letters, digits and
/// underscores, with no digit first. Keywords are not refused.
bool isFunctionName(llvm::StringRef name);

/// Returns a usable identifier of at most `limit` characters, made of the most
/// telling parts of a model's `name`. `kind` ("input", "layer", ...) is put
/// before a name that is not an identifier by itself, or replaces it if nothing
/// is left of it; `end` is appended unchanged. The result depends only on the
/// arguments, so it is not unique.
std::string makeIdentifier(llvm::StringRef name, llvm::StringRef kind,
                           size_t limit = kMaxIdentifier,
                           llvm::StringRef end = "");

/// Returns why a module cannot have the name `name`, as the end of a sentence
/// that begins with the name ("is a keyword of C or C++"), or an empty string
/// if it can.
std::string findModuleNameProblem(llvm::StringRef name);

/// Returns a name that a module can have and that is close to `name`, which is
/// the stem of a file's name or given by the user.
std::string makeModuleName(llvm::StringRef name);

} // namespace nnc::exec

#endif // NNC_DIALECTS_EXEC_IDENTIFIERS_H
