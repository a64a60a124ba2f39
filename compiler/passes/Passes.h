//===- Passes.h - The compiler's passes -----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_PASSES_H
#define NNC_COMPILER_PASSES_PASSES_H

#include "dialects/exec/Exec.h"
#include "dialects/nn/Nn.h"
#include "dialects/target/Target.h"

#include "mlir/Pass/Pass.h"

namespace nnc {

#define GEN_PASS_DECL
#include "compiler/passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/passes/Passes.h.inc"

} // namespace nnc

#endif // NNC_COMPILER_PASSES_PASSES_H
