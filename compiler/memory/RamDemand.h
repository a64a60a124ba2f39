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

/// The RAM that a module of the exec dialect needs, as countRam() finds it.
struct RamDemand {
  int64_t bytes = 0; ///< arena, inputs, outputs and state
  /// A memory whose size the module exceeds, or null if there is none.
  exec::MemoryAttr tooSmall;
  bool fits(int64_t limit) const { return bytes <= limit && !tooSmall; }
};
RamDemand countRam(mlir::ModuleOp module);

} // namespace nnc

#endif // NNC_COMPILER_MEMORY_RAMDEMAND_H
