//===- Gpu.cpp - The machines whose host is a GPU -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/target/OwnGpu.h"
#include "dialects/target/Rows.h"
#include "dialects/target/Target.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DynamicLibrary.h"

#include <cstring>
#include <optional>

using namespace mlir;
using namespace nnc::target;

/// Returns the number of an architecture: 80 for "sm_80".
static unsigned getNumber(StringRef architecture) {
  unsigned number = 0;
  architecture.drop_front(strlen("sm_")).getAsInteger(10, number);
  return number;
}

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

LogicalResult GpuAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              ArrayAttr architectures, int64_t multiprocessors,
                              int64_t tensorF16, int64_t tensorI8,
                              int64_t launchNs, int64_t sharedKb,
                              int64_t residentThreads, CoreAttr) {
  auto isKnown = [](Attribute each) {
    auto name = llvm::dyn_cast<StringAttr>(each);
    unsigned number;
    return name && name.getValue().starts_with("sm_") &&
           !name.getValue().drop_front(3).getAsInteger(10, number);
  };
  if (architectures.empty() || !llvm::all_of(architectures, isKnown))
    return emitError() << "a GPU needs a list of architectures, each of which "
                          "is sm_ and a number";
  if (multiprocessors < 1 || tensorF16 < 1 || tensorI8 < 1 || sharedKb < 1 ||
      residentThreads < 1)
    return emitError() << "a GPU needs multiprocessors, tensor_f16, tensor_i8, "
                          "shared_kb and resident_threads above 0";
  if (launchNs < 0)
    return emitError() << "a GPU's launch_ns is not below 0";
  return success();
}

GpuAttr GpuAttr::withArchitectures(ArrayAttr others) const {
  return get(getContext(), others, getMultiprocessors(), getTensorF16(),
             getTensorI8(), getLaunchNs(), getSharedKb(), getResidentThreads(),
             getCore());
}

/// Converts multiply-adds per cycle of a multiprocessor to those per second of
/// the GPU.
static double getTensorRate(GpuAttr gpu, int64_t perCycle) {
  return 1e6 * static_cast<double>(gpu.getCore().getMhz() *
                                   gpu.getMultiprocessors() * perCycle);
}

double GpuAttr::getTensorPeakF16() const {
  return getTensorRate(*this, getTensorF16());
}

double GpuAttr::getTensorPeakI8() const {
  return getTensorRate(*this, getTensorI8());
}

//===----------------------------------------------------------------------===//
// The GPU of this machine
//===----------------------------------------------------------------------===//

/// Returns the function `name` of a library as a pointer to a function of type
/// F, or null if the library has none.
template <class F>
static F *getFunction(llvm::sys::DynamicLibrary &library, const char *name) {
  return reinterpret_cast<F *>(library.getAddressOfSymbol(name));
}

// nnc is built without CUDA's headers, so that the types and numbers of the
// driver's stable interface stand here: functions return 0 if they succeed, and
// 75 and 76 are the attributes with the two parts of the architecture's
// version.
static llvm::sys::DynamicLibrary openDriver() {
  std::string error;
  return llvm::sys::DynamicLibrary::getLibrary("libcuda.so.1", &error);
}

std::string nnc::target::findOwnGpuName() {
  auto library = openDriver();
  if (!library.isValid() || !findOwnGpu())
    return "";
  auto *getDevice = getFunction<int(int *, int)>(library, "cuDeviceGet");
  auto *getName =
      getFunction<int(char *, int, int)>(library, "cuDeviceGetName");
  int device;
  char name[256] = "";
  if (!getName || getDevice(&device, 0) != 0 ||
      getName(name, sizeof name - 1, device) != 0)
    return "";
  return name;
}

std::optional<unsigned> nnc::target::findOwnGpu() {
  auto library = openDriver();
  if (!library.isValid())
    return std::nullopt;
  auto *init = getFunction<int(unsigned)>(library, "cuInit");
  auto *getDevice = getFunction<int(int *, int)>(library, "cuDeviceGet");
  auto *getAttribute =
      getFunction<int(int *, int, int)>(library, "cuDeviceGetAttribute");
  int device, major, minor;
  if (!init || !getDevice || !getAttribute || init(0) != 0 ||
      getDevice(&device, 0) != 0 || getAttribute(&major, 75, device) != 0 ||
      getAttribute(&minor, 76, device) != 0)
    return std::nullopt;
  return 10 * major + minor;
}

