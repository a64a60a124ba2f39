//===- main.cpp - nnc's command line --------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/Diagnostics.h"
#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Supervise.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/nnc/Version.h"
#include "compiler/tools/nnc/commandline/CommandLine.h"
#include "compiler/tools/nnc/commandline/Usage.h"
#include "compiler/tools/nnc/commands/CommandTable.h"
#include "compiler/tools/nnc/options/Options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <string_view>

using namespace nnc::tools;

namespace {

/// Formats the help of an option like "--threads N (1)", without the names of
/// the checks that a value must pass.
class Formatter : public CLI::Formatter {
  std::string make_option_opts(const CLI::Option *option) const override {
    std::string text = getTypeName(*option);
    if (option->get_type_size() == 0 || option->get_positional())
      return "";
    if (!option->get_default_str().empty())
      text += fmt::format(" ({})", option->get_default_str());
    return " " + text;
  }
};

/// Returns the end of each command's help: the exit codes, without details.
std::string makeFooter() {
  std::string text, line = "Exit codes:";
  for (const auto &[code, says] : exitCodeTexts) {
    std::string_view brief(says);
    std::string item =
        fmt::format(" {} {}{}", int(code), brief.substr(0, brief.find(':')),
                    &says == &std::end(exitCodeTexts)[-1].says ? "." : ",");
    if (line.size() + item.size() >= 80) {
      text += line + "\n";
      line.clear();
      item.erase(0, 1);
    }
    line += item;
  }
  return text + line;
}

/// Prints the problems of a failed command as a JSON document if --json is
/// given.
ExitCode printFailure(ExitCode code) {
  if (areProblemsForJson() && !isJsonPrinted())
    printJson(llvm::json::Object(), code);
  return code;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("nnc turns trained models into C++ that needs nothing else.",
               "nnc");
  app.set_version_flag("--version", std::string("nnc ") + versionText);
  app.require_subcommand(1);
  app.footer(makeFooter());
  app.formatter(std::make_shared<Formatter>());
  Manner manner;
  addMannerOptions(app, manner);
  Command *chosen = nullptr;
  std::vector<std::unique_ptr<Command>> commands;
  for (const CommandEntry &entry : getCommands()) {
    CLI::App *command = app.add_subcommand(entry.name, entry.summary);
    commands.push_back(entry.make());
    commands.back()->addOptions(*command);
    addMannerOptions(*command, manner);
    command->callback([&, sumsUp = entry.sumsUp, made = commands.back().get()] {
      chosen = made;
      manner.sumsUp = sumsUp;
    });
  }
  // A command line that cannot be parsed is also reported as JSON.
  if (std::find(argv + 1, argv + argc, std::string_view("--json")) !=
      argv + argc)
    keepProblemsForJson();
  if (auto code = Usage(app, argc, argv, manner).parse())
    return int(finish(*code == ExitCode::done ? *code : printFailure(*code)));
  int code = supervise([&] {
    ExitCode code = chosen->run();
    return code == ExitCode::done ? code : printFailure(code);
  });
  // Only the supervising process knows that the command crashed, and it has
  // reported that already.
  if (hasCrashed())
    return int(finish(printFailure(ExitCode(code))));
  return code;
}
