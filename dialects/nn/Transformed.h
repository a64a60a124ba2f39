//===- Transformed.h - Layouts of transformed weights ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A layout's name may end in what its weights were transformed for:
// `_winograd<m>`, or `_strassen`.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_TRANSFORMED_H
#define NNC_DIALECTS_NN_TRANSFORMED_H

#include "mlir/IR/BuiltinTypes.h"

namespace nnc::nn {

/// The m of a layout for Winograd's method, or 0.
int64_t getWinogradOutputs(llvm::StringRef layout);

/// Whether the layout is for Strassen's method.
bool isForStrassen(llvm::StringRef layout);

/// Whether the layout, or the type's, is one of these: a tensor's elements are
/// not in it, and packElements and adapts cannot bring it there.
bool isTransformed(llvm::StringRef layout);
bool isTransformed(mlir::Type type);

/// The name without its end.
llvm::StringRef dropTransform(llvm::StringRef layout);

/// The shape of a K x C x R x S (or K x C x S) weight's transform. For
/// Winograd's method, with the points of F(m, taps) in the place of taps; for
/// Strassen's, with halves of K and of C, and seven points.
llvm::SmallVector<int64_t> getTransformedShape(llvm::ArrayRef<int64_t> shape,
                                               llvm::StringRef layout);

/// What a transformed type holds, as a tensor of its own.
mlir::RankedTensorType getTransformedType(mlir::RankedTensorType type);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_TRANSFORMED_H
