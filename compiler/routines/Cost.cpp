//===- Cost.cpp - How long a call should take -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Cost.h"

#include "compiler/search/Search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace nnc;

/// To call a function and set up its loops, whose code comes from beyond the
/// first-level cache.
static constexpr double kCallSeconds = 1.5e-7;
/// What more there is to fetch of a routine with params: unrolled register
/// tiles, one for each size of what is left over.
static constexpr double kTilesSeconds = 4.5e-7;
/// To call a function again that has no params: much of its code is there.
static constexpr double kAgainSeconds = 2.5e-8;

/// Share of a multiply-add's time that simple arithmetic in an epilogue takes.
static constexpr double kEpilogueShare = 0.15;

/// Weights are read while they are used: of the shorter of arithmetic and that,
/// some does not hide behind the longer. Less where tiles fetch weights for
/// later ones.
static constexpr double kFetchedShare = 0.83;

/// Of activations that a cache holds, the share of reading and writing them
/// that does not hide behind arithmetic, or the other way round.
static constexpr double kNearShare = 0.15;

/// Of the time to read and to write activations, what a copy takes: a library's
/// need not fetch the lines that it overwrites.
static constexpr double kCopiedShare = 0.8;

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

/// Whose ratios go together, the closest first.
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

/// How far weights crowd other data out of a last cache, of which a third is
/// theirs anyway; see core_limits in runtime/routines/catalogue.h.
static double getCrowded(double weightBytes, double lastBytes) {
  return std::clamp((weightBytes / lastBytes - 1.0 / 3) * 1.5, 0.0, 1.0);
}

/// Seconds to read a byte of a model's weights, of which there are so many:
/// what the last cache has no room for comes from memory.
static double getWeightSeconds(target::MachineAttr machine, int64_t weightBytes,
                               double crowded) {
  double seconds = 1 / machine.getBandwidthFor(weightBytes);
  if (machine.getLevelFor(weightBytes))
    return seconds;
  return (1 - crowded) / machine.getLastBandwidth() + crowded * seconds;
}

CostModel::CostModel(target::MachineAttr machine, int64_t weightBytes,
                     const Measurements *measured)
    : machine(machine), weightBytes(weightBytes),
      crowded(getCrowded(weightBytes, machine.getLastBytes())),
      weightSeconds(getWeightSeconds(machine, weightBytes, crowded)),
      measured(measured) {}

Core CostModel::getCore(StringRef isa) const {
  double scale = machine.getPeak(isa) * sizeof(float);
  size_t second = std::min<size_t>(1, machine.getCaches().size() - 1);
  return {machine.getVectorRate(isa),
          scale / machine.getLastBandwidth(),
          double(machine.getLastBytes()),
          scale * weightSeconds,
          double(machine.getCaches()[second]),
          double(machine.getBandwidth()[second]),
          0.01 * machine.getExposed(),
          crowded};
}

double CostModel::estimate(const Routine &routine, ArrayRef<RoutineShape> calls,
                           ArrayRef<int64_t> params,
                           const LayerWork &work) const {
  Core core = getCore(routine.isa);
  double efficiency = 0;
  for (const RoutineShape &call : calls)
    efficiency += routine.getEfficiency(call, params, core) / calls.size();
  if (efficiency <= 0)
    return std::numeric_limits<double>::infinity();
  double arithmetic =
      (work.operations / efficiency +
       work.epilogueOperations * kEpilogueShare) /
          machine.getPeak(routine.isa) +
      work.exponentials * machine.getExponentialSeconds(routine.isa) +
      work.gates * machine.getGateSeconds(routine.isa);
  double weights = work.weightBytes * weightSeconds;
  double activations = machine.getReadSeconds(work.activationBytes) *
                       (routine.family->name == "copy" ? kCopiedShare : 1);
  const bool hasParams = !params.empty();
  const bool fromMemory = !machine.getLevelFor(work.activationBytes);
  double exposed = core.exposed * (hasParams ? kFetchedShare : 1) *
                       std::min(arithmetic, weights) +
                   (fromMemory ? core.exposed : kNearShare) *
                       std::min(arithmetic, activations);
  double further =
      (calls.size() - 1) * (hasParams ? getStartSeconds(true) : kAgainSeconds);
  return std::max({arithmetic, weights, activations}) + exposed +
         getStartSeconds(hasParams) + further;
}

double CostModel::getStartSeconds(bool hasParams) {
  return kCallSeconds + (hasParams ? kTilesSeconds : 0);
}

void CostModel::price(UnitCost &cost, const Routine &routine,
                      ArrayRef<int64_t> params, StringRef layer) const {
  cost.seconds = cost.estimate;
  if (!knowsMeasurements())
    return;
  auto known = measured->find({layer.str(), routine.name.str(), params.vec()});
  if (known != measured->end()) {
    cost.seconds = known->second * 1e-9;
    cost.measured = true;
  } else {
    calibration.scale(layer, routine, params, cost);
  }
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
  std::string problem;
  std::optional<RoutineShape> shape = catalogue.makeShape(*call, problem);
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
