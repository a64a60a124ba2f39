//===- Decode.h - The routine that decodes a weight -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_DECODE_H
#define NNC_COMPILER_ROUTINES_DECODE_H

#include "compiler/routines/Cost.h"
#include "dialects/exec/Exec.h"

namespace nnc {

/// The routine that decodes a weight from its stored bytes, and its cost.
struct DecodeCost : UnitCost {
  const Routine *routine = nullptr; ///< null if there is none
};

/// Returns the cheapest routine that reads stored bytes of the type `stored`,
/// whose form `shape` describes, and writes a weight of the type `weight`.
DecodeCost findDecode(nn::ShapeAttr shape, mlir::RankedTensorType stored,
                      mlir::RankedTensorType weight, const CostModel &cost);

/// Checks the routine that `decode` names: it must be in the catalogue, run on
/// the machine and read this form. Reports what is wrong and what to do.
mlir::LogicalResult checkRoutine(nn::DecodeOp decode,
                                 target::MachineAttr machine);

/// Checks the stored bytes that `call` reads if its routine decodes weights.
/// Decoders trust these bytes, so damaged ones would make them access memory
/// out of bounds. Reports what is wrong.
mlir::LogicalResult checkStored(exec::CallOp call);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_DECODE_H
