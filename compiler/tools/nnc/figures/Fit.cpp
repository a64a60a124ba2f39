//===- Fit.cpp - Whether a module fits into a chip ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/figures/Fit.h"

#include "compiler/tools/driver/console/Diagnostics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace json = llvm::json;

namespace nnc::tools {

int64_t sumBytes(const std::vector<Port> &ports) {
  int64_t sum = 0;
  for (const Port &port : ports)
    if (!port.arenaOffset)
      sum += port.bytes();
  return sum;
}

int64_t MemoryNeed::getSum() const {
  int64_t sum = 0;
  for (const Part &part : parts)
    sum += part.bytes;
  return sum;
}

int64_t MemoryNeed::getLeft() const {
  return limit.value_or(INT64_MAX) - getSum();
}

std::string MemoryNeed::listParts() const {
  std::vector<std::string> words;
  for (const Part &part : parts)
    words.push_back(fmt::format("{} {}", part.bytes, part.what));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string MemoryNeed::describe() const {
  std::string text = fmt::format("{} bytes: {}", getSum(), listParts());
  if (!limit)
    return text + (unknown.empty() ? "" : "; without " + unknown);
  if (!fits())
    return text + fmt::format("; does not fit, {} too many for the {} of {}",
                              -getLeft(), *limit, option);
  return text +
         fmt::format("; fits into the {} of {}, {} are left{}", *limit, option,
                     getLeft(),
                     unknown.empty()
                         ? ""
                         : fmt::format(" for {}, which is not known", unknown));
}

void MemoryNeed::reportExcess(const std::string &model, const std::string &hint,
                              const std::string &more) const {
  tools::report({Problem::error,
                 model,
                 "",
                 "",
                 fmt::format("needs {} bytes ({}{}), {} more than the {} of "
                             "{}{}",
                             getSum(), listParts(), more, -getLeft(), *limit,
                             option, hint),
                 fmt::format("at most {} bytes", *limit),
                 fmt::format("{} bytes", getSum()),
                 {}});
}

json::Object Fit::toJson() const {
  json::Object object{{"ram_bytes", ram.getSum()}};
  if (flash)
    object["flash_bytes"] = flash->getSum();
  auto add = [&](const MemoryNeed &need, const char *limit, const char *left) {
    if (!need.limit)
      return;
    object[limit] = *need.limit;
    object[left] = need.getLeft();
  };
  if (flash)
    add(*flash, "max_flash_bytes", "flash_left_bytes");
  add(ram, "max_ram_bytes", "ram_left_bytes");
  return object;
}

Fit Fit::find(const Manifest &manifest, const std::optional<CodeBytes> &code,
              std::optional<int64_t> maxFlash, std::optional<int64_t> maxRam) {
  Fit fit;
  if (code) {
    MemoryNeed &flash = fit.flash.emplace();
    if (code->parts)
      flash.parts = {{code->parts->text, "of code"},
                     {code->parts->constants, "of constants"}};
    else
      flash.parts = {{code->total, "of code and constants"}};
    flash.parts.push_back({manifest.weightBytes, "of weights"});
    flash.limit = maxFlash;
    flash.option = "--max-flash";
  }
  MemoryNeed &ram = fit.ram;
  ram.parts = {{manifest.arenaBytes, "of arena"},
               {sumBytes(manifest.inputs), "of inputs"},
               {sumBytes(manifest.outputs), "of outputs"}};
  if (!manifest.state.empty())
    ram.parts.push_back({sumBytes(manifest.state), "of state"});
  if (const StackDepth *stack = code ? code->findStack() : nullptr)
    ram.parts.push_back({stack->bytes, "of stack"});
  else
    ram.unknown = "the stack";
  ram.limit = maxRam;
  ram.option = "--max-ram";
  return fit;
}

} // namespace nnc::tools
