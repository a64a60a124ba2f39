//===- Core.cpp - The speed of a processor core ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/target/Costs.h"
#include "dialects/target/Target.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace nnc::target;

LogicalResult CoreAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t vectorBytes, int64_t vectorRegisters,
                               DenseI64ArrayAttr caches,
                               DenseI64ArrayAttr bandwidth, int64_t memory,
                               int64_t multiplyAdds, int64_t mhz,
                               int64_t exposed) {
  if (caches.size() != bandwidth.size())
    return emitError() << "a core has " << caches.size()
                       << " caches and the bandwidth of " << bandwidth.size();
  if (vectorBytes < 1 || vectorRegisters < 1 || memory < 1 ||
      multiplyAdds < 1 || mhz < 1)
    return emitError() << "a core needs vectors, memory_mb_s, multiply_adds "
                          "and mhz above 0";
  auto isPositive = [](int64_t value) { return value > 0; };
  if (!llvm::all_of(caches.asArrayRef(), isPositive) ||
      !llvm::all_of(bandwidth.asArrayRef(), isPositive))
    return emitError() << "a core's caches and their bandwidths are above 0;"
                          " leave out levels that it lacks";
  if (exposed < 0 || exposed > 100)
    return emitError() << "exposed is a percentage";
  return success();
}

DeviceKind DeviceAttr::getKind() const {
  return llvm::isa<GpuAttr>(getCost()) ? DeviceKind::gpu : DeviceKind::core;
}

CoreAttr DeviceAttr::getCore() const {
  if (auto gpu = llvm::dyn_cast<GpuAttr>(getCost()))
    return gpu.getCore();
  return llvm::cast<CoreAttr>(getCost());
}

ArrayRef<Attribute> DeviceAttr::getArchitectures() const {
  auto gpu = llvm::dyn_cast<GpuAttr>(getCost());
  return gpu ? gpu.getArchitectures().getValue() : ArrayRef<Attribute>();
}

bool DeviceAttr::hasIsa(StringRef isa) const {
  return llvm::any_of(getIsas().getAsValueRange<StringAttr>(),
                      [&](StringRef own) { return own == isa; });
}

double CoreAttr::getPeak() const {
  return 1e6 * static_cast<double>(getMhz() * getMultiplyAdds());
}

namespace {
/// A line of isas.inc.
struct Isa {
  StringLiteral name;
  int64_t bytes, elementBytes; ///< size of a vector and of one of its elements
  int64_t exponentialCycles, gateCycles, lookupCycles;
  bool isFused; ///< a multiply-add of floats rounds only once
  enum { neither, multipliesTiles, roundsIntegers } trait = neither;
  int64_t getLanes() const { return bytes / elementBytes; }
};
} // namespace

static constexpr Isa kIsas[] = {
#define VECTORS(bytes, element) bytes, element
#define EXPONENTIAL(cycles) cycles
#define GATE(cycles) cycles
#define LOOKUP(cycles) cycles
#define TILES Isa::multipliesTiles
#define ROUNDED Isa::roundsIntegers
#define FUSED(is) is
#define NNC_ISA(name, ...) {#name, __VA_ARGS__},
#include "dialects/target/isas.inc"
#undef VECTORS
#undef EXPONENTIAL
#undef GATE
#undef LOOKUP
#undef TILES
#undef ROUNDED
#undef FUSED
};

/// Returns the instruction set `name` on a core. Its vectors have the size in
/// its line, or that of the core's vectors if the line states none, and are
/// never wider than the core's.
static Isa getIsa(CoreAttr core, StringRef name) {
  int64_t own = core.getVectorBytes();
  for (Isa isa : kIsas)
    if (name == isa.name) {
      isa.bytes = std::min(isa.bytes ? isa.bytes : own, own);
      return isa;
    }
  return {"", own, sizeof(float), 0, 0, 0, false};
}

bool nnc::target::isVectorIsa(StringRef name) {
  return llvm::any_of(kIsas, [&](const Isa &isa) {
    return isa.name == name && isa.bytes >= 16;
  });
}

bool nnc::target::usesTiles(StringRef isa) {
  return llvm::any_of(kIsas, [&](const Isa &row) {
    return row.name == isa && row.trait == Isa::multipliesTiles;
  });
}

double CoreAttr::getVectorRate(StringRef name) const {
  // A core starts at most two vector multiply-adds per cycle. A core with
  // narrower units starts as many as their width allows.
  Isa isa = getIsa(*this, name);
  return std::min<double>(2, static_cast<double>(getMultiplyAdds()) *
                                 sizeof(float) / isa.bytes);
}

double CoreAttr::getPeak(StringRef name) const {
  Isa isa = getIsa(*this, name);
  const bool isBusy = isa.bytes < getVectorBytes() &&
                      getMultiplyAdds() < costs::kWideCoreMultiplyAdds;
  double share = isBusy ? costs::kNarrowVectorsShare : 1;
  return 1e6 * share * static_cast<double>(getMhz() * isa.getLanes()) *
         getVectorRate(name);
}

