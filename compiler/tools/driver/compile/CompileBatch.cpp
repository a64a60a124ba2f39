//===- CompileBatch.cpp - A batch size for each part of a network ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/compile/Driver.h"
#include "compiler/tools/driver/compile/Limits.h"
#include "compiler/tools/driver/console/Progress.h"

#include "mlir/Pass/PassManager.h"

namespace nnc::tools {

ExitCode Driver::compileOneSample() {
  ImportedModel one;
  if (ExitCode code = importer->importPoint(
          {choices.shapes, {}, {}, /*isSample=*/false, /*batch=*/1}, one);
      code != ExitCode::done)
    return code;
  if (wanted.keepStages)
    stages.back().imported = one.module->clone();
  return compileWithinRam(one);
}

ExitCode Driver::compileBatch(ImportedModel &imported) {
  mlir::PassManager manager(&context);
  buildLayersPipeline(manager, pipelineOptions(tuning));
  mlir::ModuleOp formed = *imported.module;
  if (ExitCode code = runPipeline(manager, formed); code != ExitCode::done)
    return code;
  // The planner fails before any pass if samples are not independent of each
  // other.
  ExitCode failure = ExitCode::unsupported;
  BatchLimits limits{*choices.batch, choices.maxRam};
  if (choices.maxLatency)
    limits.maxSeconds = *choices.maxLatency / clockFactor;
  BatchPlanner planner(formed, limits, pipelineOptions(tuning),
                       makeRunner(failure));
  BatchPlanner::Outcome outcome;
  {
    Progress progress("looking for batch sizes");
    outcome = planner.choose(/*compares=*/wanted.keepStages);
  }
  switch (outcome) {
  case BatchPlanner::Outcome::failed:
    return failure;
  case BatchPlanner::Outcome::slow:
    return reportLatency(choices, context,
                         clockFactor * planner.getLeastSeconds());
  case BatchPlanner::Outcome::large:
    return choices.batch->low == 1 && !choices.maxLatency
               ? compileOneSample()
               : reportBatchRam(choices, context, planner.getLeast());
  case BatchPlanner::Outcome::found:
    break;
  }
  op = planner.takeModule();
  batchChoice = planner.getChoice();
  finish(imported, {planner.getOptions(), /*strips=*/{}, &planner});
  if (ExitCode code = checkWeights(choices, *op, !wanted.exceedsRam);
      code != ExitCode::done || !wanted.keepStages)
    return code;
  // The results are compared with those of the model at the chosen batch.
  ImportedModel chosen;
  ExitCode code = importer->importPoint({choices.shapes,
                                         {},
                                         {},
                                         /*isSample=*/false,
                                         batchChoice->plan.count},
                                        chosen);
  stages.back().imported = std::move(chosen.module);
  return code;
}

} // namespace nnc::tools
