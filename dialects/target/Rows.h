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

/// A line of targets.inc; its fields are those of MachineAttr.
struct Row {
  const char *name, *triple;
  const char *isas[8];
  const char *needs; ///< LLVM's feature names, comma between
  int64_t vectorBytes, vectorRegisters;
  int64_t align; ///< of the arena, of weights and of tensors, in bytes
  int64_t caches[3], bandwidth[3]; ///< 0 for levels that there are not
  int64_t memory, multiplyAdds, mhz;
  const char *compiler, *flags, *emulator;
  const char *board = ""; ///< of a machine without an operating system
  /// The default, if no line of the row sets another.
  int64_t exposed = costs::kUsualExposedPercent;
};

llvm::ArrayRef<Row> getRows();

MachineAttr makeMachine(mlir::MLIRContext *context, const Row &row);

} // namespace nnc::target

#endif // NNC_DIALECTS_TARGET_ROWS_H
