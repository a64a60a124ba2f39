//===- Target.cpp - The table of machines ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/target/Target.h"
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
                                  StringRef, StringRef, int64_t exposed) {
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
  if (exposed < 0 || exposed > 100)
    return emitError() << "exposed is a percentage";
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
  int64_t bytes, elementBytes, exponentialCycles, gateCycles;
  int64_t getLanes() const { return bytes / elementBytes; }
};
} // namespace

/// Its vectors are those of the target where it says nothing.
static Isa getIsa(MachineAttr machine, StringRef name) {
  static constexpr Isa isas[] = {
#define NNC_ISA(name, bytes, element, exponential, gate)                       \
  {#name, bytes, element, exponential, gate},
#include "dialects/target/isas.inc"
  };
  int64_t own = machine.getVectorBytes();
  for (Isa isa : isas)
    if (name == isa.name) {
      isa.bytes = std::min(isa.bytes ? isa.bytes : own, own);
      return isa;
    }
  return {"", own, sizeof(float), 0, 0};
}

double MachineAttr::getVectorRate(StringRef name) const {
  // A core starts two multiply-adds of vectors in a cycle, as far as it can.
  Isa isa = getIsa(*this, name);
  return std::min<double>(2, static_cast<double>(getMultiplyAdds()) *
                                 sizeof(float) / isa.bytes);
}

double MachineAttr::getPeak(StringRef name) const {
  // Vectors narrower than its own take more instructions for the same, for
  // which a core is not always free, unless it is as wide as those that begin
  // two vectors of 64 bytes at a time.
  constexpr double narrow = 0.93;
  Isa isa = getIsa(*this, name);
  const bool isBusy = isa.bytes < getVectorBytes() && getMultiplyAdds() < 32;
  double share = isBusy ? narrow : 1;
  return 1e6 * share * static_cast<double>(getMhz() * isa.getLanes()) *
         getVectorRate(name);
}

/// Of each lane, where two vectors at a time take so many cycles.
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

bool MachineAttr::isNear(int64_t bytes) const {
  return llvm::any_of(getCaches().asArrayRef().take_front(2),
                      [&](int64_t size) { return bytes <= size; });
}

/// Bytes a second of so many a cycle.
static double getPerSecond(MachineAttr machine, int64_t perCycle) {
  return 1e6 * static_cast<double>(machine.getMhz() * perCycle);
}

double MachineAttr::getLastBandwidth() const {
  for (int64_t perCycle : llvm::reverse(getBandwidth().asArrayRef()))
    if (perCycle > 0)
      return getPerSecond(*this, perCycle);
  return 1e6 * static_cast<double>(getMemoryMbS());
}

int64_t MachineAttr::getLastBytes() const {
  return *llvm::max_element(getCaches().asArrayRef());
}

std::optional<size_t> MachineAttr::getLevelFor(int64_t bytes) const {
  ArrayRef<int64_t> caches = getCaches().asArrayRef();
  for (auto [level, size] : llvm::enumerate(caches)) {
    // The last of several is shared with other cores and other data.
    bool isShared = level > 0 && level + 1 == caches.size();
    if (bytes <= (isShared ? size / 3 : size))
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
    // Weights that come by push half of it out.
    if (level > 0 && level + 1 < caches.size() && caches[level + 1] > 0)
      perByte = (perByte + getSeconds(level + 1)) / 2;
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
#define CACHES(l1, l2, l3) {l1, l2, l3}
#define BANDWIDTH(l1, l2, l3) {l1, l2, l3}
#define MEMORY(rate) rate
#define SPEED(multiply_adds, mhz) multiply_adds, mhz
#define COMPILER(command) command
#define FLAGS(flags) flags
#define EMULATOR(command) command
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
      row.mhz, row.compiler, row.flags, row.emulator, row.exposed);
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
