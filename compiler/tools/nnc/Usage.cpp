//===- Usage.cpp - All problems of a command line -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/Usage.h"

#include "compiler/tools/driver/Supervise.h"
#include "compiler/tools/driver/Terminal.h"
#include "compiler/tools/nnc/CommandTable.h"
#include "frontends/common/Suggest.h"

#include "llvm/Support/FileSystem.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nnc::tools {

CLI::App &Usage::getCommand() const {
  std::vector<CLI::App *> chosen = app.get_subcommands();
  return chosen.empty() ? app : *chosen.front();
}

std::string Usage::getPath() const {
  CLI::App &command = getCommand();
  return &command == &app ? "nnc" : "nnc " + command.get_name();
}

void Usage::addProblem(const std::string &problem) {
  if (std::find(problems.begin(), problems.end(), problem) == problems.end())
    problems.push_back(problem);
}

/// Returns the names of all options, to suggest one of them.
static std::vector<std::string> getFlags(CLI::App &command) {
  std::vector<std::string> flags;
  for (const CLI::Option *option : command.get_options())
    for (const std::string &name : option->get_lnames())
      flags.push_back("--" + name);
  return flags;
}

void Usage::noteMissing() {
  for (CLI::Option *option : getCommand().get_options())
    if (option->get_required() && option->count() == 0) {
      addProblem(option->get_name() + " is required");
      option->required(false);
    }
}

/// Notes the arguments that no option and no command takes. A word behind an
/// unknown option may be its value; so words are noted only if there is no
/// unknown option.
void Usage::noteExtras() {
  CLI::App &command = getCommand();
  std::vector<std::string> words;
  bool hasFlags = false;
  for (const std::string &extra : app.remaining(/*recurse=*/true)) {
    if (extra.size() > 1 && extra[0] == '-') {
      std::string flag = extra.substr(0, extra.find('='));
      addProblem(fmt::format("there is no option '{}'{}", flag,
                             frontends::didYouMean(flag, getFlags(command))));
      hasFlags = true;
    } else {
      words.push_back(extra);
    }
  }
  if (!hasFlags)
    for (const std::string &word : words)
      addProblem(fmt::format("the argument '{}' is one too many", word));
  command.allow_extras();
  app.allow_extras();
}

/// Removes an option whose value is wrong from the arguments.
void Usage::dropOption(const std::string &name) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    bool isAlone = arguments[i] == name;
    if (!isAlone && arguments[i].rfind(name + "=", 0) != 0)
      continue;
    auto at = arguments.begin() + i--;
    bool hasValue = isAlone && at + 1 != arguments.end() && at[1][0] != '-';
    arguments.erase(at, at + (hasValue ? 2 : 1));
  }
}

std::optional<ExitCode> Usage::note(const CLI::ParseError &error) {
  if (app.get_subcommands().empty()) {
    std::vector<std::string> names, words = app.remaining();
    for (const CommandEntry &entry : getCommands())
      names.push_back(entry.name);
    if (words.empty()) {
      writeError(app.help());
      addProblem("no command is given");
      return ExitCode::usage;
    }
    bool isFlag = words.front()[0] == '-';
    addProblem(
        isFlag
            ? fmt::format("there is no option '{}'{}", words.front(),
                          frontends::didYouMean(words.front(), getFlags(app)))
            : fmt::format("there is no command '{}'{}; choose one of {}",
                          words.front(),
                          frontends::didYouMean(words.front(), names),
                          fmt::join(names, ", ")));
    return ExitCode::usage;
  }
  help = getPath();
  if (error.get_exit_code() == int(CLI::ExitCodes::RequiredError)) {
    noteMissing();
    return std::nullopt;
  }
  if (error.get_exit_code() == int(CLI::ExitCodes::ExtrasError)) {
    noteExtras();
    return std::nullopt;
  }
  std::string text = error.what();
  addProblem(text);
  // A message such as "--threads: ..." names the option that it is about. If it
  // names none, no further problem can be found.
  size_t before = arguments.size();
  std::string name = text.substr(0, text.find_first_of(": "));
  dropOption(name);
  CLI::Option *option = getCommand().get_option_no_throw(name);
  if (option && option->get_positional()) {
    for (const std::string &value : option->results())
      arguments.erase(std::remove(arguments.begin(), arguments.end(), value),
                      arguments.end());
    option->required(false);
  }
  return arguments.size() < before ? std::nullopt
                                   : std::optional(ExitCode::usage);
}

std::optional<ExitCode> Usage::parse() {
  std::optional<ExitCode> end;
  while (!end) {
    try {
      // CLI11 takes the arguments from the back of the list.
      app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
      end = problems.empty() ? ExitCode::done : ExitCode::usage;
    } catch (const CLI::ParseError &error) {
      // CLI11 reports a request for help or for the version as an error.
      if (error.get_exit_code() == 0) {
        bool isVersion = error.get_name() == "CallForVersion";
        writeOut(isVersion ? std::string(error.what()) + "\n" : app.help());
        return finish(ExitCode::done);
      }
      size_t before = problems.size();
      end = note(error);
      if (!end && problems.size() == before)
        // The same problem again: nothing can be removed.
        end = ExitCode::usage;
    }
  }
  setManner(manner);
  if (manner.quiet && manner.verbose)
    addProblem("--quiet and --verbose exclude each other");
  if (problems.empty())
    return std::nullopt;
  CLI::App &command = getCommand();
  const CLI::Option *model = command.get_option_no_throw("MODEL");
  if (model && model->count() && !llvm::sys::fs::exists(model->results()[0]))
    addProblem(model->results()[0] + ": there is no such file");
  for (const std::string &problem : problems)
    printError(fmt::format("{}{}see {} --help", problem,
                           problem.back() == '?' ? " " : "; ",
                           help.empty() ? "nnc" : help));
  return ExitCode::usage;
}

} // namespace nnc::tools
