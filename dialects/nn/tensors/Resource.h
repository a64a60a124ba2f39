//===- Resource.h - Blobs as the values of constants ------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_TENSORS_RESOURCE_H
#define NNC_DIALECTS_NN_TENSORS_RESOURCE_H

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace nnc::nn {

/// Returns `blob` as the value of a constant. Its name in the text of the IR is
/// `name`, with a suffix if that is taken.
mlir::DenseResourceElementsAttr createResource(mlir::RankedTensorType type,
                                               llvm::StringRef name,
                                               mlir::AsmResourceBlob blob);

/// Frees the memory of `resource`. It has no data from then on, and neither has
/// any other attribute of its name in the context.
void freeResource(mlir::DenseResourceElementsAttr resource);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_TENSORS_RESOURCE_H
