//===- Winograd.h - Layouts of transformed weights ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_WINOGRAD_H
#define NNC_DIALECTS_NN_WINOGRAD_H

#include "mlir/IR/BuiltinTypes.h"

namespace nnc::nn {

/// The m of a layout whose name ends in `_winograd<m>`, or 0.
int64_t getWinogradOutputs(llvm::StringRef layout);

/// The name without `_winograd<m>`.
llvm::StringRef dropWinograd(llvm::StringRef layout);

/// The shape of a weight with the points of F(m, taps) in the place of taps;
/// the same where m is 0.
llvm::SmallVector<int64_t> getPoints(llvm::ArrayRef<int64_t> shape, int64_t m);

/// Whether `type` holds not the tensor's elements but what `_winograd<m>` makes
/// of them. packElements and adapts cannot bring a tensor into such a type.
bool isTransformed(mlir::Type type);

/// What a transformed type holds, as a tensor of its own.
mlir::RankedTensorType getTransformedType(mlir::RankedTensorType type);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_WINOGRAD_H
