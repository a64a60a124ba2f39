//===- Moves.h - What operators that move elements share --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_MOVES_MOVES_H
#define NNC_FRONTENDS_TENSORFLOW_MOVES_MOVES_H

#include "frontends/common/StridedSlice.h"
#include "frontends/tensorflow/graph/Layer.h"

namespace nnc::tensorflow {

/// Returns the parts joined along `axis`. Images are joined in front of the
/// transposes to channels last.
mlir::Value join(Layer &layer, llvm::ArrayRef<mlir::Value> parts, int64_t axis);

/// Returns the part of `x` with the sizes `sizes` that begins at `begin`, a
/// vector that the network computes. The part is moved so that it lies in x.
mlir::Value takeAt(Layer &layer, mlir::Value x, mlir::Value begin,
                   llvm::ArrayRef<int64_t> sizes);

/// Returns 0, 1, ... count - 1 of the type `element`, along axis `axis` of a
/// tensor of `rank` axes; null after an error if they are too many.
mlir::Value makeCounts(Layer &layer, int64_t count, mlir::Type element,
                       int64_t axis, int64_t rank);

/// Returns `x` with the slices at the places that the rows of `indices` name
/// combined with `updates`.
mlir::Value scatterAt(Layer &layer, nn::ScatterKind kind, mlir::Value x,
                      mlir::Value indices, mlir::Value updates);

/// Returns the masks of StridedSlice and the operators that assign to slices,
/// without bounds.
frontends::StridedSlice readSliceMasks(Layer &layer);

/// Returns true if `indices` are integers; otherwise reports an error.
bool areIndices(Layer &layer, mlir::Value indices);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_MOVES_MOVES_H
