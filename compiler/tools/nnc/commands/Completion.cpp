//===- Completion.cpp - nnc completion ------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Each script is a file of completion/ in which a comment is replaced by the
// tables that are printed here.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/nnc/commandline/CommandLine.h"
#include "compiler/tools/nnc/commands/CommandTable.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace nnc::tools {
namespace {

struct Script {
  llvm::StringLiteral name, text;
};

constexpr Script kScripts[] = {
#include "compiler/tools/nnc/commands/completion/Sources.inc"
};

constexpr llvm::StringLiteral kTablesPlace =
    "# tables of commands, options and values\n";

using Rows = llvm::ArrayRef<CommandRow>;

/// Returns `text` with a backslash before each of the characters in `special`.
std::string escape(llvm::StringRef text, llvm::StringRef special) {
  std::string escaped;
  for (char c : text) {
    if (special.contains(c))
      escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// Quotes text for bash and zsh.
std::string quote(llvm::StringRef text) {
  std::string quoted = "'";
  for (char c : text)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string quoteForFish(llvm::StringRef text) {
  return "'" + escape(text, "\\'") + "'";
}

std::vector<std::string> getNames(Rows rows) {
  std::vector<std::string> names;
  for (const CommandRow &row : rows)
    if (!row.name.empty())
      names.push_back(row.name);
  return names;
}

//===----------------------------------------------------------------------===//
// bash
//===----------------------------------------------------------------------===//

/// Returns the kinds of a value in the format that _nnc_reply of nnc.bash
/// reads.
std::string describeForBash(const ValueKind &kind) {
  std::vector<std::string> words;
  if (kind.isList)
    words.push_back("@list");
  if (kind.separator)
    words.push_back(std::string("@behind") + kind.separator);
  llvm::append_range(words, kind.words);
  if (kind.namesFolder)
    words.push_back("@folder");
  for (const std::string &extension : kind.extensions)
    words.push_back("@file" + extension);
  if (kind.namesCommand)
    words.push_back("@command");
  return words.empty() ? "@text" : llvm::join(words, " ");
}

std::string printForBash(Rows rows) {
  std::string text =
      fmt::format("_nnc_commands={}\n\n_nnc_options() {{\n  case $1 in\n",
                  quote(llvm::join(getNames(rows), " ")));
  // Options of several commands that take the same values share a line.
  llvm::MapVector<std::string, std::vector<std::string>,
                  std::map<std::string, unsigned>>
      places;
  for (const CommandRow &row : rows) {
    std::vector<std::string> options;
    size_t arguments = 0;
    for (const OptionRow &option : row.options) {
      for (const std::string &name : option.names) {
        std::string place =
            option.isArgument ? std::to_string(++arguments) : name;
        if (option.value)
          places[describeForBash(*option.value)].push_back(
              quote(row.name + " " + place));
        bool isLong = llvm::StringRef(name).starts_with("--");
        if (!option.isArgument)
          options.push_back(name + (isLong && option.value ? "=" : ""));
      }
    }
    text += fmt::format("    {}) echo {} ;;\n", quote(row.name),
                        quote(llvm::join(options, " ")));
  }
  text += "  esac\n}\n\n_nnc_values() {\n  case $1 in\n";
  for (const auto &[kinds, all] : places)
    text += fmt::format("    {})\n      echo {}\n      ;;\n",
                        fmt::join(all, " | \\\n      "), quote(kinds));
  return text + "  esac\n}\n";
}

//===----------------------------------------------------------------------===//
// zsh
//===----------------------------------------------------------------------===//

/// Returns the action of _arguments that completes a value.
std::string describeForZsh(const ValueKind &kind) {
  std::vector<std::string> extensions;
  for (const std::string &extension : kind.extensions)
    extensions.push_back(
        llvm::StringRef(extension).drop_front(extension.empty() ? 0 : 1).str());
  bool isAny = llvm::is_contained(extensions, "");
  // The pattern also matches upper case: MODEL.ONNX. A single name in brackets
  // would be parsed as flags of the pattern.
  std::string pattern =
      isAny ? "*"
      : extensions.size() == 1
          ? "(#i)*." + extensions.front()
          : fmt::format("(#i)*.({})", fmt::join(extensions, "|"));
  std::vector<std::string> parts, words, open;
  for (const std::string &word : kind.words)
    (word.back() == '=' || word.back() == ':' ? open : words)
        .push_back(escape(word, ":"));
  if (kind.isList)
    return fmt::format("_sequence compadd - {}", fmt::join(words, " "));
  if (kind.separator)
    return fmt::format("{{_nnc_behind \"{}{}\" \"{}\"}}",
                       kind.separator == ':' ? "\\" : "", kind.separator,
                       pattern);
  if (!extensions.empty())
    parts.push_back(isAny ? "_files"
                          : fmt::format("_files -g \"{}\"", pattern));
  else if (kind.namesFolder)
    parts.push_back("_files -/");
  if (kind.namesCommand)
    parts.push_back("_command_names -e");
  if (parts.empty() && open.empty())
    return words.empty() ? " " : fmt::format("({})", fmt::join(words, " "));
  if (!words.empty())
    parts.push_back(fmt::format("compadd - {}", fmt::join(words, " ")));
  if (!open.empty())
    parts.push_back(fmt::format("compadd -S \"\" - {}", fmt::join(open, " ")));
  return fmt::format("{{{}}}", fmt::join(parts, "; "));
}

std::string describeForZsh(const OptionRow &option) {
  std::string action = option.value ? describeForZsh(*option.value) : "";
  if (option.isArgument)
    return quote(fmt::format("{}:{}:{}", option.isRequired ? "" : ":",
                             escape(option.names.front(), "\\:"), action));
  std::string value;
  if (option.value)
    value = fmt::format(":{}:{}", escape(option.type, "\\:"), action);
  std::string help = "[" + escape(option.summarize(), "\\:[]") + "]";
  std::string names;
  for (const std::string &name : option.names) {
    bool isLong = llvm::StringRef(name).starts_with("--");
    names += (names.empty() ? "" : ",") + name +
             (option.value ? (isLong ? "=" : "+") : "");
  }
  if (option.names.size() > 1)
    names = "{" + names + "}";
  std::string others = fmt::format("({})", fmt::join(option.names, " "));
  if (llvm::is_contained(option.names, "--help") ||
      llvm::is_contained(option.names, "--version"))
    others = "(- *)";
  if (option.isRepeated)
    others = "*";
  return quote(others) + names + quote(help + value);
}

std::string printForZsh(Rows rows) {
  std::string text = "_nnc_commands() {\n  local -a commands=(\n";
  for (const CommandRow &row : rows)
    if (!row.name.empty())
      text += fmt::format("    {}\n",
                          quote(row.name + ":" + escape(row.summary, ":")));
  text += "  )\n  _describe -t commands command commands\n}\n\n"
          "_nnc_options() {\n  case $1 in\n";
  for (const CommandRow &row : rows) {
    text += fmt::format("    {})\n      _arguments -s{} -C", quote(row.name),
                        // After --, there are only positional arguments.
                        row.name.empty() ? "" : " -S");
    for (const OptionRow &option : row.options)
      text += " \\\n        " + describeForZsh(option);
    if (row.name.empty())
      // zsh restores the words after a function has changed them, unless this
      // is unset.
      text += " \\\n        '1: :_nnc_commands' '*:: :->arguments'\n"
              "      local found=$?\n      compstate[restore]=\n"
              "      return found";
    text += "\n      ;;\n";
  }
  return text + "  esac\n}\n";
}

//===----------------------------------------------------------------------===//
// fish
//===----------------------------------------------------------------------===//

/// Returns the options of fish's `complete` for a value.
std::string describeForFish(const ValueKind &kind) {
  std::vector<std::string> words = kind.words;
  if (kind.namesCommand)
    words.push_back("(__fish_complete_command)");
  bool isAny = llvm::is_contained(kind.extensions, "") || kind.separator;
  if (!isAny && (!kind.extensions.empty() || kind.namesFolder))
    words.push_back(fmt::format("(__nnc_files{}{})",
                                kind.extensions.empty() ? "" : " ",
                                fmt::join(kind.extensions, " ")));
  if (words.empty())
    return isAny ? " -r -F" : " -x";
  if (kind.isList)
    words = {fmt::format("(__nnc_list {})", fmt::join(kind.words, " "))};
  return fmt::format(" {} -a {}", isAny ? "-r -F" : "-x",
                     quoteForFish(llvm::join(words, " ")));
}

std::string printForFish(Rows rows) {
  std::vector<std::string> takers;
  std::string lines = "complete -c nnc -f\n";
  for (const CommandRow &row : rows)
    if (!row.name.empty())
      lines += fmt::format("complete -c nnc -n __nnc_in -a {} -d {}\n",
                           row.name, quoteForFish(row.summary));
  for (const CommandRow &row : rows) {
    std::string where = row.name.empty() ? "__nnc_in" : "__nnc_in " + row.name;
    size_t arguments = 0;
    for (const OptionRow &option : row.options) {
      std::string value = option.value ? describeForFish(*option.value) : "";
      if (option.isArgument) {
        lines += fmt::format("complete -c nnc -n '__nnc_at {} {}'{}\n",
                             row.name, arguments++, value);
        continue;
      }
      lines += fmt::format("complete -c nnc -n '{}'", where);
      for (const std::string &name : option.names) {
        bool isLong = llvm::StringRef(name).starts_with("--");
        lines += fmt::format(" -{} {}", isLong ? "l" : "s",
                             llvm::StringRef(name).ltrim('-').str());
        if (option.value && !llvm::is_contained(takers, name))
          takers.push_back(name);
      }
      lines +=
          fmt::format("{} -d {}\n", value, quoteForFish(option.summarize()));
    }
  }
  return fmt::format("set -g __nnc_commands {}\nset -g __nnc_with_value {}\n{}",
                     fmt::join(getNames(rows), " "), fmt::join(takers, " "),
                     lines);
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

struct Shell {
  const char *name;
  std::string (*print)(Rows rows);
};

constexpr Shell shells[] = {
    {"bash", printForBash}, {"zsh", printForZsh}, {"fish", printForFish}};

class Completion : public Command {
public:
  void addOptions(CLI::App &app) override {
    root = app.get_parent();
    std::vector<std::string> names;
    for (const Shell &shell : shells)
      names.push_back(shell.name);
    CLI::Option *option =
        app.add_option("SHELL", name, "The shell: " + llvm::join(names, ", "))
            ->required();
    setWords(*option, [names] { return names; });
    app.add_option("-o,--output", output, "File to write; - is stdout")
        ->type_name("FILE")
        ->capture_default_str();
  }

  ExitCode run() override {
    const Shell &shell = *llvm::find_if(
        shells, [&](const Shell &one) { return one.name == name; });
    const Script &script = *llvm::find_if(kScripts, [&](const Script &one) {
      return one.name.ends_with("." + name);
    });
    auto [head, rest] = script.text.split(kTablesPlace);
    std::string text =
        head.str() + shell.print(readCommandLine(*root)) + rest.str();
    if (llvm::Error error = replaceTextFile(output, text))
      return fail(std::move(error), ExitCode::usage);
    return ExitCode::done;
  }

private:
  const CLI::App *root = nullptr;
  std::string name, output = "-";
};

} // namespace

std::unique_ptr<Command> makeCompletion() {
  return std::make_unique<Completion>();
}

} // namespace nnc::tools
