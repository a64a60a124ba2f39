//===- JoinedConcats.h - Concatenations that are one launch ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_JOINEDCONCATS_H
#define NNC_COMPILER_ROUTINES_JOINEDCONCATS_H

#include "dialects/nn/Nn.h"
#include "dialects/target/Target.h"

#include "mlir/IR/BuiltinOps.h"

namespace nnc {

/// Lets a single call compute each concatenation of few tensors in the module
/// if the machine's host is a GPU, where each call is a launch. Whatever asks
/// for the costs of layers comes after it.
void joinConcats(mlir::ModuleOp module, target::MachineAttr machine);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_JOINEDCONCATS_H
