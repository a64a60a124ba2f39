//===- CommandLine.h - Commands and options as data -------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The help, manual pages and shell completions list the same commands and
// options, because the rows here are read from the objects of CLI11, which also
// parse the command line and print the help.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_COMMANDLINE_COMMANDLINE_H
#define NNC_COMPILER_TOOLS_NNC_COMMANDLINE_COMMANDLINE_H

#include "compiler/tools/nnc/commandline/OptionValue.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace nnc::tools {

/// An option, or a positional argument.
struct OptionRow {
  /// The names as they are typed, the short one first. A positional argument
  /// has the name that the help shows.
  std::vector<std::string> names;
  std::string type, defaultValue, help;
  bool isArgument = false, isRequired = false, isRepeated = false;
  /// The parts of its value that shells can complete; nullopt for an option
  /// without a value.
  std::optional<ValueKind> value;

  /// Returns the first part of the help, for lists.
  std::string summarize() const;
};

/// A command, or nnc itself.
struct CommandRow {
  std::string name; ///< empty for nnc itself
  std::string summary;
  std::vector<OptionRow> options; ///< without options that the help hides

  /// Returns the name as users type it: "nnc compile".
  std::string call() const { return name.empty() ? "nnc" : "nnc " + name; }
  /// Returns the positional arguments in their order.
  std::vector<OptionRow> getArguments() const;
};

/// Returns the row of nnc itself, followed by its commands in the order of the
/// help.
std::vector<CommandRow> readCommandLine(const CLI::App &app);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_COMMANDLINE_COMMANDLINE_H
