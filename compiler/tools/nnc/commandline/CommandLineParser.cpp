//===- CommandLineParser.cpp - Classifies the words of a command line -----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/commandline/CommandLineParser.h"

#include "compiler/tools/nnc/commandline/OptionValue.h"
#include "frontends/common/Suggest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace nnc::tools {

static bool isFlag(const CLI::Option &option) {
  return option.get_items_expected_max() == 0;
}

static std::string getLongName(const CLI::Option &option) {
  return "--" + option.get_lnames().front();
}

/// Returns the option's name and its value's type: "--output=DIR".
static std::string describe(const CLI::Option &option) {
  return getLongName(option) + "=" + getTypeName(option);
}

/// Returns the names of all options, for suggestions.
static std::vector<std::string> getFlags(CLI::App &command) {
  std::vector<std::string> flags;
  for (const CLI::Option *option : command.get_options())
    for (const std::string &name : option->get_lnames())
      flags.push_back("--" + name);
  return flags;
}

/// Returns all commands in the order of the help.
static std::vector<CLI::App *> listCommands(CLI::App &app) {
  return app.get_subcommands([](CLI::App *) { return true; });
}

/// Returns true if there is a command of this name.
static bool isCommand(CLI::App &app, const std::string &name) {
  return llvm::any_of(listCommands(app),
                      [&](CLI::App *each) { return each->get_name() == name; });
}

void CommandLineParser::complainOfOption(const std::string &name) {
  CLI::App &place = command ? *command : app;
  complain(fmt::format("there is no option '{}'{}", name,
                       frontends::didYouMean(name, getFlags(place))));
  hasUnknown = true;
}

void CommandLineParser::complainOfCommand(const std::string &name) {
  std::vector<std::string> names;
  for (const CLI::App *each : listCommands(app))
    names.push_back(each->get_name());
  std::string meant = frontends::didYouMean(name, names);
  if (meant.empty())
    meant = fmt::format("; choose one of {}", fmt::join(names, ", "));
  complain(fmt::format("there is no command '{}'{}", name, meant));
}

/// Reports a problem with an option that is given. The option is then no longer
/// required, because what it lacks has been reported.
void CommandLineParser::refuse(CLI::Option &option,
                               const std::string &problem) {
  complain(problem);
  option.required(false);
}

void CommandLineParser::addFlag(CLI::Option &option) {
  kept.push_back(getLongName(option));
}

void CommandLineParser::addValue(CLI::Option &option,
                                 const std::string &value) {
  if (value.empty())
    return refuse(option,
                  fmt::format("the value of {} is empty", describe(option)));
  if (!given.insert(&option).second && option.get_items_expected_max() == 1)
    return complain(getLongName(option) + " is given more than once");
  kept.push_back(getLongName(option) + "=" + value);
}

/// Reads the value of an option from the next word.
void CommandLineParser::readValue(CLI::Option &option) {
  auto isCommand = [&](const std::string &word) {
    return !command && tools::isCommand(app, word) &&
           !llvm::is_contained(getValueKind(option).words, word);
  };
  // A value that looks like an option must be given as --output=--name.
  auto isOption = [&](llvm::StringRef word) {
    CLI::App &place = command ? *command : app;
    return word.starts_with("--") ||
           (word.size() > 1 && word.front() == '-' &&
            place.get_option_no_throw(word.take_front(2).str()));
  };
  if (next == words.size() || isOption(words[next]))
    return refuse(option,
                  fmt::format("the value of {} is missing", describe(option)));
  if (isCommand(words[next]))
    return refuse(option, fmt::format("the value of {} is missing in front of "
                                      "the command '{}'",
                                      describe(option), words[next]));
  addValue(option, words[next++]);
}

