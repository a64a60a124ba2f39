//===- RamPlanner.cpp - A program within limits of memory -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/planners/RamPlanner.h"

#include "compiler/pipelines/SizesPipeline.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace nnc;

RamPlanner::RamPlanner(OwningOpRef<ModuleOp> network,
                       std::optional<int64_t> maxRam, PipelineOptions options,
                       PassRunner run)
    : network(std::move(network)), limit(maxRam.value_or(INT64_MAX)),
      isSampled(hasSamples(*this->network)), options(std::move(options)),
      run(std::move(run)) {}

LogicalResult RamPlanner::runPasses() {
  PassManager manager(module->getContext());
  buildNetworkPipeline(manager, isSampled, options);
  if (failed(run(manager, *module)))
    return failure();
  demand = countRam(*module);
  return success();
}

LogicalResult RamPlanner::planWithin(int64_t ram) {
  options.maxRam = ram;
  module = cast<ModuleOp>(network->getOperation()->clone());
  return runPasses();
}

LogicalResult RamPlanner::plan() { return planWithin(INT64_MAX); }

LogicalResult RamPlanner::fitRoutines() {
  least = demand;
  const int64_t all = least.bytes;
  // The bounds given to the routines do not depend on the limit, so that the
  // smallest program found is the same for any limit that none fits. With a
  // bound of 0, each layer takes the routine with the least memory. The bounds
  // after it (-1) are seven eighths of the smallest program so far: only the
  // layers that determine its size then get such routines.
  int64_t sizes[] = {all / 4 * 3, all / 2, all / 4, 0, -1, -1, -1, -1};
  for (int64_t ram : sizes) {
    const int64_t before = least.bytes;
    const bool isBelow = ram < 0;
    if (isBelow)
      ram = before / 8 * 7;
    if (failed(planWithin(ram)))
      return failure();
    if (demand.bytes < before || (demand.bytes == before && least.tooSmall))
      least = demand;
    if (fits())
      return useRest(ram);
    if (isBelow && demand.bytes >= before)
      break;
  }
  return success();
}

LogicalResult RamPlanner::useRest(int64_t ram) {
  if (limit == INT64_MAX)
    return success();
  if (failed(planWithin(limit)))
    return failure();
  return fits() ? success() : planWithin(ram);
}

LogicalResult RamPlanner::cutStrips() {
  options.maxRam = INT64_MAX;
  StripPlanner planner(*network, options);
  if (planner.choose(limit, least.bytes)) {
    strips = planner.getChoice();
    options = planner.getOptions();
    module = planner.takeModule();
    return runPasses();
  }
  if (planner.getLeast() < least.bytes)
    leastInStrips = planner.getLeast();
  return success();
}

RamPlanner::Outcome RamPlanner::fit() {
  if (fits())
    return Outcome::found;
  if (failed(fitRoutines()))
    return Outcome::failed;
  if (fits())
    return Outcome::found;
  // A network at several sizes is not cut into strips, since each size would
  // need different ones.
  if (!isSampled && failed(cutStrips()))
    return Outcome::failed;
  return strips ? Outcome::found : Outcome::large;
}
