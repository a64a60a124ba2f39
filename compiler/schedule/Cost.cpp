//===- Cost.cpp - How long a call should take -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/schedule/Cost.h"

#include "compiler/schedule/Search.h"

#include <array>

using namespace mlir;
using namespace nnc;

/// To call a function, set up its loops and find nothing in the first level.
static constexpr double kCallSeconds = 5e-8;

/// Share of the shorter of arithmetic and memory that does not hide behind the
/// longer.
static constexpr double kOverlapLoss = 0.1;

/// Elementwise functions of an epilogue run on values in registers; most are
/// one instruction beside the multiply-adds' two a cycle.
static constexpr double kEpilogueShare = 0.5;

static double getMedian(ArrayRef<double> sorted) {
  size_t middle = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[middle]
                           : (sorted[middle - 1] + sorted[middle]) / 2;
}

/// Whose ratios go together, the closest first.
static std::array<std::string, 3> getGroups(StringRef layer,
                                            const Routine &routine) {
  return {(layer + " : " + routine.name).str(), routine.name.str(), ""};
}

void Calibration::add(StringRef layer, const Routine &routine,
                      const UnitCost &measured) {
  double ratio = measured.seconds / measured.estimate;
  for (const std::string &group : getGroups(layer, routine)) {
    std::vector<double> &list = ratios[group];
    list.insert(llvm::upper_bound(list, ratio), ratio);
  }
}

double Calibration::getScale(StringRef layer, const Routine &routine) const {
  for (const std::string &group : getGroups(layer, routine))
    if (auto found = ratios.find(group); found != ratios.end())
      return getMedian(found->second);
  return 1;
}

double CostModel::estimate(const Routine &routine, ArrayRef<RoutineShape> calls,
                           ArrayRef<int64_t> params,
                           const LayerWork &work) const {
  double efficiency = 0;
  for (const RoutineShape &call : calls)
    efficiency += routine.getEfficiency(call, params) / calls.size();
  double peak = machine.getPeak(routine.isa);
  double arithmetic = work.operations / (peak * std::max(efficiency, 1e-6)) +
                      work.epilogueOperations / (peak * kEpilogueShare);
  double memory =
      work.activationBytes / machine.getBandwidthFor(work.activationBytes) +
      work.weightBytes / machine.getBandwidthFor(weightBytes);
  return std::max(arithmetic, memory) +
         kOverlapLoss * std::min(arithmetic, memory) +
         kCallSeconds * calls.size();
}

UnitCost CostModel::getCost(const Routine &routine,
                            ArrayRef<RoutineShape> calls,
                            ArrayRef<int64_t> params, const LayerWork &work,
                            StringRef layer) const {
  UnitCost cost;
  cost.estimate = estimate(routine, calls, params, work);
  cost.seconds = cost.estimate;
  if (!knowsMeasurements())
    return cost;
  auto known = measured->find(
      {layer.str(), routine.name.str(), {params.begin(), params.end()}});
  if (known != measured->end()) {
    cost.seconds = known->second * 1e-9;
    cost.measured = true;
  } else {
    cost.seconds *= calibration.getScale(layer, routine);
  }
  return cost;
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
      if (routine->applies(*shape, params))
        visit({getCost(*routine, *shape, params, work, layer), routine,
               SmallVector<int64_t>(params)});
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

int64_t nnc::getWeightBytes(func::FuncOp function) {
  int64_t bytes = 0;
  function.walk([&](nn::ConstantOp constant) {
    bytes += nn::getPhysicalBytes(constant.getY().getType());
  });
  return bytes;
}
