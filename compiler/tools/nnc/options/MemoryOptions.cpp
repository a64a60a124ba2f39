//===- MemoryOptions.cpp - Limits of flash memory and RAM, and pools ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/options/OptionForms.h"
#include "compiler/tools/nnc/options/Options.h"

#include "dialects/exec/Identifiers.h"
#include "frontends/common/Suggest.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace nnc::tools {

/// Parses NAME:BYTES[:slow][:weights] into `memory`. Returns what is wrong with
/// the text, or an empty string.
static std::string parseMemory(llvm::StringRef text, MemoryChoice &memory) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ':');
  std::optional<int64_t> bytes;
  if (parts.size() > 1)
    bytes = parseBytes(parts[1]);
  if (!bytes)
    return text.str() + " is not NAME:BYTES[:slow][:weights], with K or M for "
                        "1024 bytes or 1024 times that";
  memory = {parts[0].str(), *bytes};
  for (llvm::StringRef kind : llvm::ArrayRef(parts).drop_front(2))
    if (kind == "slow")
      memory.slow = true;
    else if (kind == "weights")
      memory.holdsWeights = true;
    else
      return fmt::format("{}: a memory is 'slow', for 'weights', or both, not "
                         "'{}'{}",
                         text.str(), kind.str(),
                         frontends::didYouMean(kind, {"slow", "weights"}));
  if (exec::isUsableIdentifier(memory.name))
    return "";
  std::string lower = parts[0].lower();
  return fmt::format("{}: '{}' is no name that C code can have{}", text.str(),
                     memory.name,
                     exec::isUsableIdentifier(lower) ? "; try " + lower : "");
}

/// Adds the memory that a text describes. Returns what is wrong with the text,
/// or an empty string.
static std::string addMemory(const std::string &text, ModelOptions &options) {
  MemoryChoice memory;
  std::string problem = parseMemory(text, memory);
  auto isSame = [&](const MemoryChoice &other) {
    return other.name == memory.name;
  };
  if (problem.empty() && llvm::any_of(options.memories, isSame))
    problem = "there are two memories '" + memory.name + "'";
  options.memories.push_back(memory);
  return problem;
}

static void addPoolOption(CLI::App &app, ModelOptions &options) {
  addRepeatedOption(
      app, "--pool", "NAME:BYTES[:slow][:weights]",
      [&options] { options.memories.clear(); },
      [&options](const std::string &argument) {
        return addMemory(argument, options);
      },
      "Memory for a part of the arena, and how many bytes of it the code "
      "may take; given once for each memory. The code gets a pointer to "
      "each. Those that are not slow hold what is read and written most "
      "often. One for weights holds a part of these, in a section of its "
      "name");
}

void addRamOption(CLI::App &app, ModelOptions &options) {
  addPoolOption(app, options);
  addLimit(app, "--max-ram", options.maxRam,
           "Most bytes of RAM, with K or M for 1024 of them or of these: of "
           "the arena, the inputs, the outputs and the state. nnc check, which "
           "builds the code, counts the stack, too. Where the model takes "
           "more, images of some layers are computed in strips, whose rows at "
           "the edges are computed twice");
}

void addFlashOption(CLI::App &app, std::optional<int64_t> &maxFlash) {
  addLimit(app, "--max-flash", maxFlash,
           "Most bytes of flash memory, with K or M: of code, constants and "
           "weights. The code is built for its size, and weights take the "
           "bytes that it leaves where they would take more");
}

} // namespace nnc::tools
