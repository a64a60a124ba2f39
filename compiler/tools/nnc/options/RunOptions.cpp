//===- RunOptions.cpp - Options for threads, compilers and output ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/options/OptionForms.h"
#include "compiler/tools/nnc/options/Options.h"

#include "llvm/ADT/StringExtras.h"

#include <CLI/CLI.hpp>

namespace nnc::tools {

static std::optional<int> parseThreads(llvm::StringRef text) {
  int count;
  if (!llvm::to_integer(text, count, 10) || count < 1 || count > 256)
    return std::nullopt;
  return count;
}

void addThreadsOption(CLI::App &app, ModelOptions &options) {
  app.add_option_function<std::string>(
         "--threads",
         [&options](const std::string &value) {
           if (value == "on")
             options.threads = ModelOptions::anyThreads;
           else
             options.runOn(parseThreads(value).value_or(1));
         },
         "Whether the code can run on several threads; with a number, on so "
         "many, and its arena has no room for more")
      ->check([](const std::string &value) -> std::string {
        if (value == "on" || value == "off" || parseThreads(value))
          return "";
        return value + " is not on, off or a number from 1 to 256";
      })
      ->type_name("on|off|N")
      ->default_str("off");
}

void addThreadCountOption(CLI::App &app, int &threads) {
  app.add_option("--threads", threads, "Number of threads to run on")
      ->type_name("N")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

void addCompilerOption(CLI::App &app, std::string &compiler) {
  app.add_option("--compiler", compiler,
                 "C++ compiler to build with, and flags for it if there are "
                 "spaces; the target's unless given (for this machine $CXX, "
                 "else c++). Modules are built at -O3 unless a flag says "
                 "otherwise")
      ->type_name("CXX");
}

void addEmulateOption(CLI::App &app, bool &emulate) {
  app.add_flag("--emulate", emulate,
               "Let the CPU emulate the GPU of the target: slow, and the same "
               "source, compiled by a C++ compiler");
}

void addPlaceOption(CLI::App &app, std::string &on) {
  app.add_option("--on", on,
                 "Another machine to measure on: one that ssh reaches, or a "
                 "command that is given a program and its arguments")
      ->type_name("ssh:HOST|COMMAND");
}

void addJsonOption(CLI::App &app, bool &json) {
  app.add_flag("--json", json, "Print the result as JSON");
}

void addMannerOptions(CLI::App &app, Manner &manner) {
  const char *group = "Printing";
  app.add_flag("-q,--quiet", manner.quiet,
               "Print errors alone, and what is asked for: no warnings, and no "
               "summary of what the command has done")
      ->group(group);
  app.add_flag("-v,--verbose", manner.verbose,
               "Print on stderr, too, how long each step takes and what it "
               "makes")
      ->group(group);
  static const std::vector<std::pair<std::string, Manner::Colours>> choices = {
      {"auto", Manner::automatic},
      {"always", Manner::always},
      {"never", Manner::never}};
  addChoice(app, "--color", manner.colours, choices,
            "Whether what is printed has colours: on a terminal, unless "
            "NO_COLOR is set (auto), always or never")
      ->default_str("auto")
      ->group(group);
}

} // namespace nnc::tools
