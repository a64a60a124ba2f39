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
#include "llvm/ADT/StringSet.h"
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

static bool areNames(ArrayAttr list) {
  return llvm::all_of(list, llvm::IsaPred<StringAttr>);
}

LogicalResult SpaceAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                StringRef name, int64_t align) {
  if (name.empty())
    return emitError() << "a memory space needs a name";
  // 64-bit numbers are read directly from aligned memory.
  if (align < 8 || !llvm::isPowerOf2_64(align))
    return emitError() << "align is a power of two, 8 at least";
  return success();
}

LogicalResult DeviceAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef name, ArrayAttr isas,
                                 ArrayAttr features, ArrayAttr spaces,
                                 StringRef, StringRef, Attribute cost,
                                 int64_t linkMbS, int64_t linkNs) {
  if (name.empty())
    return emitError() << "a device needs a name";
  if (isas.empty() || !areNames(isas))
    return emitError() << "a device needs the names of its isas";
  if (!areNames(features))
    return emitError() << "a device's features are names";
  if (spaces.empty() || !llvm::all_of(spaces, llvm::IsaPred<SpaceAttr>))
    return emitError() << "a device needs a list of #target.space";
  if (!llvm::isa<CoreAttr, GpuAttr>(cost))
    return emitError() << "a device needs as cost the attribute of a kind of "
                          "devices: #target.core or #target.gpu";
  if (linkMbS < 0 || linkNs < 0)
    return emitError() << "a device's link_mb_s and link_ns are not below 0";
  return success();
}

LogicalResult MachineAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  StringRef, StringRef, StringRef,
                                  ArrayAttr devices, StringRef, StringRef) {
  if (devices.empty() || !llvm::all_of(devices, llvm::IsaPred<DeviceAttr>))
    return emitError() << "a machine needs a list of #target.device, the host "
                          "first";
  llvm::StringSet<> names;
  for (auto device : devices.getAsRange<DeviceAttr>()) {
    bool isHost = names.empty();
    if (!names.insert(device.getName()).second)
      return emitError() << "a machine has two devices named '"
                         << device.getName() << "'";
    if (!isHost && device.getLinkMbS() == 0)
      return emitError() << "each device but the machine's host needs a "
                            "link_mb_s above 0";
  }
  return success();
}

DeviceAttr DeviceAttr::withCost(Attribute cost) const {
  return get(getContext(), getName(), getIsas(), getFeatures(), getSpaces(),
             getCompiler(), getFlags(), cost, getLinkMbS(), getLinkNs());
}

DeviceAttr MachineAttr::findDevice(StringRef name) const {
  if (name.empty())
    return getHost();
  for (auto device : getDevices().getAsRange<DeviceAttr>())
    if (device.getName() == name)
      return device;
  return {};
}

MachineAttr MachineAttr::withHost(DeviceAttr host) const {
  SmallVector<Attribute> devices(getDevices().getValue());
  devices.front() = host;
  return get(getContext(), getName(), getTriple(), getChip(),
             ArrayAttr::get(getContext(), devices), getEmulator(), getBoard());
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
#define LINK(mb_s, ns) mb_s, ns
#define MULTIPROCESSORS(count, shared_kb, threads) count, shared_kb, threads
#define TENSORS(f16, i8) f16, i8
#define LAUNCH(ns) ns
#define GPU(...) /*board=*/                                                    \
  "", /*isHidden=*/false, GpuRow { __VA_ARGS__ }
#define TESTS_ONLY /*isHidden=*/ true
#define NNC_TARGET(name, triple, isas, needs, vectors, align, caches,          \
                   bandwidth, memory, speed, compiler, flags, ...)             \
  {name,                                                                       \
   triple,                                                                     \
   {isas, needs, vectors, align, caches, bandwidth, memory, speed, compiler,   \
    flags},                                                                    \
   __VA_ARGS__},
#include "dialects/target/targets.inc"
  };
  return rows;
}

static ArrayRef<DeviceRow> getDeviceRows() {
  static constexpr DeviceRow rows[] = {
#define NNC_DEVICE(machine, name, isas, needs, vectors, align, caches,         \
                   bandwidth, memory, speed, compiler, flags, ...)             \
  {machine,                                                                    \
   name,                                                                       \
   {isas, needs, vectors, align, caches, bandwidth, memory, speed, compiler,   \
    flags},                                                                    \
   __VA_ARGS__},
#include "dialects/target/devices.inc"
  };
  return rows;
}

/// Returns the device that a row describes. `linkMbS` and `linkNs` describe its
/// link to the host; both are 0 for the host itself.
static DeviceAttr makeDevice(Builder &builder, StringRef name,
                             const CoreRow &row, int64_t linkMbS,
                             int64_t linkNs, const GpuRow &gpu = {}) {
  MLIRContext *context = builder.getContext();
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
  auto core = CoreAttr::get(context, row.vectorBytes, row.vectorRegisters,
                            builder.getDenseI64ArrayAttr(caches),
                            builder.getDenseI64ArrayAttr(bandwidth), row.memory,
                            row.multiplyAdds, row.mhz, row.exposed);
  Attribute cost = core;
  if (gpu.architecture[0] != '\0')
    cost = GpuAttr::get(context, builder.getStrArrayAttr({gpu.architecture}),
                        gpu.multiprocessors, gpu.tensorF16, gpu.tensorI8,
                        gpu.launchNs, gpu.sharedKb, gpu.residentThreads, core);
  return DeviceAttr::get(
      context, name, builder.getStrArrayAttr(isas),
      builder.getStrArrayAttr(features),
      builder.getArrayAttr(SpaceAttr::get(context, "ram", row.align)),
      row.compiler, row.flags, cost, linkMbS, linkNs);
}

MachineAttr nnc::target::makeMachine(MLIRContext *context, const Row &row) {
  Builder builder(context);
  SmallVector<Attribute> devices = {makeDevice(builder, "host", row.core,
                                               /*linkMbS=*/0, /*linkNs=*/0,
                                               row.gpu)};
  for (const DeviceRow &device : getDeviceRows())
    if (device.machine == StringRef(row.name))
      devices.push_back(makeDevice(builder, device.name, device.core,
                                   device.linkMbS, device.linkNs));
  return MachineAttr::get(context, row.name, row.triple, "",
                          builder.getArrayAttr(devices), row.emulator,
                          row.board);
}

SmallVector<MachineAttr> nnc::target::getMachines(MLIRContext *context) {
  context->getOrLoadDialect<TargetDialect>();
  SmallVector<MachineAttr> machines;
  for (const Row &row : getRows())
    if (!row.isHidden)
      machines.push_back(makeMachine(context, row));
  return machines;
}

FailureOr<MachineAttr> nnc::target::getMachine(StringRef name,
                                               Location location) {
  MLIRContext *context = location.getContext();
  if (name == "native")
    return detectMachine(context);
  context->getOrLoadDialect<TargetDialect>();
  if (name == "cuda-native")
    return detectGpu(location);
  if (name.contains(','))
    return getSeveralGpus(name, location);
  SmallVector<StringRef> names = {"native"};
  for (const Row &row : getRows()) {
    if (row.name == name)
      return makeMachine(context, row);
    if (!row.isHidden)
      names.push_back(row.name);
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
