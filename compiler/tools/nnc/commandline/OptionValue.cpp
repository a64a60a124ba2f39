//===- OptionValue.cpp - Possible values of options -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/commandline/OptionValue.h"
#include "frontends/common/Suggest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nnc::tools {
namespace {

constexpr const char *wordsName = "words";

/// A check whose description is the list of allowed words. CLI11 asks for
/// descriptions only when it prints the help, and copies the functions of a
/// check with it.
class WordsCheck : public CLI::Validator {
public:
  WordsCheck(std::function<std::vector<std::string>()> words,
             std::function<std::string(const std::string &)> findProblem) {
    desc_function_ = [words] {
      return fmt::format("{}", fmt::join(words(), "|"));
    };
    func_ = [words, findProblem](std::string &given) -> std::string {
      if (findProblem)
        return findProblem(given);
      std::vector<std::string> all = words();
      if (llvm::is_contained(all, given))
        return "";
      return fmt::format("{} not in {{{}}}{}", given, fmt::join(all, ","),
                         frontends::didYouMean(given, all));
    };
  }
};

/// Calls `visit` with each check of an option.
void forEachCheck(const CLI::Option &option,
                  llvm::function_ref<void(const CLI::Validator &)> visit) {
  // CLI11 returns checks only from an option that is not const, and throws
  // after the last one.
  auto &changeable = const_cast<CLI::Option &>(option);
  try {
    for (int i = 0;; ++i)
      visit(*changeable.get_validator(i));
  } catch (const CLI::OptionNotFound &) {
  }
}

/// Returns the part of an alternative that is typed literally.
llvm::StringRef takeWord(llvm::StringRef text) {
  return text.take_until([](char c) { return llvm::isAlpha(c) && c < 'a'; });
}

} // namespace

ValueKind ValueKind::parse(const std::string &type) {
  ValueKind kind;
  llvm::StringRef all(type);
  llvm::StringRef head =
      all.take_while([](char c) { return c >= 'A' && c <= 'Z'; });
  llvm::StringRef behind = all.drop_front(head.size()).take_front();
  if (!head.empty() && (behind == "=" || behind == ":") && all.contains("FILE"))
    kind.separator = behind.front();
  for (llvm::StringRef part : llvm::split(all, '|')) {
    size_t file = part.find("FILE");
    if (file != llvm::StringRef::npos)
      kind.extensions.push_back(part.drop_front(file + 4)
                                    .take_until([](char c) { return c == '['; })
                                    .str());
    else if (part == "DIR")
      kind.namesFolder = true;
    else if (part == "CXX" || part == "COMMAND")
      kind.namesCommand = true;
    else if (llvm::StringRef word = takeWord(part);
             !word.empty() && llvm::isAlnum(word.front()))
      kind.words.push_back(word.str());
  }
  // The type file|nodes=N means file=N|nodes=N.
  if (!kind.words.empty() && kind.words.back().back() == '=')
    for (std::string &word : kind.words)
      if (word.back() != '=')
        word += '=';
  return kind;
}

void setWords(CLI::Option &option,
              std::function<std::vector<std::string>()> words,
              std::function<std::string(const std::string &)> findProblem) {
  option.check(WordsCheck(std::move(words), std::move(findProblem)), wordsName);
}

std::string getTypeName(const CLI::Option &option) {
  std::string type = option.get_type_name();
  size_t added = 0;
  forEachCheck(option, [&](const CLI::Validator &check) {
    if (std::string text = check.get_description(); !text.empty())
      added += text.size() + 1;
  });
  return type.substr(0, type.size() - added);
}

ValueKind getValueKind(const CLI::Option &option) {
  ValueKind kind = ValueKind::parse(getTypeName(option));
  forEachCheck(option, [&](const CLI::Validator &check) {
    if (check.get_name() != wordsName)
      return;
    std::string words = check.get_description();
    kind.words.clear();
    for (llvm::StringRef word : llvm::split(words, '|'))
      kind.words.push_back(word.str());
  });
  kind.isList = option.get_delimiter() == ',';
  return kind;
}

std::vector<std::string> findProblems(const CLI::Option &option) {
  std::vector<std::string> problems;
  for (std::string value : option.results())
    forEachCheck(option, [&](const CLI::Validator &check) {
      if (std::string problem = check(value); !problem.empty())
        problems.push_back(problem);
    });
  return problems;
}

std::function<std::string(const std::string &)> numberFrom(double low,
                                                           double high) {
  return [low, high](const std::string &given) -> std::string {
    double value;
    bool isInside =
        llvm::to_float(given, value) && value >= low && value <= high;
    return isInside
               ? ""
               : fmt::format("{} is no number from {} to {}", given, low, high);
  };
}

} // namespace nnc::tools
