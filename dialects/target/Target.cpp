//===- Target.cpp - The table of machines ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/target/Target.h"
#include "dialects/target/Costs.h"
#include "dialects/target/Rows.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nnc::target;

#include "dialects/target/TargetDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/target/TargetAttrs.cpp.inc"

void TargetDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/target/TargetAttrs.cpp.inc"
      >();
}

LogicalResult MachineAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  StringRef, StringRef, StringRef,
                                  ArrayAttr isas, ArrayAttr features,
                                  int64_t vectorBytes, int64_t vectorRegisters,
                                  DenseI64ArrayAttr caches,
                                  DenseI64ArrayAttr bandwidth, int64_t memory,
                                  int64_t multiplyAdds, int64_t mhz, StringRef,
                                  StringRef, StringRef, int64_t exposed,
                                  int64_t align, StringRef) {
  if (isas.empty() || !llvm::all_of(isas, llvm::IsaPred<StringAttr>))
    return emitError() << "a machine needs the names of its isas";
  if (!llvm::all_of(features, llvm::IsaPred<StringAttr>))
    return emitError() << "a machine's features are names";
  if (caches.size() != bandwidth.size())
    return emitError() << "a machine has " << caches.size()
                       << " caches and the bandwidth of " << bandwidth.size();
  if (vectorBytes < 1 || vectorRegisters < 1 || memory < 1 ||
      multiplyAdds < 1 || mhz < 1)
    return emitError() << "a machine needs vectors, memory_mb_s, "
                          "multiply_adds and mhz above 0";
  auto isPositive = [](int64_t value) { return value > 0; };
  if (!llvm::all_of(caches.asArrayRef(), isPositive) ||
      !llvm::all_of(bandwidth.asArrayRef(), isPositive))
    return emitError() << "a machine's caches and their bandwidths are above 0;"
                          " leave out levels that it lacks";
  if (exposed < 0 || exposed > 100)
    return emitError() << "exposed is a percentage";
  // Numbers of 64 bits are read as such.
  if (align < 8 || !llvm::isPowerOf2_64(align))
    return emitError() << "align is a power of two, 8 at least";
  return success();
}

bool MachineAttr::hasIsa(StringRef isa) const {
  return llvm::any_of(getIsas().getAsValueRange<StringAttr>(),
                      [&](StringRef own) { return own == isa; });
}

double MachineAttr::getPeak() const {
  return 1e6 * static_cast<double>(getMhz() * getMultiplyAdds());
}

namespace {
/// A line of isas.inc.
struct Isa {
  StringLiteral name;
  int64_t bytes, elementBytes; ///< size of a vector and of one of its elements
  int64_t exponentialCycles, gateCycles, lookupCycles;
  int64_t getLanes() const { return bytes / elementBytes; }
};
} // namespace

static constexpr Isa kIsas[] = {
#define VECTORS(bytes, element) bytes, element
#define EXPONENTIAL(cycles) cycles
#define GATE(cycles) cycles
#define LOOKUP(cycles) cycles
#define NNC_ISA(name, ...) {#name, __VA_ARGS__},
#include "dialects/target/isas.inc"
#undef VECTORS
#undef EXPONENTIAL
#undef GATE
#undef LOOKUP
};

/// The instruction set `name` on a machine. It has the machine's vectors where
/// its line says nothing, and never wider ones.
static Isa getIsa(MachineAttr machine, StringRef name) {
  int64_t own = machine.getVectorBytes();
  for (Isa isa : kIsas)
    if (name == isa.name) {
      isa.bytes = std::min(isa.bytes ? isa.bytes : own, own);
      return isa;
    }
  return {"", own, sizeof(float), 0, 0, 0};
}

bool nnc::target::isVectorIsa(StringRef name) {
  return llvm::any_of(kIsas, [&](const Isa &isa) {
    return isa.name == name && isa.bytes >= 16;
  });
}

