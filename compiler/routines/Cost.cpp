//===- Cost.cpp - Estimated and measured times of calls -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Cost.h"

#include "compiler/routines/CallCosts.h"
#include "compiler/search/Search.h"

#include <algorithm>
#include <array>
#include <cmath>

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

/// Returns the keys of the groups of calls from whose measurements a call may
/// be scaled, from the closest group to the farthest.
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

CostModel::CostModel(target::MachineAttr machine, int64_t weightBytes,
                     const Measurements *measured)
    : machine(machine), device(machine.getHost()), weightBytes(weightBytes),
      deviceCost(makeDeviceCost(device, weightBytes)), measured(measured) {}

CostModel CostModel::forDevice(StringRef name) const {
  target::DeviceAttr other = machine.findDevice(name);
  assert(other && "the machine has the device");
  CostModel cost = *this;
  if (other == device)
    return cost;
  cost.device = other;
  cost.deviceCost = makeDeviceCost(other, weightBytes);
  // The calibration and the memo belong to the first device.
  cost.calibration = {};
  cost.memo = nullptr;
  return cost;
}

double CostModel::getTransferSeconds(StringRef from, StringRef to,
                                     int64_t bytes) const {
  return TransferCost(machine).getSeconds(from, to, bytes);
}

double CostModel::getAddedBytes(const Routine &routine,
                                ArrayRef<int64_t> params) const {
  std::optional<int64_t> own = routine.getCodeBytes(params),
                         sized = routine.getCodeBytes(params, false);
  if (!own || !sized)
    return 0;
  // A layer with its own register tiles has code for its own sizes only.
  if (!params.empty() && params.front() == 1)
    return double(*own);
  unsigned sharers = std::max(1u, sharersOfRoutines.lookup(routine.name)),
           callers = std::max(1u, callersOfRoutines.lookup(routine.name));
  return std::min(double(*own),
                  costs::kSizedCallBytes + double(*sized) / sharers) +
         double(routine.getSharedCodeBytes(params)) / callers;
}

void CostModel::price(UnitCost &cost, const Routine &routine,
                      ArrayRef<int64_t> params, StringRef layer) const {
  cost.seconds = cost.estimate;
  if (knowsMeasurements()) {
    auto known = measured->find(
        {layer.str(), routine.name.str(), params.vec(), getDeviceName()});
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
  // A penalty per byte that is longer than any layer can save by using a byte.
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
    if (!device.hasIsa(routine->isa) ||
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
  StringRef source = nn::getDevice(from), target = nn::getDevice(to);
  if (source != target) {
    bool isTransfer = nn::onDevice(from, target) == to;
    best.seconds = isTransfer ? getTransferSeconds(source, target,
                                                   nn::getPhysicalBytes(from))
                              : kImpossible;
    best.estimate = best.seconds;
    return best;
  }
  if (isView(from, to))
    return best;
  if (!source.empty() && source != getDeviceName() &&
      machine.findDevice(source))
    return forDevice(source).getAdapt(from, to);
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
