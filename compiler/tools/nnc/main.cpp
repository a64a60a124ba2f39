//===- main.cpp - nnc's command line --------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Supervise.h"
#include "compiler/tools/driver/Terminal.h"
#include "compiler/tools/nnc/Command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace nnc::tools;

namespace {

struct Entry {
  const char *name, *summary;
  std::unique_ptr<Command> (*make)();
};

constexpr Entry entries[] = {
    {"compile", "Turns a model into a folder of C++ source", makeCompile},
    {"check", "Lists every problem of a model, else its sizes", makeCheck},
    {"run", "Compiles, builds and runs a model on .npy files", makeRun},
    {"verify", "Compares a model's results with expected ones", makeVerify},
    {"bench", "Times a model, layer by layer", makeBench},
    {"tune", "Measures what could compute each layer, for --tuning", makeTune},
    {"explain", "Shows what each layer could be computed by, and at what cost",
     makeExplain},
    {"ops", "Lists the operators that models may use", makeOps},
    {"target-probe", "Measures caches and speed of a machine, for --probe",
     makeTargetProbe},
    {"targets", "Lists the machines that code can be made for", makeTargets},
    {"routines", "Lists the routines that layers are computed by",
     makeRoutines}};

constexpr const char *footer =
    "Exit codes: 0 done, 1 nnc's own fault, 2 usage, 3 the model is broken,\n"
    "4 the model needs what nnc lacks, 5 results differ, 6 a limit was passed.";

/// "--threads N (1)": without the names of the checks that a value must pass.
class Formatter : public CLI::Formatter {
  std::string make_option_opts(const CLI::Option *option) const override {
    std::string type = option->get_type_name();
    std::string text = type.substr(0, type.find(':'));
    if (option->get_type_size() == 0 || option->get_positional())
      return "";
    if (!option->get_default_str().empty())
      text += fmt::format(" ({})", option->get_default_str());
    return " " + text;
  }
};

/// Says what is wrong with the arguments. `app` is nnc itself.
ExitCode reportUsage(const CLI::App &app, const CLI::ParseError &error) {
  std::string command = app.get_name(), problem = error.what();
  if (!app.get_subcommands().empty()) {
    command += " " + app.get_subcommands().front()->get_name();
  } else if (std::vector<std::string> words = app.remaining(); !words.empty()) {
    std::vector<std::string> names;
    for (const Entry &entry : entries)
      names.push_back(entry.name);
    problem = fmt::format("there is no command '{}'; choose one of {}",
                          words.front(), fmt::join(names, ", "));
  } else {
    fmt::print(stderr, "{}", app.help());
    return ExitCode::usage;
  }
  printError(fmt::format("{}; see {} --help", problem, command));
  return ExitCode::usage;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("nnc turns trained models into C++ that needs nothing else.",
               "nnc");
  app.set_version_flag("--version", "nnc " NNC_VERSION);
  app.require_subcommand(1);
  app.footer(footer);
  app.formatter(std::make_shared<Formatter>());
  Command *chosen = nullptr;
  std::vector<std::unique_ptr<Command>> commands;
  for (const Entry &entry : entries) {
    CLI::App *command = app.add_subcommand(entry.name, entry.summary);
    commands.push_back(entry.make());
    commands.back()->addOptions(*command);
    command->callback(
        [&chosen, made = commands.back().get()] { chosen = made; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // Help and the version are "errors" that are none.
    return error.get_exit_code() == 0 ? app.exit(error)
                                      : int(reportUsage(app, error));
  }
  return supervise([&] { return chosen->run(); });
}
