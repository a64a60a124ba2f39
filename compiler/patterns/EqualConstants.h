//===- EqualConstants.h - Constants with the same bytes ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_EQUALCONSTANTS_H
#define NNC_COMPILER_PATTERNS_EQUALCONSTANTS_H

#include "mlir/IR/BuiltinOps.h"

namespace nnc {

/// Gives all constants of a module that have the same type and the same bytes
/// one value, so that these bytes are stored once: the weights of layers that
/// share them are equal constants where each layer was rewritten by itself.
/// Does not free the memory of the values that are no longer used, which copies
/// of the module may have.
void shareEqualConstants(mlir::ModuleOp module);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_EQUALCONSTANTS_H
