//===- Usage.cpp - All problems of a command line -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/commandline/Usage.h"

#include "compiler/tools/driver/console/Supervise.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/nnc/commandline/CommandLineParser.h"
#include "compiler/tools/nnc/commandline/OptionValue.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

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

void Usage::noteMissing() {
  for (CLI::Option *option : getCommand().get_options())
    if (option->get_required() && option->count() == 0) {
      addProblem(option->get_name() + " is required");
      option->required(false);
    }
}

/// Removes an option with a wrong value from the arguments.
void Usage::dropOption(const std::string &name) {
  llvm::erase_if(arguments, [&](llvm::StringRef argument) {
    return argument == name || argument.starts_with(name + "=");
  });
}

std::optional<ExitCode> Usage::note(const CLI::ParseError &error) {
  if (error.get_exit_code() == int(CLI::ExitCodes::RequiredError)) {
    if (app.get_subcommands().empty()) {
      if (problems.empty()) {
        writeError(app.help());
        addProblem("no command is given");
      }
      return ExitCode::usage;
    }
    noteMissing();
    return std::nullopt;
  }
  std::string text = error.what();
  // A message such as "--threads: ..." names the option that it is about. If it
  // names none, no further problem can be found.
  size_t before = arguments.size();
  std::string name = text.substr(0, text.find_first_of(": "));
  CLI::Option *option = getCommand().get_option_no_throw(name);
  if (!option)
    option = app.get_option_no_throw(name);
  // CLI11 reports only the first of several wrong values.
  std::vector<std::string> wrong =
      option ? findProblems(*option) : std::vector<std::string>();
  for (const std::string &problem : wrong)
    addProblem(name + ": " + problem);
  if (wrong.empty())
    addProblem(text);
  dropOption(name);
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
  arguments =
      CommandLineParser(app, std::move(arguments), [&](const auto &problem) {
        addProblem(problem);
      }).read();
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
        // The problem is the same as before, so no argument can be removed.
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
                           problem.back() == '?' ? " " : "; ", getPath()));
  return ExitCode::usage;
}

} // namespace nnc::tools
