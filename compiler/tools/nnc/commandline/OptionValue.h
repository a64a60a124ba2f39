//===- OptionValue.h - What an option's value may be ------------*- C++ -*-===//
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

/// The parts of an option's value that a shell can complete. They follow from
/// the name of its type, which help shows: alternatives are divided by '|',
/// what is in upper case stands for something else, and FILE.ext and DIR are
/// names of files and folders.
struct ValueKind {
  /// Words that the value may be. One that ends in '=' or ':' goes on.
  std::vector<std::string> words;
  /// Extensions of the files that it may name, with their dots; "" is any file.
  std::vector<std::string> extensions;
  bool namesFolder = false, namesCommand = false;
  /// Whether several words may be given, with commas between them.
  bool isList = false;
  /// The character behind which a file is named, '=' in INPUT=FILE.npy; else 0.
  char separator = 0;

  static ValueKind parse(const std::string &type);
};

/// Makes `option` take one of a list of words, which shells complete. The list
/// is made when it is needed. `findProblem` returns what is wrong with a value,
/// or an empty string; without it other words are refused, and the closest word
/// is suggested.
void setWords(CLI::Option &option,
              std::function<std::vector<std::string>()> words,
              std::function<std::string(const std::string &)> findProblem = {});

/// Returns the name of an option's type, without what CLI11 adds for checks.
std::string getTypeName(const CLI::Option &option);

/// Returns what can be completed of an option's value.
ValueKind getValueKind(const CLI::Option &option);

/// Returns all that the checks of an option say of the values that it is given.
std::vector<std::string> findProblems(const CLI::Option &option);

/// Returns a check of a number from `low` to `high`. Unlike CLI::Range it
/// refuses NaN.
std::function<std::string(const std::string &)> numberFrom(double low,
                                                           double high);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_COMMANDLINE_OPTIONVALUE_H
