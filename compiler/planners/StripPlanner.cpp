//===- StripPlanner.cpp - The first layers of a network in strips ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/planners/StripPlanner.h"

#include "compiler/passes/Passes.h"
#include "compiler/routines/PlanGraph.h"
#include "dialects/exec/Exec.h"

#include "mlir/Pass/PassManager.h"

#include <map>
#include <set>
#include <tuple>

using namespace mlir;
using namespace nnc;

/// The most regions that are tried: the smallest ones, which compute the fewest
/// rows twice.
static constexpr size_t kMaxRegions = 12;
/// The most regions that are tried if none of these fits: those with the lowest
/// estimates of bytes.
static constexpr size_t kMaxLeastRegions = 32;

namespace {
/// The bytes of the modules in which one region has strips, by their height.
class Heights {
public:
  explicit Heights(llvm::function_ref<int64_t(int64_t)> plan) : plan(plan) {}

  int64_t getBytes(int64_t height) {
    auto [entry, isNew] = bytes.try_emplace(height, 0);
    if (isNew)
      entry->second = plan(height);
    return entry->second;
  }
  /// Returns an untried height between the height with the fewest bytes and one
  /// of its neighbours among the tried heights; nullopt if there is none.
  std::optional<int64_t> findNext() const;

private:
  llvm::function_ref<int64_t(int64_t)> plan;
  std::map<int64_t, int64_t> bytes;
};
} // namespace

std::optional<int64_t> Heights::findNext() const {
  auto best = std::min_element(
      bytes.begin(), bytes.end(),
      [](const auto &a, const auto &b) { return a.second < b.second; });
  if (best != bytes.begin() && best->first - std::prev(best)->first > 1)
    return (best->first + std::prev(best)->first) / 2;
  auto next = std::next(best);
  if (next != bytes.end() && next->first - best->first > 1)
    return (best->first + next->first) / 2;
  return std::nullopt;
}

void nnc::addStrips(OpPassManager &manager, const StripChoice &choice) {
  PatchOptions patch;
  patch.first = choice.region.first;
  patch.last = choice.region.last;
  patch.axis = choice.region.axis;
  patch.strips = choice.strips;
  manager.nest<func::FuncOp>().addPass(createPatch(patch));
}

std::optional<StripPlanner::Plan> StripPlanner::plan(const StripRegion &region,
                                                     int64_t height) {
  MLIRContext *context = network.getContext();
  // Diagnostics are dropped: a layer that cannot be cut is not an error of the
  // model.
  ScopedDiagnosticHandler quiet(context,
                                [](Diagnostic &) { return success(); });
  Plan plan;
  plan.choice = {region, int64_t(llvm::divideCeil(region.rows, height))};
  plan.module = cast<ModuleOp>(network->clone());
  PassManager cutting(context);
  addStrips(cutting, plan.choice);
  if (failed(cutting.run(*plan.module)))
    return std::nullopt;
  OwningOpRef<ModuleOp> planned = plan.module->clone();
  PassManager places(context), programs(context);
  buildLayersPipeline(places, options);
  buildPlacePipeline(places, options);
  if (failed(places.run(*planned)))
    return std::nullopt;
  plan.seconds = getPlannedSeconds(*planned);
  buildLowerPipeline(programs, options);
  if (failed(programs.run(*planned)))
    return std::nullopt;
  plan.demand = countRam(*planned);
  return plan;
}

void StripPlanner::search(const StripRegion &region, int64_t limit) {
  constexpr int64_t impossible = std::numeric_limits<int64_t>::max();
  std::set<int64_t> fitting;
  auto tryHeight = [&](int64_t height) {
    std::optional<Plan> made = plan(region, height);
    if (!made)
      return impossible;
    int64_t bytes = made->demand.bytes;
    least = std::min(least, bytes);
    if (!made->demand.fits(limit))
      return bytes;
    fitting.insert(height);
    if (!best || made->seconds < best->seconds)
      best = std::move(made);
    return bytes;
  };
  Heights heights(tryHeight);
  int64_t tooHigh = int64_t(llvm::divideCeil(region.rows, 2)) + 1;
  for (int64_t height = tooHigh - 1; height > 0; height /= 2) {
    if (heights.getBytes(height) == impossible || !fitting.empty())
      break;
    tooHigh = height;
  }
  while (fitting.empty()) {
    std::optional<int64_t> height = heights.findNext();
    if (!height || heights.getBytes(*height) == impossible)
      return;
  }
  tooHigh = std::max(tooHigh, *fitting.rbegin() + 1);
  for (int64_t fits = *fitting.rbegin(); tooHigh - fits > 1;) {
    int64_t height = (fits + tooHigh) / 2;
    heights.getBytes(height);
    (fitting.count(height) ? fits : tooHigh) = height;
  }
}

/// Returns the sum of the sizes of the arena's memories in bytes; 0 if the
/// arena is not divided among memories.
static int64_t countMemories(func::FuncOp function) {
  int64_t bytes = 0;
  if (auto memories = function->getAttrOfType<ArrayAttr>(exec::kMemoriesAttr))
    for (auto memory : memories.getAsRange<exec::MemoryAttr>())
      bytes += memory.getSize();
  return bytes;
}

static int64_t countPorts(func::FuncOp function) {
  int64_t bytes = 0;
  for (BlockArgument input : function.getArguments())
    bytes += nn::getPhysicalBytes(nn::getTensorType(input));
  for (Type type : function.getResultTypes())
    bytes += nn::getPhysicalBytes(cast<RankedTensorType>(type));
  return bytes;
}

bool StripPlanner::choose(int64_t limit, int64_t whole) {
  least = whole;
  auto function = *network.getOps<func::FuncOp>().begin();
  // Strips are worth trying if the memories together have room for them,
  // besides inputs and outputs, which may lie elsewhere.
  const int64_t memories = countMemories(function);
  const int64_t room =
      memories ? std::min(limit, memories + countPorts(function)) : limit;
  SmallVector<StripRegion> regions = findStripRegions(function, room);
  for (const StripRegion &region :
       ArrayRef(regions).take_front(std::min(regions.size(), kMaxRegions)))
    search(region, limit);
  if (best)
    return true;
  // These regions do not depend on the limit, so that the smallest module found
  // is the same for any limit that none fits.
  regions = findStripRegions(function, std::numeric_limits<int64_t>::max());
  llvm::sort(regions, [](const StripRegion &a, const StripRegion &b) {
    return std::tie(a.leastBytes, a.first, a.last) <
           std::tie(b.leastBytes, b.first, b.last);
  });
  if (regions.size() > kMaxLeastRegions)
    regions.truncate(kMaxLeastRegions);
  // The second round tries them with routines that take little memory.
  for (int64_t ram : {options.maxRam, int64_t(0)}) {
    options.maxRam = ram;
    for (const StripRegion &region : regions) {
      // With several memories, the estimate of all bytes does not tell whether
      // the module fits.
      if (best || (region.leastBytes >= least && !memories))
        break;
      search(region, limit);
    }
    if (best)
      return true;
  }
  return false;
}
