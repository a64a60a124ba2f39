//===- CommandLineParser.h - What each word of a command line is ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_COMMANDLINE_COMMANDLINEPARSER_H
#define NNC_COMPILER_TOOLS_NNC_COMMANDLINE_COMMANDLINEPARSER_H

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace nnc::tools {

/// Finds out of each word of a command line whether it is the command, an
/// option, an option's value or an argument, and tells of all words that are
/// none of these and of all values that are missing. CLI11, which reads what is
/// left, would stop at the first of them, and would take the next word in the
/// place of an empty value.
class CommandLineParser {
public:
  /// `complain` is called with each problem.
  CommandLineParser(CLI::App &app, std::vector<std::string> words,
                    std::function<void(const std::string &)> complain)
      : app(app), words(std::move(words)), complain(std::move(complain)) {}

  /// Returns the words that have no problem, each option in its long form and
  /// in one word with its value: "-o DIR" as "--output=DIR".
  std::vector<std::string> read();

private:
  bool readHelp();
  void readFirst(const std::string &word, bool mayBeValue);
  void readLong(const std::string &word);
  void readShort(const std::string &word);
  void readArgument(const std::string &word);
  void readValue(CLI::Option &option);
  void addValue(CLI::Option &option, const std::string &value);
  void addFlag(CLI::Option &option);
  void refuse(CLI::Option &option, const std::string &problem);
  void complainOfOption(const std::string &name);
  void complainOfCommand(const std::string &name);

  CLI::App &app;
  std::vector<std::string> words;
  std::function<void(const std::string &)> complain;

  CLI::App *command = nullptr; ///< null in front of it
  size_t next = 0;             ///< the next word
  size_t argumentCount = 0;
  bool hasUnknown = false;            ///< an option that there is not
  bool behindUnknown = false;         ///< the next word may be the value of one
  std::vector<std::string> strangers; ///< words where a command should be
  std::set<const CLI::Option *> given;
  std::vector<std::string> kept;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_COMMANDLINE_COMMANDLINEPARSER_H
