//===- OptionValue.h - Possible values of options ------------- -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_COMMANDLINE_OPTIONVALUE_H
#define NNC_COMPILER_TOOLS_NNC_COMMANDLINE_OPTIONVALUE_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace nnc::tools {

/// The parts of an option's value that a shell can complete. They are derived
/// from the name of the value's type, which the help shows: '|' separates
/// alternatives, words in upper case are placeholders, and FILE.ext and DIR are
/// names of files and folders.
struct ValueKind {
  /// The possible words of the value. A word that ends in '=' or ':' is
  /// continued by the user.
  std::vector<std::string> words;
  /// The extensions of files that the value may name, with their dots; ""
  /// allows any file.
  std::vector<std::string> extensions;
  bool namesFolder = false, namesCommand = false;
  /// Whether the value may be several words that are separated by commas.
  bool isList = false;
  /// The character after which a file name follows, '=' in INPUT=FILE.npy; 0 if
  /// there is none.
  char separator = 0;

  static ValueKind parse(const std::string &type);
};

/// Makes `option` accept one of a list of words, which shells can complete.
/// `words` is called when the list is needed. `findProblem` returns what is
/// wrong with a value, or an empty string. Without `findProblem`, other words
/// are rejected, and the closest word is suggested.
void setWords(CLI::Option &option,
              std::function<std::vector<std::string>()> words,
              std::function<std::string(const std::string &)> findProblem = {});

/// Returns the name of an option's type, without the text that CLI11 adds for
/// checks.
std::string getTypeName(const CLI::Option &option);

/// Returns the parts of an option's value that can be completed.
ValueKind getValueKind(const CLI::Option &option);

/// Returns all messages of an option's checks for the values that it was given.
std::vector<std::string> findProblems(const CLI::Option &option);

/// Returns a check that accepts numbers from `low` to `high`. Unlike
/// CLI::Range, it rejects NaN.
std::function<std::string(const std::string &)> numberFrom(double low,
                                                           double high);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_COMMANDLINE_OPTIONVALUE_H
