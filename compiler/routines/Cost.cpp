//===- Cost.cpp - How long a call should take -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Cost.h"

#include "compiler/routines/CallCosts.h"
#include "compiler/search/Search.h"
#include "dialects/target/Costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace nnc;

static double getMedian(ArrayRef<double> sorted) {
  size_t middle = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[middle]
                           : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::string nnc::getAlikeCall(const Subject &subject) {
  std::string text;
  StringRef layer = subject.layer;
  while (!layer.empty()) {
    StringRef digits = layer.take_while(llvm::isDigit);
    uint64_t size = 0;
    if (digits.getAsInteger(10, size) || size <= 12)
      text += digits.empty() ? layer.take_front() : digits;
    else
      text += "2^" + std::to_string(std::lround(std::log2(double(size))));
    layer = layer.drop_front(std::max<size_t>(digits.size(), 1));
  }
  return text + " : " + subject.getCall();
}

/// Keys of the groups of calls whose ratios of measured to estimated time are
/// alike, the closest group first.
static std::array<std::string, 4>
getGroups(StringRef layer, const Routine &routine, ArrayRef<int64_t> params) {
  return {getAlikeCall({layer.str(), routine.name.str(), params.vec()}),
          (layer + " : " + routine.name).str(), routine.name.str(), ""};
}

void Calibration::add(StringRef layer, const Routine &routine,
                      ArrayRef<int64_t> params, const UnitCost &measured) {
  double ratio = measured.seconds / measured.estimate;
  for (const std::string &group : getGroups(layer, routine, params)) {
    std::vector<double> &list = ratios[group];
    list.insert(llvm::upper_bound(list, ratio), ratio);
  }
}

void Calibration::scale(StringRef layer, const Routine &routine,
                        ArrayRef<int64_t> params, UnitCost &cost) const {
  auto groups = getGroups(layer, routine, params);
  for (const std::string &group : groups)
    if (auto found = ratios.find(group); found != ratios.end()) {
      cost.seconds = cost.estimate * getMedian(found->second);
      cost.alike = &group == groups.begin();
      return;
    }
}

/// The degree to which weights displace other data from a last-level cache: 0
/// if they fit into one of its kSharedCacheParts parts, 1 if they fill it, and
/// 1 if there is no cache. See core_limits in
/// runtime/routines/catalogue/core.h.
static double getCrowding(double weightBytes, double lastBytes) {
  constexpr double parts = target::costs::kSharedCacheParts;
  if (lastBytes <= 0)
    return 1;
  return std::clamp(
      (weightBytes / lastBytes - 1 / parts) * (parts / (parts - 1)), 0.0, 1.0);
}

/// Seconds to read a byte of a model's weights, of which there are
/// `weightBytes`. The share of them that other data and they themselves crowd
/// out of the last-level cache comes from memory.
static double getWeightSeconds(target::MachineAttr machine, int64_t weightBytes,
                               double crowding) {
  double seconds = 1 / machine.getBandwidthFor(weightBytes);
  if (machine.getLevelFor(weightBytes))
    return seconds;
  return (1 - crowding) / machine.getLastBandwidth() + crowding * seconds;
}

CostModel::CostModel(target::MachineAttr machine, int64_t weightBytes,
                     const Measurements *measured)
    : machine(machine), weightBytes(weightBytes),
      crowding(getCrowding(weightBytes, machine.getLastBytes())),
      weightSeconds(getWeightSeconds(machine, weightBytes, crowding)),
      measured(measured) {}

core_limits CostModel::getCore(StringRef isa) const {
  // Multiply-adds that the core can issue while a float arrives, for each
  // second that a byte takes.
  double scale = machine.getPeak(isa) * sizeof(float);
  core_limits core{};
  core.vector_rate = machine.getVectorRate(isa);
  core.rate = machine.getPeak(isa) / (1e6 * double(machine.getMhz()));
  core.last_cost = scale / machine.getLastBandwidth();
  core.last_bytes = double(machine.getLastBytes());
  core.weight_cost = scale * weightSeconds;
  core.level2_bytes = double(machine.getSecondBytes());
  core.level2_rate = machine.getSecondBytesPerCycle();
  core.exposed_share = 0.01 * machine.getExposed();
  core.crowding = crowding;
  return core;
}

double CostModel::estimate(const Routine &routine, ArrayRef<RoutineShape> calls,
                           ArrayRef<int64_t> params,
                           const LayerWork &work) const {
  core_limits core = getCore(routine.isa);
  double efficiency = 0;
  for (const RoutineShape &call : calls)
    efficiency += routine.getEfficiency(call, params, core) / calls.size();
  if (efficiency <= 0)
    return std::numeric_limits<double>::infinity();
  double arithmetic =
      (work.operations / efficiency +
       work.epilogueOperations * costs::kEpilogueShare) /
          machine.getPeak(routine.isa) +
      work.exponentials * machine.getExponentialSeconds(routine.isa) +
      work.gates * machine.getGateSeconds(routine.isa);
  double weights = work.weightBytes * weightSeconds;
  double activations =
      machine.getReadSeconds(work.activationBytes) *
      (routine.family->name == "copy" ? costs::kCopiedShare : 1);
  const bool hasParams = !params.empty();
  const bool fromMemory = !machine.getLevelFor(work.activationBytes);
  // Computing overlaps with reading weights and with accessing activations.
  // `exposed` is what does not, in seconds.
  double exposed = core.exposed_share * (hasParams ? costs::kFetchedShare : 1) *
                       std::min(arithmetic, weights) +
                   (fromMemory ? core.exposed_share : costs::kNearShare) *
                       std::min(arithmetic, activations);
  double further = (calls.size() - 1) *
                   (hasParams ? getStartSeconds(true) : costs::kAgainSeconds);
  return std::max({arithmetic, weights, activations}) + exposed +
         getStartSeconds(hasParams) + further;
}

double CostModel::getStartSeconds(bool hasParams) {
  return costs::kCallSeconds + (hasParams ? costs::kTilesSeconds : 0);
}

double CostModel::getAddedBytes(const Routine &routine,
                                ArrayRef<int64_t> params) const {
  std::optional<int64_t> own = routine.getCodeBytes(params),
                         shared = routine.getCodeBytes(params, false);
  if (!own || !shared)
    return 0;
  // Register tiles of the layer's own are for its own sizes.
  if (!params.empty() && params.front() == 1)
    return double(*own);
  unsigned sharers = std::max(1u, sharersOfRoutines.lookup(routine.name));
  return std::min(double(*own),
                  costs::kSizedCallBytes + double(*shared) / sharers);
}

void CostModel::price(UnitCost &cost, const Routine &routine,
                      ArrayRef<int64_t> params, StringRef layer) const {
  cost.seconds = cost.estimate;
  if (knowsMeasurements()) {
    auto known =
        measured->find({layer.str(), routine.name.str(), params.vec()});
    if (known != measured->end()) {
      cost.seconds = known->second * 1e-9;
      cost.measured = true;
    } else {
      calibration.scale(layer, routine, params, cost);
    }
  }
  if (byteSeconds > 0)
    cost.seconds += byteSeconds * getAddedBytes(routine, params);
}

double CostModel::getMemorySeconds(Operation *layer, int64_t bytes) const {
  // Longer than any layer can save by a byte.
  constexpr double byteSeconds = 1e-3;
  if (!freeMemory)
    return 0;
  auto free = freeMemory->bytes.find(layer);
  if (free == freeMemory->bytes.end())
    return 0;
  return byteSeconds * double(std::max<int64_t>(bytes - free->second, 0));
}

static bool isView(RankedTensorType from, RankedTensorType to) {
  return from == to || nn::isViewOf(to, from);
}

void CostModel::forEachAdapt(RankedTensorType from, RankedTensorType to,
                             llvm::function_ref<void(AdaptCost)> visit) const {
  if (isView(from, to))
    return;
  std::optional<nn::RoutineCall> call = nn::getAdaptCall(from, to);
  if (!call)
    return;
  const Catalogue &catalogue = Catalogue::get();
  std::optional<RoutineShape> shape = readShape(*call);
  if (!shape)
    return;
  LayerWork work;
  work.operations = from.getNumElements();
  work.activationBytes = nn::getPhysicalBytes(from) + nn::getPhysicalBytes(to);
  std::string layer = knowsMeasurements() ? describeAdapt(*call, from) : "";
  for (const Routine *routine : catalogue.getRoutinesOf(call->family)) {
    if (!machine.hasIsa(routine->isa) ||
        !routine->takesElement(from.getElementType()))
      continue;
    for (ArrayRef<int64_t> params : routine->candidates)
      if (routine->applies(*shape, params)) {
        AdaptCost adapt{{}, routine, SmallVector<int64_t>(params)};
        adapt.estimate = estimate(*routine, *shape, params, work);
        price(adapt, *routine, params, layer);
        visit(std::move(adapt));
      }
  }
}

AdaptCost CostModel::getAdapt(RankedTensorType from,
                              RankedTensorType to) const {
  AdaptCost best;
  if (isView(from, to))
    return best;
  best.seconds = kImpossible;
  forEachAdapt(from, to, [&](AdaptCost adapt) {
    if (adapt.seconds < best.seconds)
      best = std::move(adapt);
  });
  return best;
}

double CostModel::getFetchSeconds(RankedTensorType value) const {
  int64_t bytes = nn::getPhysicalBytes(value);
  return machine.isNear(bytes)
             ? 0
             : bytes / machine.getBandwidthFor(weightBytes + bytes);
}

int64_t nnc::getWeightBytes(func::FuncOp function) {
  int64_t bytes = 0;
  function.walk([&](nn::ConstantOp constant) {
    bytes += nn::getPhysicalBytes(constant.getY().getType());
  });
  return bytes;
}
