//===- CommandLineParser.h - Classifies the words of a command line -------===//
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

/// Decides for each word of a command line whether it is the command, an
/// option, an option's value or an argument. It reports all words that are none
/// of these, and all missing values. CLI11, which parses the remaining words,
/// would stop at the first problem, and would take the next word in place of an
/// empty value.
class CommandLineParser {
public:
  /// `complain` is called for each problem.
  CommandLineParser(CLI::App &app, std::vector<std::string> words,
                    std::function<void(const std::string &)> complain)
      : app(app), words(std::move(words)), complain(std::move(complain)) {}

  /// Returns the words without problems. Each option is in its long form and in
  /// one word with its value: "-o DIR" becomes "--output=DIR".
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

  CLI::App *command = nullptr; ///< null until the command has been read
  size_t next = 0;             ///< index of the next word
  size_t argumentCount = 0;
  bool hasUnknown = false; ///< whether an unknown option was given
  /// Whether the next word may be an unknown option's value.
  bool behindUnknown = false;
  std::vector<std::string> strangers; ///< words found in place of a command
  std::set<const CLI::Option *> given;
  std::vector<std::string> kept;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_COMMANDLINE_COMMANDLINEPARSER_H
