//===- Signature.h - The types that a routine reads and writes ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_SIGNATURE_H
#define NNC_COMPILER_ROUTINES_SIGNATURE_H

#include "compiler/routines/Catalogue.h"
#include "dialects/nn/Nn.h"
#include "dialects/target/Target.h"

#include <optional>
#include <string>

namespace nnc {

/// The types of a layer's operands and result that a routine takes.
struct Signature {
  /// Those of the inputs, then of the extras.
  llvm::SmallVector<mlir::RankedTensorType> operands;
  mlir::RankedTensorType result;

  void moveTo(llvm::StringRef device);
};

/// Returns whether a value is a constant of the module.
bool isConstantValue(mlir::Value value);

/// Returns the row-major type with the elements that the layer reads an operand
/// as. The operand of a form has the type that the layer itself reads.
mlir::RankedTensorType getReadType(nn::LayerOp layer, unsigned operand);

/// Returns the family of the routines that compute the layer. `storage` keeps
/// the name.
llvm::StringRef getFamily(nn::LayerOp layer, std::string &storage);

/// Returns the signature of `routine` for the layer, with the layout `any` for
/// what the routine leaves open; nullopt where it has none.
std::optional<Signature> getSignature(nn::LayerOp layer, const Routine &routine,
                                      nn::LayoutAttr any);

/// Returns the shapes of the layer's calls under `signature`; none where the
/// anchor cannot compute so, or a shape does not fit its struct. `problem` says
/// which it is.
llvm::SmallVector<RoutineShape>
makeShapes(nn::LayerOp layer, const Signature &signature, std::string &problem);

/// Returns why `routine`, which is of the layer's family, cannot compute the
/// layer on a device of the machine in any layout, or an empty string if it
/// can.
std::string getObstacle(nn::LayerOp layer, const Routine &routine,
                        target::MachineAttr machine,
                        llvm::StringRef deviceName);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_SIGNATURE_H
