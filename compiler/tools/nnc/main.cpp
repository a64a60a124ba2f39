//===- main.cpp - nnc's command line --------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Suggest.h"
#include "compiler/tools/driver/Supervise.h"
#include "compiler/tools/driver/Terminal.h"
#include "compiler/tools/nnc/Command.h"
#include "compiler/tools/nnc/Version.h"

#include "llvm/Support/FileSystem.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string_view>

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
    {"quantize", "Makes a float model an 8-bit one, by calibration data",
     makeQuantize},
    {"compress", "Prunes a float model and shares its weights", makeCompress},
    {"explain", "Shows what each layer could be computed by, and at what cost",
     makeExplain},
    {"report", "Writes a page that shows a model as compiled, or compares two",
     makeReport},
    {"ops", "Lists the operators that models may use", makeOps},
    {"target-probe", "Measures caches and speed of a machine, for --probe",
     makeTargetProbe},
    {"targets", "Lists the machines that code can be made for", makeTargets},
    {"routines", "Lists the routines that layers are computed by",
     makeRoutines}};

constexpr const char *footer =
    "Exit codes: 0 done, 1 nnc's own fault, 2 usage, 3 the model is broken,\n"
    "4 the model needs what nnc lacks, 5 results differ, 6 a limit was "
    "passed,\n"
    "7 reading or writing failed.";

/// Formats the help of an option like "--threads N (1)", without the names of
/// the checks that a value must pass.
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

/// Finds all problems of a command line: arguments that cause a problem are
/// removed, and the rest is parsed again.
class Usage {
public:
  Usage(CLI::App &app, int argc, char **argv)
      : app(app), arguments(argv + 1, argv + argc) {}

  /// Parses the arguments until every problem is known, since CLI11 stops at
  /// the first one. Returns the exit code if no command is to be run.
  std::optional<ExitCode> parse();

private:
  std::optional<ExitCode> note(const CLI::ParseError &error);
  void noteMissing();
  void noteExtras();
  void dropOption(const std::string &name);
  void addProblem(const std::string &problem);
  /// Returns the command that the arguments name, or nnc itself if they name
  /// none.
  CLI::App &getCommand() const {
    std::vector<CLI::App *> chosen = app.get_subcommands();
    return chosen.empty() ? app : *chosen.front();
  }
  std::string getPath() const {
    CLI::App &command = getCommand();
    return &command == &app ? "nnc" : "nnc " + command.get_name();
  }

  CLI::App &app;
  std::vector<std::string> arguments;
  std::vector<std::string> problems;
  std::string help; ///< command whose --help explains more
};

void Usage::addProblem(const std::string &problem) {
  if (std::find(problems.begin(), problems.end(), problem) == problems.end())
    problems.push_back(problem);
}

/// Returns the names of all options, to suggest one of them.
std::vector<std::string> getFlags(CLI::App &command) {
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
                             didYouMean(flag, getFlags(command))));
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
    for (const Entry &entry : entries)
      names.push_back(entry.name);
    if (words.empty()) {
      writeError(app.help());
      addProblem("no command is given");
      return ExitCode::usage;
    }
    bool isFlag = words.front()[0] == '-';
    addProblem(
        isFlag ? fmt::format("there is no option '{}'{}", words.front(),
                             didYouMean(words.front(), getFlags(app)))
               : fmt::format("there is no command '{}'{}; choose one of {}",
                             words.front(), didYouMean(words.front(), names),
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
  dropOption(text.substr(0, text.find_first_of(": ")));
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

/// Prints the problems of a command that failed as a JSON document, if --json
/// is given.
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
  // This applies to a command line that cannot be parsed, too.
  if (std::find(argv + 1, argv + argc, std::string_view("--json")) !=
      argv + argc)
    keepProblemsForJson();
  if (auto code = Usage(app, argc, argv).parse())
    return int(finish(*code == ExitCode::done ? *code : printFailure(*code)));
  int code = supervise([&] {
    ExitCode code = chosen->run();
    return code == ExitCode::done ? code : printFailure(code);
  });
  // Only the supervising process knows of a crash; it has reported it already.
  if (hasCrashed())
    return int(finish(printFailure(ExitCode(code))));
  return code;
}
