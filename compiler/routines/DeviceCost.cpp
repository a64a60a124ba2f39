//===- DeviceCost.cpp - Estimated times of calls on a device --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/DeviceCost.h"

#include "compiler/routines/CallCosts.h"
#include "compiler/routines/GpuCost.h"
#include "dialects/target/Costs.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace nnc;

DeviceCost::~DeviceCost() = default;

//===----------------------------------------------------------------------===//
// Cores
//===----------------------------------------------------------------------===//

/// Returns the degree to which weights displace other data from a last-level
/// cache: 0 if they fit into one of its kSharedCacheParts parts, 1 if they fill
/// it, and 1 if there is no cache. See core_limits in
/// runtime/routines/catalogue/core.h.
static double getCrowding(double weightBytes, double lastBytes) {
  constexpr double parts = target::costs::kSharedCacheParts;
  if (lastBytes <= 0)
    return 1;
  return std::clamp(
      (weightBytes / lastBytes - 1 / parts) * (parts / (parts - 1)), 0.0, 1.0);
}

/// Returns the seconds to read one byte of a model's weights. `weightBytes` is
/// the size of all weights. A fraction `crowding` of them comes from memory,
/// because the weights and other data displace it from the last-level cache.
static double getWeightSeconds(target::CoreAttr core, int64_t weightBytes,
                               double crowding) {
  double seconds = 1 / core.getBandwidthFor(weightBytes);
  if (core.getLevelFor(weightBytes))
    return seconds;
  return (1 - crowding) / core.getLastBandwidth() + crowding * seconds;
}

CoreCost::CoreCost(target::CoreAttr core, int64_t weightBytes)
    : core(core), weightBytes(weightBytes),
      crowding(getCrowding(weightBytes, core.getLastBytes())),
      weightSeconds(getWeightSeconds(core, weightBytes, crowding)) {}

core_limits CoreCost::getLimits(StringRef isa) const {
  // `scale` converts the seconds to read a byte to the multiply-adds that the
  // core can issue while one float arrives.
  double scale = core.getPeak(isa) * sizeof(float);
  core_limits limits{};
  limits.vector_rate = core.getVectorRate(isa);
  limits.rate = core.getPeak(isa) / (1e6 * double(core.getMhz()));
  limits.last_cost = scale / core.getLastBandwidth();
  limits.last_bytes = double(core.getLastBytes());
  limits.weight_cost = scale * weightSeconds;
  limits.level2_bytes = double(core.getSecondBytes());
  limits.level2_rate = core.getSecondBytesPerCycle();
  limits.exposed_share = 0.01 * core.getExposed();
  limits.crowding = crowding;
  return limits;
}

double CoreCost::estimate(const Routine &routine, ArrayRef<RoutineShape> calls,
                          ArrayRef<int64_t> params,
                          const LayerWork &work) const {
  core_limits limits = getLimits(routine.isa);
  double efficiency = 0;
  for (const RoutineShape &call : calls)
    efficiency += routine.getEfficiency(call, params, limits) / calls.size();
  if (efficiency <= 0)
    return std::numeric_limits<double>::infinity();
  const double lookup = core.getLookupSeconds(routine.isa);
  double arithmetic =
      (work.operations / efficiency +
       (work.epilogueOperations + (lookup > 0 ? 0 : work.lookups)) *
           costs::kEpilogueShare) /
          core.getPeak(routine.isa) +
      work.lookups * lookup +
      work.exponentials * core.getExponentialSeconds(routine.isa) +
      work.gates * core.getGateSeconds(routine.isa);
  double weights = work.weightBytes * weightSeconds;
  double activations =
      core.getReadSeconds(work.activationBytes) *
      (routine.family->name == "copy" ? costs::kCopiedShare : 1);
  const bool hasParams = !params.empty();
  const bool fromMemory = !core.getLevelFor(work.activationBytes);
  // Computing overlaps with reading weights and with accessing activations.
  // `exposed` is the time in seconds that does not overlap.
  double exposed = limits.exposed_share *
                       (hasParams ? costs::kFetchedShare : 1) *
                       std::min(arithmetic, weights) +
                   (fromMemory ? limits.exposed_share : costs::kNearShare) *
                       std::min(arithmetic, activations);
  double further = (calls.size() - 1) *
                   (hasParams ? getStartSeconds(true) : costs::kAgainSeconds);
  return std::max({arithmetic, weights, activations}) + exposed +
         getStartSeconds(hasParams) + further;
}

double CoreCost::getStartSeconds(bool hasParams) {
  return costs::kCallSeconds + (hasParams ? costs::kTilesSeconds : 0);
}

double CoreCost::getFetchSeconds(int64_t bytes) const {
  return core.isNear(bytes) ? 0
                            : bytes / core.getBandwidthFor(weightBytes + bytes);
}

std::shared_ptr<const DeviceCost> nnc::makeDeviceCost(target::DeviceAttr device,
                                                      int64_t weightBytes) {
  switch (device.getKind()) {
  case target::DeviceKind::core:
    return std::make_shared<CoreCost>(device.getCore(), weightBytes);
  case target::DeviceKind::gpu:
    return std::make_shared<GpuCost>(
        llvm::cast<target::GpuAttr>(device.getCost()), weightBytes);
  }
  llvm_unreachable("every kind of devices has a cost model");
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

double TransferCost::getSeconds(StringRef from, StringRef to,
                                int64_t bytes) const {
  target::DeviceAttr source = machine.findDevice(from),
                     target = machine.findDevice(to);
  if (!source || !target)
    return std::numeric_limits<double>::infinity();
  if (source == target)
    return 0;
  double seconds = 0;
  for (target::DeviceAttr end : {source, target})
    if (end != machine.getHost())
      seconds += 1e-9 * double(end.getLinkNs()) +
                 double(bytes) / (1e6 * double(end.getLinkMbS()));
  return seconds;
}
