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

/// What a line of targets.inc or devices.inc says of a device of the kind core;
/// its fields are those of DeviceAttr, SpaceAttr and CoreAttr.
struct CoreRow {
  const char *isas[8];
  const char *needs; ///< LLVM's feature names, comma between
  int64_t vectorBytes, vectorRegisters;
  int64_t align; ///< of the arena, of weights and of tensors, in bytes
  int64_t caches[3], bandwidth[3]; ///< 0 for levels that there are not
  int64_t memory, multiplyAdds, mhz;
  const char *compiler, *flags;
  /// The default, if no line of chips.inc sets another.
  int64_t exposed = costs::kUsualExposedPercent;
};

/// A line of targets.inc: a machine and its host.
struct Row {
  const char *name, *triple;
  CoreRow core;
  const char *emulator;
  const char *board = ""; ///< of a machine without an operating system
  bool isHidden = false;  ///< for the project's own tests, and not listed
};

/// A line of devices.inc: a device beside the host of a machine.
struct DeviceRow {
  const char *machine, *name;
  CoreRow core;
  int64_t linkMbS, linkNs;
};

/// All lines of targets.inc, hidden ones too.
llvm::ArrayRef<Row> getRows();

MachineAttr makeMachine(mlir::MLIRContext *context, const Row &row);

} // namespace nnc::target

#endif // NNC_DIALECTS_TARGET_ROWS_H