void CommandLineParser::readLong(const std::string &word) {
  size_t end = word.find('=');
  std::string name = word.substr(0, end);
  CLI::Option *option = (command ? command : &app)->get_option_no_throw(name);
  if (!option) {
    complainOfOption(name);
    behindUnknown = end == std::string::npos;
  } else if (isFlag(*option)) {
    if (end != std::string::npos)
      return complain(fmt::format("{} takes no value, as in '{}'", name, word));
    addFlag(*option);
  } else if (end != std::string::npos) {
    addValue(*option, word.substr(end + 1));
  } else {
    readValue(*option);
  }
}

/// Reads one or several single-letter options such as -qv. The last one may
/// have a value: -oDIR or -o DIR.
void CommandLineParser::readShort(const std::string &word) {
  for (size_t i = 1; i < word.size(); ++i) {
    std::string name = {'-', word[i]};
    CLI::Option *option = (command ? command : &app)->get_option_no_throw(name);
    if (!option) {
      // More than one letter are a long option that lacks a dash.
      complainOfOption(i == 1 ? word.substr(0, word.find('=')) : name);
      behindUnknown = true;
      return;
    }
    if (isFlag(*option)) {
      addFlag(*option);
      continue;
    }
    if (i + 1 < word.size())
      return addValue(*option, word.substr(i + 1));
    return readValue(*option);
  }
}

/// Reads a word before the command, which may be the command itself.
void CommandLineParser::readFirst(const std::string &word, bool mayBeValue) {
  if (isCommand(app, word)) {
    command = app.get_subcommand(word);
    kept.push_back(word);
  } else if (!mayBeValue) {
    strangers.push_back(word);
  }
}

void CommandLineParser::readArgument(const std::string &word) {
  std::vector<CLI::Option *> arguments = command->get_options(
      [](const CLI::Option *option) { return option->get_positional(); });
  if (argumentCount < arguments.size()) {
    CLI::Option &argument = *arguments[argumentCount++];
    if (word.empty())
      return refuse(argument, argument.get_name(/*positional=*/true) +
                                  ": the name is empty");
    kept.push_back(word);
  } else if (!hasUnknown) {
    // A word after an unknown option may be its value.
    complain(fmt::format("the argument '{}' is one too many", word));
  }
}

/// Replaces "help COMMAND" by "COMMAND --help". Returns true if it did.
bool CommandLineParser::readHelp() {
  if (words[next] != "help")
    return false;
  auto found =
      std::find_if(words.begin() + next + 1, words.end(),
                   [](llvm::StringRef word) { return !word.starts_with("-"); });
  if (found == words.end())
    kept.push_back("--help");
  else if (isCommand(app, *found))
    llvm::append_values(kept, *found, std::string("--help"));
  else
    complainOfCommand(*found);
  return true;
}

std::vector<std::string> CommandLineParser::read() {
  bool hasDashes = false;
  while (next < words.size()) {
    if (!command && strangers.empty() && readHelp())
      return kept;
    std::string word = words[next++];
    bool mayBeValue = std::exchange(behindUnknown, false);
    if (hasDashes) {
      readArgument(word);
    } else if (command && word == "--") {
      hasDashes = true;
      kept.push_back(word);
    } else if (llvm::StringRef(word).starts_with("--")) {
      readLong(word);
    } else if (word.size() > 1 && word.front() == '-') {
      readShort(word);
    } else if (command) {
      readArgument(word);
    } else {
      readFirst(word, mayBeValue);
    }
    bool asksOfAll = llvm::is_contained(kept, "--help") ||
                     llvm::is_contained(kept, "--version");
    if (!command && strangers.empty() && asksOfAll)
      return kept;
  }
  // Without a command, the first unknown word was meant as the command.
  if (!command && !strangers.empty()) {
    strangers.resize(1);
    llvm::erase_if(kept, [](const std::string &word) {
      return word == "--help" || word == "--version";
    });
  }
  for (const std::string &word : strangers)
    complainOfCommand(word);
  return kept;
}

} // namespace nnc::tools
