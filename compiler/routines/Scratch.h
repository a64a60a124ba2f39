//===- Scratch.h - Working memory of chosen routines ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_SCRATCH_H
#define NNC_COMPILER_ROUTINES_SCRATCH_H

#include "mlir/IR/Operation.h"

namespace nnc {

/// Returns the bytes of working memory that the routine chosen for `op` needs
/// when `threads` threads share its work, or 0 if no routine is chosen.
int64_t getScratchBytes(mlir::Operation *op, int threads);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_SCRATCH_H
