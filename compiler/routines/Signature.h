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

/// The types of a layer's operands and result with which a routine computes it.
struct Signature {
  /// The types of the inputs, followed by those of the extras.
  llvm::SmallVector<mlir::RankedTensorType> operands;
  mlir::RankedTensorType result;

  void moveTo(llvm::StringRef device);
};

/// Returns true if a value is a constant of the module.
bool isConstantValue(mlir::Value value);

/// Returns the row-major type with the elements as which the layer reads an
/// operand. If the layer is a form, this may differ from the operand's type,
/// which is the one that the original layer reads.
mlir::RankedTensorType getReadType(nn::LayerOp layer, unsigned operand);

/// Returns the family of the routines that compute the layer. `storage` owns
/// the characters of the result if necessary.
llvm::StringRef getFamily(nn::LayerOp layer, std::string &storage);

/// Returns the signature of `routine` for the layer, in which the layout `any`
/// stands wherever the routine accepts any layout. Returns nullopt if the
/// routine has no signature for the layer.
std::optional<Signature> getSignature(nn::LayerOp layer, const Routine &routine,
                                      nn::LayoutAttr any);

/// Returns the shapes of the layer's calls under `signature`. Returns an empty
/// list, and sets `problem` to the reason, if the anchor cannot compute with
/// these types or a shape does not fit its struct.
llvm::SmallVector<RoutineShape>
makeShapes(nn::LayerOp layer, const Signature &signature, std::string &problem);

/// Returns why `routine`, which is of the layer's family, cannot compute the
/// layer on the device `deviceName` of the machine in any layout, or an empty
/// string if it can. A layer of floats may have a routine that rounds them to
/// tf32 if `roundsToTf32`, or if the layer names that routine.
std::string getObstacle(nn::LayerOp layer, const Routine &routine,
                        target::MachineAttr machine, llvm::StringRef deviceName,
                        bool roundsToTf32 = false);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_SIGNATURE_H
