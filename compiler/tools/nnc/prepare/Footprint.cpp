//===- Footprint.cpp - Memory that a module takes of a board --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/prepare/Footprint.h"

#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/toolchain/Runner.h"

#include <fmt/format.h>

namespace nnc::tools {

llvm::Expected<Footprint> Footprint::measure(const BuiltModule &module,
                                             const RunResult &result) {
  llvm::Expected<ModuleSize> size = module.measure();
  if (!size)
    return size.takeError();
  Footprint footprint{size->text, size->constants,
                      module.manifest().weightBytes,
                      module.manifest().arenaBytes, result.stackBytes};
  for (const Port &port : module.manifest().state)
    footprint.state += port.bytes();
  return footprint;
}

llvm::json::Object Footprint::toJson() const {
  return llvm::json::Object{
      {"text_bytes", text},      {"constant_bytes", constants},
      {"weight_bytes", weights}, {"arena_bytes", arena},
      {"stack_bytes", stack},    {"state_bytes", state}};
}

void Footprint::print() const {
  printOut("flash: {} bytes of code, {} of constants, {} of weights; RAM: {} "
           "of arena, {} of stack{}\n",
           text, constants, weights, arena, stack,
           state ? fmt::format(", {} of state", state) : "");
}

} // namespace nnc::tools
