//===- RamDemand.cpp - The RAM that a program takes -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/RamDemand.h"

using namespace mlir;
using namespace nnc;

RamDemand nnc::countRam(ModuleOp module) {
  RamDemand demand;
  module.walk([&](Operation *op) {
    if (auto program = dyn_cast<exec::ProgramOp>(op)) {
      demand.bytes += int64_t(program.getArena());
      for (auto memory : program.getMemories().getAsRange<exec::MemoryAttr>()) {
        if (memory.getBytes() > memory.getSize())
          demand.tooSmall = memory;
        // The memory of another device is not part of the host's RAM.
        if (!memory.getDevice().empty())
          demand.bytes -= memory.getBytes();
      }
    } else if (isa<exec::InputOp, exec::OutputOp, exec::StateOp>(op) &&
               !exec::getPortOffset(op)) {
      demand.bytes +=
          nn::getPhysicalBytes(cast<exec::PlaceOpInterface>(op).getTensor());
    }
  });
  return demand;
}
