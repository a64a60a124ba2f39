//===- EqualConstants.h - Constants with the same bytes ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_EQUALCONSTANTS_H
#define NNC_COMPILER_PATTERNS_EQUALCONSTANTS_H

#include "mlir/IR/BuiltinOps.h"

namespace nnc {

/// Makes all constants of a module with the same type and bytes share one
/// attribute, so that these bytes are stored once. Layers that share weights
/// have equal constants if each layer was rewritten by itself. The memory of
/// attributes that are no longer used is not freed, since copies of the module
/// may use it.
void shareEqualConstants(mlir::ModuleOp module);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_EQUALCONSTANTS_H
