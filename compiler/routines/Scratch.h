//===- Scratch.h - Working memory of chosen routines ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_SCRATCH_H
#define NNC_COMPILER_ROUTINES_SCRATCH_H

#include "mlir/IR/Operation.h"

namespace nnc {

/// The bytes of working memory that the routine chosen for `op` needs when the
/// given number of threads share its work; 0 where no routine is chosen.
int64_t getScratchBytes(mlir::Operation *op, int threads);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_SCRATCH_H
