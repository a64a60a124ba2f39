//===- Ops.cpp - nnc ops --------------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/nnc/commandline/OptionValue.h"
#include "compiler/tools/nnc/commands/Command.h"
#include "compiler/tools/nnc/options/Options.h"

#include "frontends/Registry.h"
#include "frontends/common/Suggest.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace json = llvm::json;

namespace nnc::tools {
namespace {

class Ops : public Command {
public:
  void addOptions(CLI::App &app) override {
    std::vector<std::string> names;
    for (const frontends::Frontend *frontend : frontends::getFrontends())
      if (!frontend->getOps().empty())
        names.push_back(frontend->name.lower());
    std::string type = llvm::join(names, "|");
    CLI::Option *option =
        app.add_option("--frontend", only,
                       "List the operators of this format only")
            ->type_name(type);
    setWords(
        *option, [names] { return names; },
        [names](const std::string &given) -> std::string {
          for (llvm::StringRef name : names)
            if (name.equals_insensitive(given))
              return "";
          return fmt::format("there is no format '{}'; choose one of {}{}",
                             given, fmt::join(names, ", "),
                             frontends::didYouMean(given, names));
        });
    addJsonOption(app, json);
  }

  ExitCode run() override {
    if (json) {
      json::Array array;
      for (const frontends::Frontend *frontend : getChosen())
        for (const frontends::OpRow &op : frontend->getOps())
          array.push_back(json::Object{{"frontend", frontend->name},
                                       {"name", op.name},
                                       {"first_opset", op.first},
                                       {"last_opset", op.last},
                                       {"limits", op.limits}});
      printJson(std::move(array));
      return ExitCode::done;
    }
    for (const frontends::Frontend *frontend : getChosen())
      print(*frontend);
    return ExitCode::done;
  }

private:
  /// Returns the frontend that the user names, or else all frontends with
  /// operators.
  std::vector<const frontends::Frontend *> getChosen() const {
    std::vector<const frontends::Frontend *> chosen;
    for (const frontends::Frontend *frontend : frontends::getFrontends())
      if (!frontend->getOps().empty() &&
          (only.empty() ||
           llvm::StringRef(only).equals_insensitive(frontend->name)))
        chosen.push_back(frontend);
    return chosen;
  }

  static void print(const frontends::Frontend &frontend) {
    std::vector<frontends::OpRow> ops = frontend.getOps();
    Table table({"operator", "opsets", "limits"});
    for (const frontends::OpRow &op : ops)
      table.add({op.name,
                 op.last ? fmt::format("{} to {}", op.first, op.last) : "all",
                 op.limits});
    table.print();
    printOut("\n{} {}.\n", ops.size(), frontend.opsNote.str());
  }

  std::string only;
  bool json = false;
};

} // namespace

std::unique_ptr<Command> makeOps() { return std::make_unique<Ops>(); }

} // namespace nnc::tools
