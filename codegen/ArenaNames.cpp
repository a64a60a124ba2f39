//===- ArenaNames.cpp - Names of memories in emitted code -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Program.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

std::string codegen::getPortField(Operation &op, StringRef access) {
  return ((isa<exec::InputOp>(op) ? "inputs" : "outputs") + access +
          cast<exec::PlaceOpInterface>(op).getName())
      .str();
}

std::string codegen::getArenaPointer(Operation &op, StringRef access) {
  StringRef memory = exec::getMemory(&op);
  return memory.empty() ? "arena" : ("arenas" + access + memory).str();
}

bool codegen::hasPortsInArena(exec::ProgramOp program) {
  return !program.getHostPorts() &&
         llvm::any_of(program.getBody().front(), [](Operation &op) {
           return exec::getPortOffset(&op).has_value();
         });
}

SmallVector<std::string> codegen::getPlaceParameters(exec::ProgramOp program) {
  std::string stem = "struct " + program.getSymName().str();
  return {stem + "_inputs *inputs", stem + "_outputs *outputs",
          getArenaParameter(program)};
}

bool codegen::hasMemories(exec::ProgramOp program) {
  return !program.getMemories().empty();
}

StringRef codegen::getArenaName(exec::ProgramOp program) {
  return hasMemories(program) ? "arenas" : "arena";
}

std::string codegen::getArenaParameter(exec::ProgramOp program) {
  if (!hasMemories(program))
    return "void *arena";
  return "const struct " + program.getSymName().str() + "_arenas *arenas";
}
