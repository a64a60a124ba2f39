//===- Launches.cpp - The number of launches of a run on a GPU ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Each call of a routine or of a custom function is a kernel, and each copy
// within the GPU's memory, to it or from it is a copy of the stream, whatever
// their sizes.
//
//===----------------------------------------------------------------------===//

#include "codegen/Codegen.h"
#include "codegen/Program.h"

#include <algorithm>

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

/// Adds `times` launches of `other`, at least and at most.
static void add(LaunchCount &count, const LaunchCount &other,
                LaunchCount times = {1, 1}) {
  count.least += other.least * times.least;
  if (count.most && other.most && times.most)
    *count.most += *other.most * *times.most;
  else if (!other.most || *other.most != 0)
    count.most.reset();
}

static LaunchCount countSteps(Block &steps);

/// Returns the number of trips of a loop.
static LaunchCount countTrips(exec::LoopOp loop) {
  LaunchCount trips{0, std::nullopt};
  if (int64_t(loop.getMax()) != std::numeric_limits<int64_t>::max())
    trips.most = int64_t(loop.getMax());
  if (!loop.getCount() && !loop.getCondition() && !loop.getVaryingMax())
    trips.least = trips.most.value_or(0);
  return trips;
}

/// Returns true if the call launches a kernel at all sizes. A launch without
/// units is left out, but kernels on blocks have a block at least.
static bool alwaysLaunches(exec::CallOp call) {
  if (!call.getVarying())
    return true;
  auto sizes = call->getParentOfType<exec::ProgramOp>()
                   .getSizes()
                   .getAsRange<exec::SizeAttr>();
  return !call.getLaunch().empty() &&
         llvm::all_of(sizes, [](exec::SizeAttr size) {
           return int64_t(size.getLow()) > 0;
         });
}

static LaunchCount countStep(Operation &step) {
  if (isa<exec::CopyOp, exec::CustomOp, exec::MeasureOp, exec::TransferOp>(
          step))
    return {1, 1};
  if (auto call = dyn_cast<exec::CallOp>(step)) {
    RankedTensorType type = exec::getPlaceOp(call.getOutputs()[0]).getTensor();
    int64_t most = type.getNumElements() != 0;
    return {alwaysLaunches(call) ? most : 0, most};
  }
  if (auto branch = dyn_cast<exec::BranchOp>(step)) {
    LaunchCount one = countSteps(branch.getThenSteps().front()),
                other = countSteps(branch.getElseSteps().front());
    LaunchCount either{std::min(one.least, other.least), std::nullopt};
    if (one.most && other.most)
      either.most = std::max(*one.most, *other.most);
    add(either, {1, 1}); // reads the condition
    return either;
  }
  auto loop = dyn_cast<exec::LoopOp>(step);
  if (!loop)
    return {0, 0};
  LaunchCount trip = countSteps(loop.getSteps().front());
  if (loop.getCounter())
    add(trip, {1, 1}); // stores the number of the trip
  LaunchCount trips = countTrips(loop), count;
  if (loop.getCount())
    add(count, {1, 1}); // reads the number of trips
  bool isCounted = loop.getVaryingMax() || trips.most || loop.getCount();
  // The condition is read before each trip and, unless all trips have been
  // made, after the last one.
  if (loop.getCondition()) {
    add(trip, {1, 1});
    add(count, {isCounted ? 0 : 1, 1});
  }
  add(count, trip, trips);
  return count;
}

static LaunchCount countSteps(Block &steps) {
  LaunchCount count;
  for (Operation &step : steps)
    add(count, countStep(step));
  return count;
}

exec::CallOp codegen::findClearingCall(exec::ProgramOp program) {
  if (!program.getCounterBytes())
    return {};
  for (Operation &op : program.getBody().front()) {
    auto call = dyn_cast<exec::CallOp>(op);
    if (!call && !isa<exec::PlaceOpInterface, exec::CopyOp>(op))
      return {};
    if (!call)
      continue;
    if (call.getCounters() || call.getDevice())
      return {};
    // A call that is left out at some sizes comes before one that never is.
    if (countStep(op).least > 0)
      return call;
  }
  return {};
}

bool codegen::clearsByMemset(exec::ProgramOp program) {
  return program.getCounterBytes() && !findClearingCall(program);
}

LaunchCount codegen::countLaunches(exec::ProgramOp program) {
  LaunchCount count = countSteps(program.getBody().front());
  for (Operation &op : program.getBody().front()) {
    if (!program.getHostPorts() || !isa<exec::InputOp, exec::OutputOp>(op))
      continue;
    // A copy to or from the CPU's memory; one without bytes is left out.
    auto place = cast<exec::PlaceOpInterface>(op);
    int64_t most = place.getTensor().getNumElements() != 0;
    add(count, {exec::getVaryingDims(place) ? 0 : most, most});
  }
  if (clearsByMemset(program))
    add(count, {1, 1}); // sets the counters to zero
  return count;
}

std::string LaunchCount::describe() const {
  std::string text = std::to_string(least);
  if (!most)
    text = "at least " + text;
  else if (*most != least)
    text += " to " + std::to_string(*most);
  return text + (most && *most == 1 ? " launch" : " launches");
}
