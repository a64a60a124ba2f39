//===- RamDemand.h - The RAM that a program takes ---------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_MEMORY_RAMDEMAND_H
#define NNC_COMPILER_MEMORY_RAMDEMAND_H

#include "dialects/exec/Exec.h"

#include "mlir/IR/BuiltinOps.h"

namespace nnc {

/// The RAM that a module of the exec dialect takes.
struct RamDemand {
  int64_t bytes = 0; ///< of the arena, the inputs, the outputs and the state
  /// The memory in which the module takes more bytes than there are, or null.
  exec::MemoryAttr tooSmall;
  bool fits(int64_t limit) const { return bytes <= limit && !tooSmall; }
};
RamDemand countRam(mlir::ModuleOp module);

} // namespace nnc

#endif // NNC_COMPILER_MEMORY_RAMDEMAND_H
