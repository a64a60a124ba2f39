//===- Batch.cpp - A batch size for each part of a network ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Driver.h"
#include "compiler/tools/driver/Progress.h"

#include "mlir/Pass/Pass.h"

#include <fmt/format.h>

namespace nnc::tools {

std::string Driver::findBatchProblem() const {
  if (!choices.ranges.empty())
    return "--batch gives the first dimension of the inputs one size; give no "
           "bounds with '..' to --shape then";
  if (!choices.otherShapes.empty())
    return "--batch takes one --shape for each input";
  if (choices.stream)
    return "--stream takes one window of time, and no --batch";
  return "";
}

ExitCode Driver::reportBatchRam(const RamDemand &least) {
  std::string options =
      choices.maxLatency ? "--batch and --max-latency" : "--batch";
  auto diagnostic =
      mlir::emitError(mlir::FileLineColLoc::get(&context, choices.model, 0, 0));
  if (least.bytes > choices.maxRam.value_or(INT64_MAX))
    diagnostic << fmt::format(
        "needs {} bytes of RAM or more with {}, more than "
        "the {} of --max-ram",
        least.bytes, options, *choices.maxRam);
  else
    diagnostic << describeTooSmall(least.tooSmall) << " with " << options;
  diagnostic << "; allow a smaller batch, or more" << adviseOnRam();
  return ExitCode::limit;
}

ExitCode Driver::compileOneSample(mlir::ModuleOp formed) {
  auto machine =
      formed->getAttrOfType<target::MachineAttr>(target::kTargetAttr);
  mlir::OwningOpRef<mlir::ModuleOp> whole;
  batchPasses.clear();
  importedBatch = 1;
  if (ExitCode code = importShapes(choices.shapes, {}, machine, whole);
      code != ExitCode::done)
    return code;
  if (wanted.keepStages)
    importedOp = whole->clone();
  RamDemand demand;
  ExitCode code = planWithin(INT64_MAX, *whole, demand);
  return code == ExitCode::done ? fitIntoRam(std::move(whole)) : code;
}

ExitCode Driver::compileBatch() {
  mlir::PassManager manager(&context);
  buildLayersPipeline(manager, pipelineOptions(tuning));
  mlir::OwningOpRef<mlir::ModuleOp> formed = op->clone();
  if (ExitCode code = runPipeline(manager, *formed); code != ExitCode::done)
    return code;
  // The planner fails without passes where samples cannot be kept apart.
  ExitCode failure = ExitCode::unsupported;
  auto run = [&](mlir::PassManager &passes, mlir::ModuleOp module) {
    keepStages(passes);
    if (ExitCode code = runPipeline(passes, module); code != ExitCode::done) {
      failure = code;
      return mlir::failure();
    }
    return mlir::success();
  };
  BatchLimits limits{*choices.batch, choices.maxRam};
  if (choices.maxLatency)
    limits.maxSeconds = getMaxSeconds();
  BatchPlanner planner(*formed, limits, pipelineOptions(tuning), run);
  BatchPlanner::Outcome outcome;
  {
    Progress progress("looking for batch sizes");
    outcome = planner.choose(/*compares=*/wanted.keepStages);
  }
  switch (outcome) {
  case BatchPlanner::Outcome::failed:
    return failure;
  case BatchPlanner::Outcome::slow:
    return reportLatency(planner.getLeastSeconds());
  case BatchPlanner::Outcome::large:
    return choices.batch->low == 1 && !choices.maxLatency
               ? compileOneSample(*formed)
               : reportBatchRam(planner.getLeast());
  case BatchPlanner::Outcome::found:
    break;
  }
  op = planner.takeModule();
  batchChoice = planner.getChoice();
  routinesRam = planner.getOptions().maxRam;
  mlir::PassManager batch(&context);
  batch.addPass(planner.createPass());
  batchPasses = spellPasses(batch);
  if (!wanted.keepStages)
    return ExitCode::done;
  // Results are compared with those of the model at this batch.
  importedBatch = batchChoice->plan.count;
  auto machine = (*op)->getAttrOfType<target::MachineAttr>(target::kTargetAttr);
  if (!machine)
    machine =
        (*formed)->getAttrOfType<target::MachineAttr>(target::kTargetAttr);
  return importShapes(choices.shapes, {}, machine, importedOp);
}

} // namespace nnc::tools
