//===- Detect.cpp - The machine that this process runs on -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/target/Costs.h"
#include "dialects/target/Rows.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace mlir;
using namespace nnc::target;

namespace {
/// A line of chips.inc.
struct Chip {
  const char *name;
  int64_t multiplyAdds, mhz, bandwidth[3], memory, exposed;
};
} // namespace

static constexpr Chip kChips[] = {
#define SPEED(multiply_adds, mhz) multiply_adds, mhz
#define BANDWIDTH(l1, l2, l3) {l1, l2, l3}
#define MEMORY(rate, exposed) rate, exposed
#define NNC_CHIP(...) {__VA_ARGS__},
#include "dialects/target/chips.inc"
};

/// Returns the first line of a file of the kernel, or an empty string.
static std::string readLine(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream(path);
  return buffer ? (*buffer)->getBuffer().split('\n').first.str() : "";
}

/// Returns the size of the host's data cache of a level in bytes, or 0 if Linux
/// does not report it.
static int64_t getHostCache(unsigned level) {
  for (unsigned index = 0; index < 8; ++index) {
    std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    std::string size = readLine(folder + "/size");
    int64_t kibibytes = 0;
    if (readLine(folder + "/level") == std::to_string(level) &&
        readLine(folder + "/type") != "Instruction" &&
        !StringRef(size).rtrim('K').getAsInteger(10, kibibytes))
      return kibibytes * 1024;
  }
  return 0;
}

/// Returns true if Linux reports arithmetic on 16-bit floats, which LLVM's
/// feature detection does not cover.
static bool hostHasHalves() {
  auto info = llvm::MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  return info && (*info)->getBuffer().contains(" asimdhp");
}

/// Returns true if Linux lets this process use the tiles of AMX. A processor
/// may have them while its kernel, or the machine that it is a guest of, does
/// not save them.
static bool kernelGrantsTiles() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr int kRequestPermission = 0x1023; // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;              // XFEATURE_XTILEDATA
  static const bool isGranted =
      syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return isGranted;
#else
  return false;
#endif
}

bool nnc::target::hostHas(StringRef feature) {
  if (feature == "fullfp16")
    return hostHasHalves();
  static const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  return features.lookup(feature) &&
         (!feature.starts_with("amx-") || kernelGrantsTiles());
}

/// Returns true if this host can run code for the row: it has the architecture
/// and every feature.
static bool runsHere(const Row &row, const llvm::Triple &host) {
  // This process runs neither on a board, which has no operating system, nor on
  // a GPU.
  if (row.isHidden || row.board[0] != '\0' || row.gpu.architecture[0] != '\0')
    return false;
  if (row.triple[0] != '\0' &&
      llvm::Triple(row.triple).getArch() != host.getArch())
    return false;
  return llvm::all_of(llvm::split(row.core.needs, ','), [](StringRef feature) {
    return feature.empty() || hostHas(feature);
  });
}

MachineAttr nnc::target::detectMachine(MLIRContext *context) {
  context->getOrLoadDialect<TargetDialect>();
  llvm::Triple host(llvm::sys::getProcessTriple());
  const Row *best = nullptr;
  for (const Row &row : getRows()) {
    auto count = [](const Row &r) {
      return llvm::count_if(r.core.isas, [](const char *isa) { return isa; });
    };
    if (runsHere(row, host) && (!best || count(row) > count(*best)))
      best = &row;
  }
  Row found = *best; // the portable row runs everywhere
  CoreRow &core = found.core;
  for (unsigned level = 1; level <= 3; ++level)
    if (int64_t bytes = getHostCache(level)) {
      core.caches[level - 1] =
          std::min<int64_t>(bytes, costs::kLargestLastCache);
      if (core.bandwidth[level - 1] == 0)
        core.bandwidth[level - 1] =
            level > 1 ? core.bandwidth[level - 2] : core.vectorBytes;
    }
  StringRef cpu = llvm::sys::getHostCPUName();
  for (const Chip &chip : kChips)
    if (cpu == chip.name) {
      core.multiplyAdds = chip.multiplyAdds;
      core.mhz = chip.mhz;
      llvm::copy(chip.bandwidth, core.bandwidth);
      core.memory = chip.memory;
      core.exposed = chip.exposed;
    }
  core.compiler = "c++";
  found.emulator = "";
  MachineAttr machine = makeMachine(context, found);
  return MachineAttr::get(context, "native", machine.getTriple(), cpu,
                          machine.getDevices(), machine.getEmulator(),
                          machine.getBoard());
}
