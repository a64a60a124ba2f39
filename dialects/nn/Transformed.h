//===- Transformed.h - Layouts of transformed weights ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A layout's name may end in what its weights were transformed for:
// `_winograd<m>`, `_strided_winograd<m>`, `_folded_winograd<m>`, `_strassen` or
// `_strassen2`, or in `_int24` or `_int20`, what they were rounded to.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_TRANSFORMED_H
#define NNC_DIALECTS_NN_TRANSFORMED_H

#include "mlir/IR/BuiltinTypes.h"

namespace nnc::nn {
class LayoutAttr;

/// The m of a layout for Winograd's method, or 0.
int64_t getWinogradOutputs(llvm::StringRef layout);

/// The stride of a layout for Winograd's method, 1 where it is folded.
int64_t getWinogradStride(llvm::StringRef layout);

/// Whether the layout is for a convolution with a stride of 2 that is folded
/// into channels; see runtime/routines/conv2d/folded.h.
bool isFolded(llvm::StringRef layout);

/// The shape of a weight, K x C x R x S, when a stride of 2 is folded.
llvm::SmallVector<int64_t> getFoldedShape(llvm::ArrayRef<int64_t> shape);

/// The levels of a layout for Strassen's method, or 0.
int getStrassenLevels(llvm::StringRef layout);

/// Of how many bits the integers are that the layout holds, with their scales:
/// 24 or 20; or 0.
int getIntegerBits(llvm::StringRef layout);

/// Whether the layout, or the type's, is one of these: a tensor's elements are
/// not in it, and packElements and adapts cannot bring it there.
bool isTransformed(llvm::StringRef layout);
bool isTransformed(mlir::Type type);

/// The name without its end.
llvm::StringRef dropTransform(llvm::StringRef layout);

/// The axis of a weight for Strassen's method, or of integers, that the result
/// has: the blocked one of the first two. The sums are over the other.
unsigned getFilterAxis(LayoutAttr layout);

/// The shape of what a weight of `shape` is transformed to, and its layout. For
/// Winograd's method, its points in the place of taps, which may be folded; for
/// Strassen's, K x C x R x S with halves of K and of C and seven points as S,
/// or quarters and 49 of two levels; for integers, a row of as many bytes as
/// each panel takes, counted in elements.
llvm::SmallVector<int64_t> getTransformedShape(llvm::ArrayRef<int64_t> shape,
                                               LayoutAttr layout);
LayoutAttr getTransformedLayout(LayoutAttr layout);

/// What a transformed type holds, as a tensor of its own.
mlir::RankedTensorType getTransformedType(mlir::RankedTensorType type);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_TRANSFORMED_H
