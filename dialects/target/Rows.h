//===- Rows.h - The tables of targets as data -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_TARGET_ROWS_H
#define NNC_DIALECTS_TARGET_ROWS_H

#include "dialects/target/Costs.h"
#include "dialects/target/Target.h"

namespace nnc::target {

/// The fields of a line of targets.inc or devices.inc that describe a device of
/// the kind core. DeviceAttr, SpaceAttr and CoreAttr have the same fields.
struct CoreRow {
  const char *isas[8];
  const char *needs; ///< LLVM's feature names, separated by commas
  int64_t vectorBytes, vectorRegisters;
  int64_t align; ///< alignment of arena, weights and tensors, in bytes
  int64_t caches[3], bandwidth[3]; ///< 0 for cache levels that do not exist
  int64_t memory, multiplyAdds, mhz;
  const char *compiler, *flags;
  /// The percentage of the shorter of compute and memory time that is not
  /// hidden behind the longer. A line of chips.inc may replace this default.
  int64_t exposed = costs::kUsualExposedPercent;
};

/// The further figures of a GPU in its entry, from which its GpuAttr is made.
struct GpuRow {
  const char *architecture = ""; ///< such as "sm_80"; empty: this is no GPU
  int64_t multiprocessors = 0, sharedKb = 0, residentThreads = 0;
  int64_t tensorF16 = 0, tensorI8 = 0, launchNs = 0;
};

/// A line of targets.inc: a machine and its host.
struct Row {
  const char *name, *triple;
  CoreRow core;
  const char *emulator;
  const char *board = ""; ///< only for machines without an operating system
  bool isHidden = false;  ///< only for the project's own tests; not listed
  GpuRow gpu = {};
};

/// A line of devices.inc: a device beside the host of a machine.
struct DeviceRow {
  const char *machine, *name;
  CoreRow core;
  int64_t linkMbS, linkNs;
};

/// Returns all lines of targets.inc, including hidden ones.
llvm::ArrayRef<Row> getRows();

/// Returns the machine of the row for the GPU that CUDA reports first on this
/// machine. Emits an error and fails if there is none.
mlir::FailureOr<MachineAttr> detectGpu(mlir::Location location);

/// Returns a machine for several GPUs, whose names `names` separates by commas.
/// Its code runs on each of them, and estimates are for the first. Emits an
/// error and fails if a name is that of no GPU.
mlir::FailureOr<MachineAttr> getSeveralGpus(llvm::StringRef names,
                                            mlir::Location location);

MachineAttr makeMachine(mlir::MLIRContext *context, const Row &row);

} // namespace nnc::target

#endif // NNC_DIALECTS_TARGET_ROWS_H
