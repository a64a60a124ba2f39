//===- Manual.cpp - nnc manual --------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Prints pages in the man macros of roff, or as text on a terminal.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/nnc/commandline/CommandLine.h"
#include "compiler/tools/nnc/commands/CommandTable.h"
#include "compiler/tools/nnc/commands/ManualText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace nnc::tools {
namespace {

/// Escapes text so that roff prints it literally.
std::string escapeForRoff(llvm::StringRef text) {
  std::string escaped;
  for (char c : text)
    switch (c) {
    case '\\':
      escaped += "\\e";
      break;
    case '-': // else it may become a hyphen, which cannot be copied
      escaped += "\\-";
      break;
    case '\'': // else it may become a quotation mark
      escaped += "\\(aq";
      break;
    case '^':
      escaped += "\\(ha";
      break;
    case '~':
      escaped += "\\(ti";
      break;
    case '`':
      escaped += "\\(ga";
      break;
    default:
      escaped += c;
    }
  // A line that begins with a dot would be a request.
  return llvm::StringRef(escaped).starts_with(".") ? "\\&" + escaped : escaped;
}

std::string bold(llvm::StringRef text) {
  return "\\fB" + escapeForRoff(text) + "\\fR";
}
std::string italic(llvm::StringRef text) {
  return "\\fI" + escapeForRoff(text) + "\\fR";
}

std::string pageOf(const CommandRow &command) {
  return command.name.empty() ? "nnc" : "nnc-" + command.name;
}

/// Returns the names of an option with its value: "-o DIR, --output=DIR".
std::string nameOption(const OptionRow &option) {
  std::vector<std::string> texts;
  for (const std::string &name : option.names) {
    std::string value;
    if (option.value && !option.isArgument)
      value = (llvm::StringRef(name).starts_with("--") ? "=" : " ") +
              italic(option.type);
    texts.push_back((option.isArgument ? italic(name) : bold(name)) + value);
  }
  return llvm::join(texts, ", ");
}

std::string printOptions(const CommandRow &command) {
  std::string text;
  for (const OptionRow &option : command.options) {
    text += ".TP\n" + nameOption(option) + "\n" + escapeForRoff(option.help) +
            ".\n";
    if (option.isRequired && !option.isArgument)
      text += "This option is required.\n";
    if (option.isRepeated)
      text += "May be given again.\n";
    if (!option.defaultValue.empty())
      text += "The default is " + bold(option.defaultValue) + ".\n";
  }
  return text;
}

/// Returns the synopsis of a command: its required options and its arguments.
std::string printSynopsis(const CommandRow &command) {
  std::string text = bold(command.call()) + " [" + italic("option") + " ...]";
  for (const OptionRow &option : command.options)
    if (option.isRequired && !option.isArgument)
      text += " " + bold(option.names.back()) + "=" + italic(option.type);
  for (const OptionRow &argument : command.getArguments())
    text += argument.isRequired ? " " + italic(argument.names.front())
                                : " [" + italic(argument.names.front()) + "]";
  return text + "\n";
}

std::string printExitCodes() {
  std::string text = ".SH EXIT STATUS\n";
  for (const auto &[code, says] : exitCodeTexts)
    text +=
        fmt::format(".TP\n\\fB{}\\fR\n{}.\n", int(code), escapeForRoff(says));
  return text;
}

std::string printEntry(const CommandEntry &entry) {
  std::string text;
  for (const Example &example : entry.examples)
    if (example.line)
      text += (text.empty() ? ".SH EXAMPLES\n" : "") +
              fmt::format(".TP\n{}\n{}\n", bold(example.line),
                          escapeForRoff(example.does));
  return text;
}

constexpr const char *environment =
    ".SH ENVIRONMENT\n"
    ".TP\n\\fBCXX\\fR\n"
    "The compiler that builds code for this machine, unless "
    "\\fB\\-\\-compiler\\fR "
    "is given.\n"
    ".TP\n\\fBNO_COLOR\\fR\n"
    "Nothing is coloured if this is set, unless "
    "\\fB\\-\\-color=always\\fR is given.\n"
    ".TP\n\\fBTERM\\fR\n"
    "Nothing is coloured and no progress is shown on a terminal if this is "
    "\\fIdumb\\fR or not set, unless \\fB\\-\\-color=always\\fR asks for "
    "colours.\n"
    ".TP\n\\fBTMPDIR\\fR\n"
    "The folder for code and programs that are built to be run once.\n"
    ".TP\n\\fBXDG_CACHE_HOME\\fR\n"
    "The folder in which \\fBnnc tune\\fR keeps measurements, and commands "
    "that run a model keep objects of the program around it, in "
    "\\fInnc\\fR.\n";

std::string printPage(const CommandRow &command,
                      llvm::ArrayRef<CommandRow> all) {
  std::string name = pageOf(command);
  std::string summary = command.summary;
  if (llvm::StringRef(summary).starts_with("nnc "))
    summary.erase(0, 4);
  summary.front() = llvm::toLower(summary.front());
  if (llvm::StringRef(summary).ends_with("."))
    summary.pop_back();
  std::string text = fmt::format(
      ".\\\" Written by nnc manual.\n.TH {} 1 \"{}\" \"nnc {}\" \"nnc\"\n"
      ".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
      escapeForRoff(llvm::StringRef(name).upper()), NNC_DATE, NNC_VERSION,
      escapeForRoff(name), escapeForRoff(summary));
  const CommandEntry *entry = findCommand(command.name);
  if (!entry)
    text += bold("nnc") + " " + italic("command") + " [" + italic("option") +
            " ...] [" + italic("argument") + " ...]\n";
  else
    text += printSynopsis(command) + ".SH DESCRIPTION\n" +
            escapeForRoff(entry->description) + "\n";
  if (!entry) {
    text +=
        ".SH DESCRIPTION\nThe code that nnc writes builds with any compiler "
        "of C++17. Each command has a page of its own.\n.SH COMMANDS\n";
    for (const CommandRow &one : all)
      if (!one.name.empty())
        text += ".TP\n" + bold(pageOf(one)) + "(1)\n" +
                escapeForRoff(one.summary) + ".\n";
  }
  text += ".SH OPTIONS\n" + printOptions(command) + printExitCodes();
  if (!entry)
    text += environment;
  else
    text += printEntry(*entry);
  text += ".SH SEE ALSO\n";
  std::vector<std::string> others;
  for (const CommandRow &one : all)
    if (one.name != command.name && (!entry || one.name.empty()))
      others.push_back(bold(pageOf(one)) + "(1)");
  return text + llvm::join(others, ",\n") + "\n";
}

class Manual : public Command {
public:
  void addOptions(CLI::App &app) override {
    root = app.get_parent();
    setWords(*app.add_option("COMMAND", name,
                             "The command; without one, the page of nnc"),
             [] {
               std::vector<std::string> names;
               for (const CommandEntry &entry : getCommands())
                 names.push_back(entry.name);
               return names;
             });
    app.add_option("--output-dir", folder,
                   "Write the pages of nnc and of all commands into this "
                   "folder, nnc.1, nnc-compile.1 and so on")
        ->type_name("DIR");
  }

  ExitCode run() override {
    std::vector<CommandRow> all = readCommandLine(*root);
    if (folder.empty()) {
      std::string page = printPage(
          *llvm::find_if(
              all, [&](const CommandRow &one) { return one.name == name; }),
          all);
      std::optional<size_t> columns = getColumnsOfStdout();
      writeOut(columns ? renderManual(page, std::min<size_t>(*columns, 100))
                       : page);
      return ExitCode::done;
    }
    if (!name.empty())
      return fail(makeError("--output-dir is for the pages of all commands; "
                            "leave out " +
                            name),
                  ExitCode::usage);
    if (std::error_code code = llvm::sys::fs::create_directories(folder))
      return fail(makeError(folder + ": " + code.message()), ExitCode::usage);
    for (const CommandRow &one : all)
      if (llvm::Error error = replaceTextFile(folder + "/" + pageOf(one) + ".1",
                                              printPage(one, all)))
        return fail(std::move(error), ExitCode::usage);
    return ExitCode::done;
  }

private:
  const CLI::App *root = nullptr;
  std::string name, folder;
};

} // namespace

std::unique_ptr<Command> makeManual() { return std::make_unique<Manual>(); }

} // namespace nnc::tools
