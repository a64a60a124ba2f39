//===- Layout.h - Physical shapes of tensor types -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_LAYOUT_H
#define NNC_DIALECTS_NN_LAYOUT_H

#include "mlir/IR/BuiltinTypes.h"

namespace nnc::nn {
class LayoutAttr;

/// The layout in a type, or null for row-major.
LayoutAttr getLayout(mlir::Type type);

/// The layout's name; for row-major types "plain".
llvm::StringRef getLayoutName(mlir::Type type);

/// The same logical type with `layout`; a null or plain layout is no encoding.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  LayoutAttr layout);

/// As above by name; "plain" and "any" and "" mean row-major.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  llvm::StringRef layout);

/// The type without its layout.
mlir::RankedTensorType getLogicalType(mlir::RankedTensorType type);

/// Dimensions in memory, padding included.
llvm::SmallVector<int64_t> getPhysicalShape(mlir::RankedTensorType type);

/// Elements and bytes in memory, padding included.
int64_t getPhysicalElements(mlir::RankedTensorType type);
int64_t getPhysicalBytes(mlir::RankedTensorType type);

/// Bytes of one element in memory (i1 takes a byte).
int64_t getElementBytes(mlir::Type element);

/// Copies row-major `source` (of `type`'s logical shape) into `type`'s layout;
/// padding becomes zero. `target` holds getPhysicalBytes(type).
void packElements(mlir::RankedTensorType type, const char *source,
                  char *target);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_LAYOUT_H