double MachineAttr::getVectorRate(StringRef name) const {
  // A core starts at most two multiply-adds of vectors in a cycle. One with
  // narrower units starts as many as their width allows.
  Isa isa = getIsa(*this, name);
  return std::min<double>(2, static_cast<double>(getMultiplyAdds()) *
                                 sizeof(float) / isa.bytes);
}

double MachineAttr::getPeak(StringRef name) const {
  Isa isa = getIsa(*this, name);
  const bool isBusy = isa.bytes < getVectorBytes() &&
                      getMultiplyAdds() < costs::kWideCoreMultiplyAdds;
  double share = isBusy ? costs::kNarrowVectorsShare : 1;
  return 1e6 * share * static_cast<double>(getMhz() * isa.getLanes()) *
         getVectorRate(name);
}

/// Seconds for each lane of a function whose vectors take `cycles` cycles each
/// on a core that starts two vectors at a time.
static double getLaneSeconds(MachineAttr machine, const Isa &isa,
                             int64_t cycles) {
  return 2 / machine.getVectorRate(isa.name) * static_cast<double>(cycles) /
         (1e6 * static_cast<double>(isa.getLanes() * machine.getMhz()));
}

double MachineAttr::getExponentialSeconds(StringRef name) const {
  Isa isa = getIsa(*this, name);
  return getLaneSeconds(*this, isa, isa.exponentialCycles);
}

double MachineAttr::getGateSeconds(StringRef name) const {
  Isa isa = getIsa(*this, name);
  return getLaneSeconds(*this, isa, isa.gateCycles);
}

/// Returns the first of the instruction sets of a machine, which is the best.
bool MachineAttr::hasVectors() const {
  return llvm::any_of(
      getIsas().getAsValueRange<StringAttr>(), [&](StringRef name) {
        return name != "portable" && getIsa(*this, name).bytes >= 16;
      });
}

static Isa getBestIsa(MachineAttr machine) {
  return getIsa(machine, cast<StringAttr>(machine.getIsas()[0]).getValue());
}

int64_t MachineAttr::getLookupCycles() const {
  return getBestIsa(*this).lookupCycles;
}

int64_t MachineAttr::getExponentialCycles() const {
  return getBestIsa(*this).exponentialCycles;
}

bool MachineAttr::isNear(int64_t bytes) const {
  return llvm::any_of(getCaches().asArrayRef().take_front(2),
                      [&](int64_t size) { return bytes <= size; });
}

/// Bytes a second, from bytes a cycle.
static double getPerSecond(MachineAttr machine, int64_t perCycle) {
  return 1e6 * static_cast<double>(machine.getMhz() * perCycle);
}

double MachineAttr::getLastBandwidth() const {
  ArrayRef<int64_t> bandwidth = getBandwidth().asArrayRef();
  return bandwidth.empty() ? 1e6 * static_cast<double>(getMemoryMbS())
                           : getPerSecond(*this, bandwidth.back());
}

int64_t MachineAttr::getLastBytes() const {
  ArrayRef<int64_t> caches = getCaches().asArrayRef();
  return caches.empty() ? 0 : *llvm::max_element(caches);
}

/// The second-level cache, the only one where there is no second, or none.
static std::optional<size_t> getSecondLevel(MachineAttr machine) {
  size_t count = machine.getCaches().size();
  return count == 0 ? std::nullopt
                    : std::optional(std::min<size_t>(1, count - 1));
}

int64_t MachineAttr::getSecondBytes() const {
  std::optional<size_t> level = getSecondLevel(*this);
  return level ? getCaches()[*level] : 0;
}

double MachineAttr::getSecondBytesPerCycle() const {
  if (std::optional<size_t> level = getSecondLevel(*this))
    return static_cast<double>(getBandwidth()[*level]);
  return static_cast<double>(getMemoryMbS()) / static_cast<double>(getMhz());
}

