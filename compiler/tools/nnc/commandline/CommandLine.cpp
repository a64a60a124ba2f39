//===- CommandLine.cpp - Commands and options as data ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/commandline/CommandLine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <CLI/CLI.hpp>

namespace nnc::tools {

std::string OptionRow::summarize() const {
  llvm::StringRef text(help);
  for (const char *end : {". ", "; ", ": ", " ("})
    text = text.take_front(text.find(end));
  return text.str();
}

std::vector<OptionRow> CommandRow::getArguments() const {
  std::vector<OptionRow> arguments;
  llvm::copy_if(options, std::back_inserter(arguments),
                [](const OptionRow &row) { return row.isArgument; });
  return arguments;
}

static OptionRow readOption(const CLI::Option &option) {
  OptionRow row;
  row.isArgument = option.get_positional();
  if (row.isArgument)
    row.names = {option.get_name(/*positional=*/true)};
  for (const std::string &name : option.get_snames())
    row.names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    row.names.push_back("--" + name);
  row.help = option.get_description();
  row.isRequired = option.get_required();
  if (option.get_items_expected_max() == 0) // a flag
    return row;
  row.type = getTypeName(option);
  row.defaultValue = option.get_default_str();
  row.value = getValueKind(option);
  row.isRepeated = !row.value->isList && option.get_expected_max() > 1;
  return row;
}

static CommandRow readCommand(const CLI::App &app) {
  CommandRow row{app.get_name(), app.get_description(), {}};
  for (const CLI::Option *option : app.get_options(
           [](const CLI::Option *one) { return !one->get_group().empty(); }))
    row.options.push_back(readOption(*option));
  return row;
}

std::vector<CommandRow> readCommandLine(const CLI::App &app) {
  std::vector<CommandRow> rows = {readCommand(app)};
  rows.front().name = "";
  for (const CLI::App *command :
       app.get_subcommands([](const CLI::App *) { return true; }))
    rows.push_back(readCommand(*command));
  return rows;
}

} // namespace nnc::tools
