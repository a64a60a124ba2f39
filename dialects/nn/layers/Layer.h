//===- Layer.h - Makes layers -----------------------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_LAYERS_LAYER_H
#define NNC_DIALECTS_NN_LAYERS_LAYER_H

#include "dialects/nn/Nn.h"

namespace nnc::nn {

/// Creates a layer without an epilogue that computes a result of type `result`
/// from `inputs`. `makeAnchor` creates the anchor with the same builder and
/// returns its value; its arguments are row-major.
LayerOp createAnchorLayer(
    mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
    mlir::RankedTensorType result, mlir::ValueRange inputs,
    llvm::function_ref<mlir::Value(mlir::ValueRange arguments)> makeAnchor);

/// Returns the element type that the regions of a layer have for operand number
/// `operand`, counting inputs before extras. It differs from the type of the
/// operand only in candidate forms of a layer that do not yet replace it
/// (compiler/routines/LayerForms.h).
mlir::Type getReadElement(LayerOp layer, unsigned operand);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_LAYERS_LAYER_H
