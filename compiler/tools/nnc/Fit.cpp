//===- Fit.cpp - Whether a module fits into a chip ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/Fit.h"

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

std::string MemoryNeed::describe() const {
  std::vector<std::string> words;
  for (const Part &part : parts)
    words.push_back(fmt::format("{} {}", part.bytes, part.what));
  std::string text =
      fmt::format("{} bytes: {}", getSum(), fmt::join(words, ", "));
  if (!limit)
    return text;
  if (int64_t left = getLeft(); left >= 0)
    return text + fmt::format("; fits into the {} of {}, {} are left", *limit,
                              option, left);
  else if (left + beyond >= 0)
    return text + fmt::format("; {} too many for the {} of {} with the stack, "
                              "which this does not limit",
                              -left, *limit, option);
  else
    return text + fmt::format("; does not fit, {} too many for the {} of {}",
                              -left, *limit, option);
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

Fit findFit(const Manifest &manifest, std::optional<int64_t> code,
            const std::optional<ModuleSize> &size,
            std::optional<int64_t> maxFlash, std::optional<int64_t> maxRam) {
  Fit fit;
  if (code) {
    fit.flash.emplace();
    if (size)
      fit.flash->parts = {{size->text, "of code"},
                          {size->constants, "of constants"}};
    else
      fit.flash->parts = {{*code, "of code and constants"}};
    fit.flash->parts.push_back({manifest.weightBytes, "of weights"});
    fit.flash->limit = maxFlash;
    fit.flash->option = "--max-flash";
  }
  fit.ram.parts = {{manifest.arenaBytes, "of arena"},
                   {sumBytes(manifest.inputs), "of inputs"},
                   {sumBytes(manifest.outputs), "of outputs"}};
  if (!manifest.state.empty())
    fit.ram.parts.push_back({sumBytes(manifest.state), "of state"});
  if (size && size->stack) {
    fit.ram.parts.push_back({size->stack->bytes, "of stack"});
    fit.ram.beyond = size->stack->bytes;
  }
  fit.ram.limit = maxRam;
  fit.ram.option = "--max-ram";
  return fit;
}

} // namespace nnc::tools
