//===- Custom.cpp - Custom functions for missing operators ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/options/Custom.h"

#include "compiler/tools/driver/options/Builtin.h"
#include "compiler/tools/driver/system/Files.h"
#include "dialects/exec/Identifiers.h"
#include "dialects/nn/custom/Custom.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>

namespace path = llvm::sys::path;

namespace nnc::tools {

std::optional<int64_t> parseBytes(llvm::StringRef text) {
  int64_t unit = text.consume_back("K")   ? 1 << 10
                 : text.consume_back("M") ? 1 << 20
                 : text.consume_back("G") ? 1 << 30
                                          : 1;
  int64_t count;
  if (!llvm::to_integer(text, count, 10) || count < 0 ||
      count > std::numeric_limits<int64_t>::max() / unit)
    return std::nullopt;
  return count * unit;
}

static bool isWordCharacter(char c) { return llvm::isAlnum(c) || c == '_'; }

/// Returns true if `name` occurs in the text as a whole word.
static bool mentions(llvm::StringRef text, llvm::StringRef name) {
  for (size_t at = text.find(name); at != llvm::StringRef::npos;
       at = text.find(name, at + 1)) {
    bool begins = at == 0 || !isWordCharacter(text[at - 1]);
    size_t end = at + name.size();
    if (begins && (end == text.size() || !isWordCharacter(text[end])))
      return true;
  }
  return false;
}

/// Returns the file names that the text includes in quotes.
static std::vector<std::string> findIncludes(llvm::StringRef text) {
  std::vector<std::string> names;
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    line = line.ltrim();
    if (!line.consume_front("#"))
      continue;
    line = line.ltrim();
    if (line.consume_front("include") && line.ltrim().starts_with("\""))
      names.push_back(line.ltrim().drop_front().split('"').first.str());
  }
  return names;
}

/// Reads a file that the emitted folder needs, and the files beside it that it
/// includes. Files that do not exist are left for the user's build to find.
void CustomFunctions::addFile(llvm::StringRef from,
                              std::vector<std::string> &problems) {
  std::string name = path::filename(from).str();
  auto [known, isNew] = paths.try_emplace(name, from.str());
  if (!isNew) {
    if (!llvm::sys::fs::equivalent(known->second, from))
      problems.push_back(fmt::format(
          "{} and {} have the same name; the emitted folder holds both, so "
          "rename one",
          known->second, from.str()));
    return;
  }
  llvm::Expected<std::string> text = readTextFile(from.str());
  if (!text) {
    problems.push_back(llvm::toString(text.takeError()));
    return;
  }
  files[name] = *text;
  for (const std::string &include : findIncludes(*text)) {
    // The emitted folder has this file already.
    if (include == "nnc_custom.h")
      continue;
    llvm::SmallString<128> beside(path::parent_path(from));
    path::append(beside, include);
    if (!llvm::sys::fs::is_regular_file(beside))
      continue;
    if (path::filename(include) == include)
      addFile(beside, problems);
    else
      problems.push_back(fmt::format(
          "{} includes \"{}\" from another folder; files that it includes are "
          "copied from beside it only, so put the file there",
          from.str(), include));
  }
}

std::vector<std::string> CustomFunctions::add(llvm::StringRef argument) {
  std::vector<std::string> problems;
  llvm::StringRef rest = argument;
  frontends::CustomFunction function;
  // Options follow the file name. They are read from the last to the first.
  for (;;) {
    auto [before, option] = rest.rsplit(':');
    auto [key, value] = option.split('=');
    if (option.size() == rest.size() || !option.contains('=') ||
        (key != "function" && key != "scratch"))
      break;
    if (key == "function") {
      function.name = value.str();
      if (!exec::isFunctionName(value))
        problems.push_back(
            fmt::format("'{}' is no name of a C function", value.str()));
    } else if (auto bytes = parseBytes(value); bytes && *bytes < INT32_MAX) {
      function.scratch = *bytes;
    } else {
      problems.push_back(
          fmt::format("scratch='{}' is no number of bytes such as 1024 or 4K",
                      value.str()));
    }
    rest = before;
  }
  auto [op, file] = rest.rsplit(':');
  if (op.empty() || file.empty() || rest.size() == op.size()) {
    problems.push_back(
        fmt::format("'{}' is not of the form "
                    "OPERATOR:FILE.h[:function=NAME][:scratch=BYTES]",
                    argument.str()));
    return problems;
  }
  function.op = op.str();
  function.header = path::filename(file).str();
  for (const frontends::CustomFunction &other : functions)
    if (other.op == function.op)
      problems.push_back(
          fmt::format("two functions for operator '{}'", function.op));
  llvm::StringRef stem = path::stem(file);
  bool isNamed = !function.name.empty();
  if (!isNamed)
    function.name = stem.str();
  if (!isNamed && !exec::isFunctionName(stem))
    problems.push_back(
        fmt::format("'{}', which {} is called, is no name of a C "
                    "function; add :function=NAME",
                    stem.str(), file.str()));
  bool isHeader = path::extension(file) == ".h" &&
                  llvm::all_of(function.header, [](char c) {
                    return llvm::isPrint(c) && c != '"' && c != '\\';
                  });
  if (!isHeader)
    problems.push_back(
        fmt::format("'{}' is no C header: give a file whose name "
                    "ends in .h",
                    file.str()));
  else if (!llvm::sys::fs::is_regular_file(file))
    problems.push_back(fmt::format("{}: {}", file.str(),
                                   llvm::sys::fs::exists(file)
                                       ? "is not a file"
                                       : "there is no such file"));
  else
    addFile(file, problems);
  if (auto text = files.find(function.header);
      text != files.end() && exec::isFunctionName(function.name) &&
      !mentions(text->second, function.name))
    problems.push_back(fmt::format(
        "{} does not declare '{}'; add :function=NAME with the name of the "
        "function",
        file.str(), function.name));
  functions.push_back(std::move(function));
  return problems;
}

std::vector<std::string>
CustomFunctions::findClashes(llvm::StringRef name) const {
  std::vector<std::string> problems;
  for (const auto &[file, from] : paths) {
    bool isOurs = llvm::is_contained(
        {name.str() + ".h", name.str() + "_runtime.h",
         name.str() + "_metadata.h", std::string("nnc_custom.h"),
         std::string("nnc_runtime.h"), std::string("pool.h")},
        file);
    isOurs |= isBuiltinHeader(file);
    bool hides = llvm::StringRef(exec::findModuleNameProblem(path::stem(file)))
                     .contains("would hide");
    if (isOurs || hides)
      problems.push_back(fmt::format("{} has the name of {}; rename it", from,
                                     isOurs ? "a file that nnc writes"
                                            : "a header of the C library"));
  }
  return problems;
}

void CustomFunctions::storeIn(mlir::ModuleOp module) const {
  mlir::Builder builder(module.getContext());
  std::vector<mlir::NamedAttribute> texts;
  for (const auto &[name, text] : files)
    texts.push_back(builder.getNamedAttr(name, builder.getStringAttr(text)));
  if (!texts.empty())
    module->setAttr(nn::kCustomFilesAttr, builder.getDictionaryAttr(texts));
}

} // namespace nnc::tools
