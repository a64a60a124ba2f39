//===- OptionForms.h - Common forms of options ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_OPTIONS_OPTIONFORMS_H
#define NNC_COMPILER_TOOLS_NNC_OPTIONS_OPTIONFORMS_H

#include "compiler/tools/nnc/commandline/OptionValue.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nnc::tools {

/// Adds an option whose value is one of several words.
template <class T>
CLI::Option *addChoice(CLI::App &app, const char *flag, T &value,
                       const std::vector<std::pair<std::string, T>> &choices,
                       const char *help) {
  std::vector<std::string> words;
  for (const auto &[word, meaning] : choices)
    words.push_back(word);
  CLI::Option *option =
      app.add_option_function<std::string>(
             flag,
             [&value, choices](const std::string &given) {
               for (const auto &[word, meaning] : choices)
                 if (word == given)
                   value = meaning;
             },
             help)
          ->type_name(fmt::format("{}", fmt::join(words, "|")));
  setWords(*option, [words] { return words; });
  return option;
}

/// Adds an option that limits the bytes of a kind of memory.
void addLimit(CLI::App &app, const char *name, std::optional<int64_t> &limit,
              const char *help);

/// Adds an option that may be given several times. `clear` discards the values
/// so far, because a command line with problems is parsed several times.
/// `parse` takes one argument and returns a description of what is wrong with
/// it, or an empty string. All problems are reported together.
void addRepeatedOption(CLI::App &app, const std::string &name,
                       const std::string &type, std::function<void()> clear,
                       std::function<std::string(const std::string &)> parse,
                       const std::string &help);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_OPTIONS_OPTIONFORMS_H
