//===- Usage.h - All problems of a command line -----------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_COMMANDLINE_USAGE_H
#define NNC_COMPILER_TOOLS_NNC_COMMANDLINE_USAGE_H

#include "compiler/tools/driver/console/ExitCode.h"
#include "compiler/tools/driver/console/Terminal.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
} // namespace CLI

namespace nnc::tools {

/// Finds all problems of a command line. It removes arguments that cause a
/// problem, and parses the rest again.
class Usage {
public:
  /// `manner` is set by options among the arguments during parsing.
  Usage(CLI::App &app, int argc, char **argv, const Manner &manner)
      : app(app), manner(manner), arguments(argv + 1, argv + argc) {}

  /// Parses the arguments repeatedly until every problem is known, because
  /// CLI11 stops at the first one. Returns the exit code if no command is to be
  /// run, and otherwise nothing.
  std::optional<ExitCode> parse();

private:
  std::optional<ExitCode> note(const CLI::ParseError &error);
  void noteMissing();
  void dropOption(const std::string &name);
  void addProblem(const std::string &problem);
  /// Returns the command that the arguments name, or nnc itself if they name
  /// none.
  CLI::App &getCommand() const;
  std::string getPath() const;

  CLI::App &app;
  const Manner &manner;
  std::vector<std::string> arguments;
  std::vector<std::string> problems;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_COMMANDLINE_USAGE_H
