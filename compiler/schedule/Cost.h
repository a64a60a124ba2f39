//===- Cost.h - How long a call should take -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SCHEDULE_COST_H
#define NNC_COMPILER_SCHEDULE_COST_H

#include "compiler/schedule/Catalogue.h"
#include "dialects/target/Target.h"

namespace nnc {

/// What a layer computes and touches, whatever the routine.
struct LayerWork {
  double operations = 0; ///< multiply-adds, or what the routine has instead
  double epilogueOperations = 0;
  int64_t activationBytes = 0; ///< read and written
  int64_t weightBytes = 0;     ///< constants read
};

/// What computes an adapt, and its cost.
struct AdaptCost {
  const Routine *routine = nullptr; ///< none for a view
  llvm::SmallVector<int64_t> params;
  double seconds = 0; ///< kImpossible where nothing computes it
};

/// The estimate of unit costs from a target row: a call takes as long as its
/// arithmetic at the rate that the routine's inner loop reaches, or as its
/// bytes from the level that holds them, whichever is longer, and a fixed time
/// more.
class CostModel {
public:
  /// `weightBytes` of the whole model say where weights are read from.
  CostModel(target::MachineAttr machine, int64_t weightBytes)
      : machine(machine), weightBytes(weightBytes) {}

  target::MachineAttr getMachine() const { return machine; }

  /// Seconds of a layer that is `calls` of one routine.
  double getSeconds(const Routine &routine, llvm::ArrayRef<RoutineShape> calls,
                    llvm::ArrayRef<int64_t> params,
                    const LayerWork &work) const;

  /// The cheapest way from one layout to another.
  AdaptCost getAdapt(mlir::RankedTensorType from,
                     mlir::RankedTensorType to) const;

private:
  target::MachineAttr machine;
  int64_t weightBytes;
};

/// Bytes of all constants of `function`, each counted once.
int64_t getWeightBytes(mlir::func::FuncOp function);

} // namespace nnc

#endif // NNC_COMPILER_SCHEDULE_COST_H
