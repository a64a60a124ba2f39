//===- Routines.cpp - nnc routines ----------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Catalogue.h"
#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/nnc/commandline/OptionValue.h"
#include "compiler/tools/nnc/commands/Command.h"
#include "compiler/tools/nnc/options/Options.h"
#include "frontends/common/Suggest.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace json = llvm::json;

namespace nnc::tools {
namespace {

std::vector<std::string> words(llvm::ArrayRef<llvm::StringRef> list) {
  return {list.begin(), list.end()};
}

std::vector<std::string> getFamilyNames() {
  std::vector<std::string> names;
  for (const Family &one : getFamilies())
    names.push_back(one.name.str());
  return names;
}

/// Returns an error message if there is no such family, or else an empty
/// string.
std::string findFamilyProblem(const std::string &given) {
  if (findFamily(given))
    return "";
  std::vector<std::string> names = getFamilyNames();
  return fmt::format("there is no family '{}'; choose one of {}{}", given,
                     fmt::join(names, ", "),
                     frontends::didYouMean(given, names));
}

class Routines : public Command {
public:
  void addOptions(CLI::App &app) override {
    CLI::Option *option =
        app.add_option("--family", family, "Only the routines of this family")
            ->type_name("NAME");
    setWords(*option, getFamilyNames, findFamilyProblem);
    addJsonOption(app, json);
  }

  ExitCode run() override {
    const Catalogue &catalogue = Catalogue::get();
    std::vector<const Routine *> chosen;
    for (const Routine &routine : catalogue.getRoutines())
      if (family.empty() || routine.family->name == family)
        chosen.push_back(&routine);
    if (json)
      printAsJson(chosen);
    else
      print(chosen);
    return ExitCode::done;
  }

private:
  /// Returns the layouts of operands and result, for instance "NCHW16c,
  /// KCRS16c16k -> NCHW16c".
  static std::string layouts(const Routine &routine) {
    std::vector<std::string> all = words(routine.layouts);
    if (all.empty())
      return "";
    std::string out = all.back();
    all.pop_back();
    return fmt::format("{} -> {}", fmt::join(all, ", "), out);
  }

  static void print(const std::vector<const Routine *> &chosen) {
    Table table({"family", "routine", "isa", "layouts", "parameters"});
    for (const Routine *routine : chosen) {
      std::string params;
      if (!routine->params.empty())
        params = fmt::format("{} ({} choices)",
                             fmt::join(words(routine->params), ", "),
                             routine->candidates.size());
      table.add({routine->family->name.str(), routine->name.str(),
                 routine->isa.str(), layouts(*routine), params});
    }
    table.print();
  }

  static void printAsJson(const std::vector<const Routine *> &chosen) {
    json::Array array;
    for (const Routine *routine : chosen) {
      json::Array candidates;
      for (const auto &candidate : routine->candidates)
        candidates.push_back(json::Array(candidate));
      array.push_back(json::Object{{"family", routine->family->name},
                                   {"name", routine->name},
                                   {"header", routine->header},
                                   {"isa", routine->isa},
                                   {"layouts", words(routine->layouts)},
                                   {"params", words(routine->params)},
                                   {"candidates", std::move(candidates)}});
    }
    printJson(std::move(array));
  }

  std::string family;
  bool json = false;
};

} // namespace

std::unique_ptr<Command> makeRoutines() { return std::make_unique<Routines>(); }

} // namespace nnc::tools
