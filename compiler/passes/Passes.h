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

#include "compiler/routines/LayoutScope.h"
#include "compiler/routines/Optimize.h"
#include "compiler/routines/Precision.h"
#include "compiler/routines/TuningFile.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace nnc {

#define GEN_PASS_DECL
#include "compiler/passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/passes/Passes.h.inc"

/// Creates the pass nnc-choose-routines. `tuned` holds the contents of a tuning
/// file that has been read already; if it is null, the pass reads the file that
/// `options` name, if any.
std::unique_ptr<mlir::Pass>
createChooseRoutines(ChooseRoutinesOptions options,
                     std::shared_ptr<const TuningFile> tuned);
/// Creates the pass nnc-fuse-layers; `tuned` is as above.
std::unique_ptr<mlir::Pass>
createFuseLayers(FuseLayersOptions options,
                 std::shared_ptr<const TuningFile> tuned);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_PASSES_H
