//===- LimitOption.cpp - --limit, for models from anywhere ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/Supervise.h"
#include "compiler/tools/nnc/options/OptionForms.h"
#include "compiler/tools/nnc/options/Options.h"
#include "frontends/common/Suggest.h"

#include "llvm/ADT/StringExtras.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nnc::tools {

namespace {
/// A quantity that --limit can limit.
struct LimitKind {
  const char *name;
  bool isBytes; ///< whether the value is in bytes, rather than a count or
                ///< seconds
  void (*set)(ModelOptions &options, int64_t value);
};
} // namespace

static constexpr LimitKind kinds[] = {
    {"file", true, [](ModelOptions &o, int64_t v) { o.limits.file = v; }},
    {"nodes", false, [](ModelOptions &o, int64_t v) { o.limits.nodes = v; }},
    {"depth", false, [](ModelOptions &o, int64_t v) { o.limits.depth = v; }},
    {"tensor", true, [](ModelOptions &o, int64_t v) { o.limits.tensor = v; }},
    {"constant", true,
     [](ModelOptions &o, int64_t v) { o.limits.constant = v; }},
    {"memory", true, [](ModelOptions &, int64_t v) { limitMemory(v); }},
    {"time", false, [](ModelOptions &, int64_t v) { limitTime(v); }}};

/// Parses a text such as "nodes=5000" and sets that limit. Returns what is
/// wrong with the text, or an empty string.
static std::string parseLimit(llvm::StringRef text, ModelOptions &options) {
  auto [name, number] = text.split('=');
  std::vector<std::string> names;
  for (const LimitKind &kind : kinds) {
    names.push_back(kind.name);
    if (name != kind.name)
      continue;
    if (name == "time")
      number.consume_back("s");
    std::optional<int64_t> value;
    if (kind.isBytes)
      value = parseBytes(number);
    else if (int64_t count; llvm::to_integer(number, count, 10))
      value = count;
    if (!value || *value < 1)
      return fmt::format("'{}' is not of the form {}={}", text.str(), kind.name,
                         kind.isBytes     ? "BYTES, such as 64M or 2G"
                         : name == "time" ? "SECONDS, such as 30s"
                                          : "N");
    kind.set(options, *value);
    return "";
  }
  return fmt::format("'{}' limits none of {}{}", text.str(),
                     fmt::join(names, ", "),
                     frontends::didYouMean(name.str(), names));
}

void addLimitOption(CLI::App &app, ModelOptions &options) {
  frontends::Limits usual;
  addRepeatedOption(
      app, "--limit", "file|nodes|depth|tensor|constant|memory|time=N",
      [&options] { options.limits = {}; },
      [&options](const std::string &argument) {
        return parseLimit(argument, options);
      },
      fmt::format(
          "For models from anywhere: the most bytes of the model's file, "
          "nodes of it with all calls and loops expanded ({}), functions "
          "and subgraphs within one another ({}), bytes of a tensor ({}G) "
          "and of a constant that the model only describes ({}M), bytes of "
          "memory of nnc and of each program that it starts, and "
          "seconds of the whole command",
          usual.nodes, usual.depth, usual.tensor >> 30, usual.constant >> 20));
}

} // namespace nnc::tools
