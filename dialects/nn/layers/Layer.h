//===- Layer.h - Makes layers -----------------------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_LAYERS_LAYER_H
#define NNC_DIALECTS_NN_LAYERS_LAYER_H

#include "dialects/nn/Nn.h"

namespace nnc::nn {

/// Creates a layer without an epilogue that computes `result` of `inputs`.
/// `makeAnchor` creates the anchor with the same builder and returns its value;
/// its arguments are row-major.
LayerOp createAnchorLayer(
    mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
    mlir::RankedTensorType result, mlir::ValueRange inputs,
    llvm::function_ref<mlir::Value(mlir::ValueRange arguments)> makeAnchor);

/// Returns the element type with which a layer reads an operand, inputs before
/// extras, as its regions say. A form of a layer that is not in its place yet
/// (compiler/routines/LayerForms.h) has operands of other types.
mlir::Type getReadElement(LayerOp layer, unsigned operand);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_LAYERS_LAYER_H