/// Returns the seconds per lane of a function that takes `cycles` cycles per
/// vector on a core that starts two vectors at a time.
static double getLaneSeconds(CoreAttr core, const Isa &isa, int64_t cycles) {
  return 2 / core.getVectorRate(isa.name) * static_cast<double>(cycles) /
         (1e6 * static_cast<double>(isa.getLanes() * core.getMhz()));
}

double CoreAttr::getExponentialSeconds(StringRef name) const {
  Isa isa = getIsa(*this, name);
  return getLaneSeconds(*this, isa, isa.exponentialCycles);
}

double CoreAttr::getGateSeconds(StringRef name) const {
  Isa isa = getIsa(*this, name);
  return getLaneSeconds(*this, isa, isa.gateCycles);
}

double CoreAttr::getLookupSeconds(StringRef name) const {
  Isa isa = getIsa(*this, name);
  return isVectorIsa(name) ? getLaneSeconds(*this, isa, isa.lookupCycles) : 0;
}

bool DeviceAttr::hasVectors() const {
  return llvm::any_of(
      getIsas().getAsValueRange<StringAttr>(), [&](StringRef name) {
        return name != "portable" && getIsa(getCore(), name).bytes >= 16;
      });
}

/// Returns the first of the instruction sets of a core, which is the best.
static Isa getBestIsa(DeviceAttr device) {
  return getIsa(device.getCore(),
                cast<StringAttr>(device.getIsas()[0]).getValue());
}

bool DeviceAttr::mayRoundIntegers() const {
  return getBestIsa(*this).trait == Isa::roundsIntegers;
}

bool DeviceAttr::hasFusedMultiplyAdd() const {
  return getBestIsa(*this).isFused;
}

int64_t DeviceAttr::getLookupCycles() const {
  return getBestIsa(*this).lookupCycles;
}

int64_t DeviceAttr::getExponentialCycles() const {
  return getBestIsa(*this).exponentialCycles;
}

bool CoreAttr::isNear(int64_t bytes) const {
  return llvm::any_of(getCaches().asArrayRef().take_front(2),
                      [&](int64_t size) { return bytes <= size; });
}

/// Converts bytes per cycle to bytes per second.
static double getPerSecond(CoreAttr core, int64_t perCycle) {
  return 1e6 * static_cast<double>(core.getMhz() * perCycle);
}

double CoreAttr::getLastBandwidth() const {
  ArrayRef<int64_t> bandwidth = getBandwidth().asArrayRef();
  return bandwidth.empty() ? 1e6 * static_cast<double>(getMemoryMbS())
                           : getPerSecond(*this, bandwidth.back());
}

int64_t CoreAttr::getLastBytes() const {
  ArrayRef<int64_t> caches = getCaches().asArrayRef();
  return caches.empty() ? 0 : *llvm::max_element(caches);
}

/// Returns the index of the second-level cache, or of the only cache if there
/// is no second level; nullopt if there are no caches.
static std::optional<size_t> getSecondLevel(CoreAttr core) {
  size_t count = core.getCaches().size();
  return count == 0 ? std::nullopt
                    : std::optional(std::min<size_t>(1, count - 1));
}

int64_t CoreAttr::getSecondBytes() const {
  std::optional<size_t> level = getSecondLevel(*this);
  return level ? getCaches()[*level] : 0;
}

double CoreAttr::getSecondBytesPerCycle() const {
  if (std::optional<size_t> level = getSecondLevel(*this))
    return static_cast<double>(getBandwidth()[*level]);
  return static_cast<double>(getMemoryMbS()) / static_cast<double>(getMhz());
}

std::optional<size_t> CoreAttr::getLevelFor(int64_t bytes) const {
  ArrayRef<int64_t> caches = getCaches().asArrayRef();
  for (auto [level, size] : llvm::enumerate(caches)) {
    // The last of several caches is shared with other cores and other data.
    bool isShared = level > 0 && level + 1 == caches.size();
    if (bytes <= (isShared ? size / costs::kSharedCacheParts : size))
      return level;
  }
  return std::nullopt;
}

double CoreAttr::getBandwidthFor(int64_t bytes) const {
  if (std::optional<size_t> level = getLevelFor(bytes))
    return getPerSecond(*this, getBandwidth()[*level]);
  return 1e6 * static_cast<double>(getMemoryMbS());
}

double CoreAttr::getReadSeconds(int64_t bytes) const {
  std::optional<size_t> last = getLevelFor(bytes);
  if (!last)
    return bytes / getBandwidthFor(bytes);
  ArrayRef<int64_t> caches = getCaches().asArrayRef();
  auto getSeconds = [&](size_t level) {
    return 1 / getPerSecond(*this, getBandwidth()[level]);
  };
  double seconds = 0;
  int64_t nearer = 0;
  for (size_t level = 0; level <= *last; ++level) {
    int64_t size = level < *last ? caches[level] : bytes;
    double perByte = getSeconds(level);
    // Weights that pass through the level displace a part of the activations,
    // which the next level holds.
    if (level > 0 && level + 1 < caches.size())
      perByte = costs::kMiddleCacheShare * perByte +
                (1 - costs::kMiddleCacheShare) * getSeconds(level + 1);
    seconds += perByte * static_cast<double>(size - nearer);
    nearer = size;
  }
  return seconds;
}
