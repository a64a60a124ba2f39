//===- Strips.cpp - Brings a model into a limit of memory -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Driver.h"

#include "compiler/passes/Passes.h"
#include "compiler/passes/Strips.h"
#include "dialects/exec/Exec.h"

#include "mlir/Pass/PassManager.h"

namespace nnc::tools {

RamDemand countRam(mlir::ModuleOp module) {
  RamDemand demand;
  module.walk([&](mlir::Operation *op) {
    if (auto program = llvm::dyn_cast<exec::ProgramOp>(op)) {
      demand.bytes += int64_t(program.getArena());
      for (auto memory : program.getMemories().getAsRange<exec::MemoryAttr>())
        if (memory.getBytes() > memory.getSize())
          demand.tooSmall = memory;
    } else if (llvm::isa<exec::InputOp, exec::OutputOp, exec::StateOp>(op) &&
               !exec::getPortOffset(op)) {
      demand.bytes += nn::getPhysicalBytes(
          llvm::cast<exec::PlaceOpInterface>(op).getTensor());
    }
  });
  return demand;
}

namespace {
struct Plan {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< as imported, with strips
  RamDemand demand;
  int64_t multiplyAdds = 0;
};

/// The most regions that are tried: the smallest ones, which compute the fewest
/// rows twice.
constexpr size_t kMaxRegions = 12;
} // namespace

/// Plans a copy of the module in which a region has strips of `height` rows.
/// The result has no module where that fails.
static Plan planStrips(mlir::ModuleOp module, const StripRegion &region,
                       int64_t height, const PipelineOptions &options) {
  mlir::MLIRContext *context = module.getContext();
  // A layer that cannot be cut there is no fault of the model.
  mlir::ScopedDiagnosticHandler quiet(
      context, [](mlir::Diagnostic &) { return mlir::success(); });
  Plan plan;
  mlir::OwningOpRef<mlir::ModuleOp> cut = module.clone();
  PatchOptions patch;
  patch.first = region.first;
  patch.last = region.last;
  patch.axis = region.axis;
  patch.strips = int64_t(llvm::divideCeil(region.rows, height));
  mlir::PassManager cutting(context);
  cutting.nest<mlir::func::FuncOp>().addPass(createPatch(patch));
  if (mlir::failed(cutting.run(*cut)))
    return plan;
  mlir::OwningOpRef<mlir::ModuleOp> planned = cut->clone();
  mlir::PassManager manager(context);
  buildLayersPipeline(manager, options);
  buildPlanPipeline(manager, options);
  if (mlir::failed(manager.run(*planned)))
    return plan;
  plan.module = std::move(cut);
  plan.demand = countRam(*planned);
  planned->walk([&](exec::CallOp call) {
    plan.multiplyAdds += int64_t(call.getMultiplyAdds());
  });
  return plan;
}

mlir::OwningOpRef<mlir::ModuleOp> cutIntoStrips(mlir::ModuleOp module,
                                                int64_t limit,
                                                const PipelineOptions &options,
                                                std::optional<int64_t> &least) {
  Plan best;
  auto function = *module.getOps<mlir::func::FuncOp>().begin();
  llvm::SmallVector<StripRegion> regions = findStripRegions(function, limit);
  if (regions.size() > kMaxRegions)
    regions.truncate(kMaxRegions);
  for (const StripRegion &region : regions) {
    // The lowest strips take the least memory, and the highest ones compute the
    // fewest rows twice.
    int64_t fits = 0, tooHigh = int64_t(llvm::divideCeil(region.rows, 2)) + 1;
    for (int64_t height = 1; height > fits && height < tooHigh;) {
      Plan plan = planStrips(module, region, height, options);
      if (!plan.module)
        break;
      least = std::min(least.value_or(plan.demand.bytes), plan.demand.bytes);
      bool isFit = plan.demand.fits(limit);
      (isFit ? fits : tooHigh) = height;
      if (isFit && (!best.module || plan.multiplyAdds < best.multiplyAdds))
        best = std::move(plan);
      height = (fits + tooHigh) / 2;
    }
  }
  return std::move(best.module);
}

} // namespace nnc::tools
