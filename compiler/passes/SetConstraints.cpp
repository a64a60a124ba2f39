//===- SetConstraints.cpp - Records the target and the memories -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/tuning/ProbeFile.h"
#include "dialects/exec/Exec.h"

namespace nnc {
#define GEN_PASS_DEF_SETCONSTRAINTS
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

/// Parses memories, each as NAME:BYTES or NAME:BYTES:slow. Reports an error if
/// a text is invalid.
static FailureOr<ArrayAttr> parseMemories(ArrayRef<std::string> texts,
                                          Location location) {
  SmallVector<Attribute> memories;
  for (StringRef text : texts) {
    SmallVector<StringRef> parts;
    text.split(parts, ':');
    int64_t bytes = 0;
    bool isSlow = parts.size() == 3 && parts[2] == "slow";
    if ((parts.size() != 2 && !isSlow) || parts[0].empty() ||
        parts[1].getAsInteger(10, bytes) || bytes < 0)
      return emitError(location)
             << "'" << text
             << "' is no memory; write NAME:BYTES or NAME:BYTES:slow";
    memories.push_back(exec::MemoryAttr::get(location.getContext(), parts[0],
                                             bytes, isSlow, /*bytes=*/0,
                                             /*device=*/""));
  }
  return ArrayAttr::get(location.getContext(), memories);
}

namespace {
struct SetConstraintsPass : nnc::impl::SetConstraintsBase<SetConstraintsPass> {
  using SetConstraintsBase::SetConstraintsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto arena =
        parseMemories(ArrayRef<std::string>(memories), module.getLoc());
    auto weights =
        parseMemories(ArrayRef<std::string>(weightMemories), module.getLoc());
    if (failed(arena) || failed(weights) ||
        (!target.empty() && failed(target::setTarget(module, target))) ||
        failed(applyProbe(module)))
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!arena->empty())
        function->setAttr(exec::kMemoriesAttr, *arena);
      if (!weights->empty())
        function->setAttr(exec::kWeightMemoriesAttr, *weights);
    }
  }

  /// Replaces figures of the target by those of the probe file, if there is
  /// one.
  LogicalResult applyProbe(ModuleOp module) {
    if (probe.empty())
      return success();
    auto machine = target::getTarget(module);
    if (failed(machine))
      return failure();
    auto probed = readProbeFile(probe, *machine);
    if (succeeded(probed))
      module->setAttr(target::kTargetAttr, *probed);
    return probed;
  }
};
} // namespace