std::optional<size_t> MachineAttr::getLevelFor(int64_t bytes) const {
  ArrayRef<int64_t> caches = getCaches().asArrayRef();
  for (auto [level, size] : llvm::enumerate(caches)) {
    // The last of several caches is shared with other cores and other data.
    bool isShared = level > 0 && level + 1 == caches.size();
    if (bytes <= (isShared ? size / costs::kSharedCacheParts : size))
      return level;
  }
  return std::nullopt;
}

double MachineAttr::getBandwidthFor(int64_t bytes) const {
  if (std::optional<size_t> level = getLevelFor(bytes))
    return getPerSecond(*this, getBandwidth()[*level]);
  return 1e6 * static_cast<double>(getMemoryMbS());
}

double MachineAttr::getReadSeconds(int64_t bytes) const {
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

ArrayRef<Row> nnc::target::getRows() {
  static constexpr Row rows[] = {
#define ISAS(...) {__VA_ARGS__}
#define NEEDS(features) features
#define VECTORS(bytes, registers) bytes, registers
#define ALIGN(bytes) bytes
#define CACHES(l1, l2, l3) {l1, l2, l3}
#define BANDWIDTH(l1, l2, l3) {l1, l2, l3}
#define MEMORY(rate) rate
#define SPEED(multiply_adds, mhz) multiply_adds, mhz
#define COMPILER(command) command
#define FLAGS(flags) flags
#define EMULATOR(command) command
#define BOARD(name) name
#define NNC_TARGET(...) {__VA_ARGS__},
#include "dialects/target/targets.inc"
  };
  return rows;
}

MachineAttr nnc::target::makeMachine(MLIRContext *context, const Row &row) {
  Builder builder(context);
  SmallVector<StringRef> isas;
  for (const char *isa : row.isas)
    if (isa)
      isas.push_back(isa);
  SmallVector<StringRef> features;
  StringRef(row.needs).split(features, ',', -1, /*KeepEmpty=*/false);
  SmallVector<int64_t> caches, bandwidth;
  for (auto [size, perCycle] : llvm::zip(row.caches, row.bandwidth))
    if (size > 0) {
      caches.push_back(size);
      bandwidth.push_back(perCycle);
    }
  return MachineAttr::get(
      context, row.name, row.triple, "", builder.getStrArrayAttr(isas),
      builder.getStrArrayAttr(features), row.vectorBytes, row.vectorRegisters,
      builder.getDenseI64ArrayAttr(caches),
      builder.getDenseI64ArrayAttr(bandwidth), row.memory, row.multiplyAdds,
      row.mhz, row.compiler, row.flags, row.emulator, row.exposed, row.align,
      row.board);
}

SmallVector<MachineAttr> nnc::target::getMachines(MLIRContext *context) {
  context->getOrLoadDialect<TargetDialect>();
  SmallVector<MachineAttr> machines;
  for (const Row &row : getRows())
    machines.push_back(makeMachine(context, row));
  return machines;
}

FailureOr<MachineAttr> nnc::target::getMachine(StringRef name,
                                               Location location) {
  MLIRContext *context = location.getContext();
  if (name == "native")
    return detectMachine(context);
  SmallVector<StringRef> names = {"native"};
  for (MachineAttr machine : getMachines(context)) {
    if (machine.getName() == name)
      return machine;
    names.push_back(machine.getName());
  }
  return emitError(location) << "there is no target '" << name
                             << "'; choose one of " << llvm::join(names, ", ");
}

FailureOr<MachineAttr> nnc::target::setTarget(ModuleOp module, StringRef name) {
  if (name.empty())
    return getTarget(module);
  FailureOr<MachineAttr> machine = getMachine(name, module.getLoc());
  if (succeeded(machine))
    module->setAttr(kTargetAttr, *machine);
  return machine;
}

FailureOr<MachineAttr> nnc::target::getTarget(ModuleOp module) {
  if (auto machine = module->getAttrOfType<MachineAttr>(kTargetAttr))
    return machine;
  return emitError(module.getLoc())
         << "the module has no target: give nnc-choose-routines the option "
            "target=..., or the module the attribute "
         << kTargetAttr;
}
