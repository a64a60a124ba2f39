//===- OptionForms.cpp - Common forms of options --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/options/OptionForms.h"

#include "compiler/tools/driver/system/Files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nnc::tools {

void addRepeatedOption(CLI::App &app, const std::string &name,
                       const std::string &type, std::function<void()> clear,
                       std::function<std::string(const std::string &)> parse,
                       const std::string &help) {
  app.add_option_function<std::vector<std::string>>(
         name,
         [=](const std::vector<std::string> &arguments) {
           std::vector<std::string> problems;
           clear();
           for (const std::string &argument : arguments)
             if (std::string problem = parse(argument); !problem.empty())
               problems.push_back(problem);
           if (!problems.empty())
             throw CLI::ValidationError(
                 name, fmt::format("{}", fmt::join(problems, "; ")));
         },
         help)
      ->allow_extra_args(false)
      ->type_name(type);
}

void addLimit(CLI::App &app, const char *name, std::optional<int64_t> &limit,
              const char *help) {
  app.add_option_function<std::string>(
         name,
         [&limit](const std::string &given) { limit = parseBytes(given); },
         help)
      ->check([](const std::string &given) -> std::string {
        return parseBytes(given) ? ""
                                 : given + " is no number of bytes such as "
                                           "65536, 64K or 1M";
      })
      ->type_name("BYTES");
}

} // namespace nnc::tools
