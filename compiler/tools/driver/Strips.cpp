//===- Strips.cpp - Brings a model into a limit of memory -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Driver.h"

#include "compiler/passes/Passes.h"
#include "compiler/passes/Strips.h"
#include "dialects/exec/Exec.h"

#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

namespace nnc::tools {

std::string adviseOnPorts(const ModelOptions &options) {
  return options.portsInArena
             ? ""
             : "; --io=arena lets values take the place of inputs";
}

std::string describeTooSmall(exec::MemoryAttr memory) {
  return fmt::format("needs {} bytes in the memory '{}', beside what the "
                     "others hold, and --pool gives it {}",
                     memory.getBytes(), memory.getName().str(),
                     memory.getSize());
}

namespace {
struct Plan {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< as imported, with strips
  RamDemand demand;
  int64_t multiplyAdds = 0;
  std::string passes; ///< that cut the strips
};

/// The most regions that are tried: the smallest ones, which compute the fewest
/// rows twice.
constexpr size_t kMaxRegions = 12;
/// The most regions that are tried where none of these fits: those that are
/// estimated to take the fewest bytes.
constexpr size_t kMaxLeastRegions = 32;

/// Looks for strips that fit into a limit.
class StripSearch {
public:
  /// `options` may change between searches.
  StripSearch(mlir::ModuleOp module, int64_t limit,
              const PipelineOptions &options, int64_t &least)
      : module(module), limit(limit), options(options), least(least) {}

  /// Looks for the highest strips of the region that fit, which compute the
  /// fewest rows twice. Low strips take little memory each, but there are many
  /// of them. Keeps the best plan.
  void search(const StripRegion &region);

  Plan best;

private:
  mlir::ModuleOp module;
  int64_t limit;
  const PipelineOptions &options;
  int64_t &least;
};

/// The bytes that strips of one region take, by their height.
class Heights {
public:
  explicit Heights(llvm::function_ref<int64_t(int64_t)> plan) : plan(plan) {}

  int64_t getBytes(int64_t height) {
    auto [entry, isNew] = bytes.try_emplace(height, 0);
    if (isNew)
      entry->second = plan(height);
    return entry->second;
  }
  /// Returns a height between the one that takes the fewest bytes and one of
  /// its neighbours; null if all of these are known.
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

/// Plans a copy of the module in which a region has strips of `height` rows.
/// The result has no module where that fails.
static Plan planStrips(mlir::ModuleOp module, const StripRegion &region,
                       int64_t height, const PipelineOptions &options) {
  mlir::MLIRContext *context = module.getContext();
  // A layer that cannot be cut there is no fault of the model.
  mlir::ScopedDiagnosticHandler quiet(
      context, [](mlir::Diagnostic &) { return mlir::success(); });
  Plan plan;
  mlir::OwningOpRef<mlir::ModuleOp> cut = module.clone();
  PatchOptions patch;
  patch.first = region.first;
  patch.last = region.last;
  patch.axis = region.axis;
  patch.strips = int64_t(llvm::divideCeil(region.rows, height));
  mlir::PassManager cutting(context);
  cutting.nest<mlir::func::FuncOp>().addPass(createPatch(patch));
  plan.passes = spellPasses(cutting);
  if (mlir::failed(cutting.run(*cut)))
    return plan;
  mlir::OwningOpRef<mlir::ModuleOp> planned = cut->clone();
  mlir::PassManager manager(context);
  buildLayersPipeline(manager, options);
  buildPlanPipeline(manager, options);
  if (mlir::failed(manager.run(*planned)))
    return plan;
  plan.module = std::move(cut);
  plan.demand = countRam(*planned);
  planned->walk([&](exec::CallOp call) {
    plan.multiplyAdds += int64_t(call.getMultiplyAdds());
  });
  return plan;
}

void StripSearch::search(const StripRegion &region) {
  constexpr int64_t impossible = std::numeric_limits<int64_t>::max();
  std::set<int64_t> fitting;
  auto plan = [&](int64_t height) {
    Plan plan = planStrips(module, region, height, options);
    if (!plan.module)
      return impossible;
    int64_t bytes = plan.demand.bytes;
    least = std::min(least, bytes);
    if (!plan.demand.fits(limit))
      return bytes;
    fitting.insert(height);
    if (!best.module || plan.multiplyAdds < best.multiplyAdds)
      best = std::move(plan);
    return bytes;
  };
  Heights heights(plan);
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

mlir::OwningOpRef<mlir::ModuleOp>
cutIntoStrips(mlir::ModuleOp module, int64_t limit, PipelineOptions &options,
              int64_t &least, std::string &passes) {
  StripSearch strips(module, limit, options, least);
  auto function = *module.getOps<mlir::func::FuncOp>().begin();
  llvm::SmallVector<StripRegion> regions = findStripRegions(function, limit);
  for (const StripRegion &region : llvm::ArrayRef(regions).take_front(
           std::min(regions.size(), kMaxRegions)))
    strips.search(region);
  passes = strips.best.passes;
  if (strips.best.module)
    return std::move(strips.best.module);
  // These do not depend on the limit: the least of them is what any limit
  // allows.
  regions = findStripRegions(function, std::numeric_limits<int64_t>::max());
  llvm::sort(regions, [](const StripRegion &a, const StripRegion &b) {
    return std::tie(a.leastBytes, a.first, a.last) <
           std::tie(b.leastBytes, b.first, b.last);
  });
  if (regions.size() > kMaxLeastRegions)
    regions.truncate(kMaxLeastRegions);
  // At last with routines that take little memory.
  for (int64_t ram : {options.maxRam, int64_t(0)}) {
    options.maxRam = ram;
    for (const StripRegion &region : regions) {
      if (strips.best.module || region.leastBytes >= least)
        break;
      strips.search(region);
    }
    if (strips.best.module)
      break;
  }
  passes = strips.best.passes;
  return std::move(strips.best.module);
}

} // namespace nnc::tools