std::string
nnc::target::findGpuObstacle(llvm::ArrayRef<std::string> architectures) {
  std::optional<unsigned> own = findOwnGpu();
  if (!own)
    return "there is no driver of CUDA or no GPU here";
  if (llvm::any_of(architectures, [&](StringRef each) {
        return runsOn(getNumber(each), *own);
      }))
    return "";
  return "the GPU here is sm_" + std::to_string(*own) +
         ", and the code is for " + llvm::join(architectures, " and ") +
         "; compile it with --target=cuda-native, or name the GPU's "
         "architecture in --target, too";
}

FailureOr<MachineAttr> nnc::target::detectGpu(Location location) {
  std::optional<unsigned> own = findOwnGpu();
  if (!own)
    return emitError(location)
           << "cuda-native asks the driver of CUDA for this machine's GPU, and "
              "there is no driver or no GPU; name the architecture, as in "
              "cuda-sm80";
  // Machine code for an architecture also runs on later ones with the same
  // first digits.
  const Row *best = nullptr;
  for (const Row &row : getRows()) {
    if (row.gpu.architecture[0] == '\0')
      continue;
    unsigned number = getNumber(row.gpu.architecture);
    if (runsOn(number, *own) &&
        (!best || getNumber(best->gpu.architecture) < number))
      best = &row;
  }
  if (!best)
    return emitError(location)
           << "this machine's GPU is of the architecture sm_" << *own
           << ", for which nnc has no target";
  return makeMachine(location.getContext(), *best);
}

//===----------------------------------------------------------------------===//
// Several GPUs
//===----------------------------------------------------------------------===//

FailureOr<MachineAttr> nnc::target::getSeveralGpus(StringRef names,
                                                   Location location) {
  MLIRContext *context = location.getContext();
  SmallVector<MachineAttr> machines;
  for (StringRef name : llvm::split(names, ',')) {
    FailureOr<MachineAttr> machine = getMachine(name, location);
    if (failed(machine))
      return failure();
    if (machine->getHost().getKind() != DeviceKind::gpu)
      return emitError(location)
             << "'" << names << "' has '" << name
             << "' in a list of targets; only GPUs can be listed, as in "
                "cuda-sm80,cuda-sm90";
    machines.push_back(*machine);
  }
  auto getArchitecture = [](MachineAttr machine) {
    return cast<StringAttr>(machine.getHost().getArchitectures()[0]).getValue();
  };
  llvm::sort(machines, [&](MachineAttr a, MachineAttr b) {
    return getNumber(getArchitecture(a)) < getNumber(getArchitecture(b));
  });
  machines.erase(llvm::unique(machines), machines.end());
  SmallVector<StringRef> architectures, flags, sorted;
  for (MachineAttr machine : machines) {
    architectures.push_back(getArchitecture(machine));
    flags.push_back(machine.getHost().getFlags());
    sorted.push_back(machine.getName());
  }
  // The oldest architecture is the one whose instructions all of them have.
  DeviceAttr oldest = machines.front().getHost();
  auto cost =
      cast<GpuAttr>(oldest.getCost())
          .withArchitectures(Builder(context).getStrArrayAttr(architectures));
  auto host = DeviceAttr::get(context, oldest.getName(), oldest.getIsas(),
                              oldest.getFeatures(), oldest.getSpaces(),
                              oldest.getCompiler(), llvm::join(flags, " "),
                              cost, oldest.getLinkMbS(), oldest.getLinkNs());
  MachineAttr first = machines.front();
  return MachineAttr::get(context, llvm::join(sorted, ","), first.getTriple(),
                          first.getChip(), ArrayAttr::get(context, {host}),
                          first.getEmulator(), first.getBoard());
}
