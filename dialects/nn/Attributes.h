//===- Attributes.h - Attributes and enumerations of nn -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_ATTRIBUTES_H
#define NNC_DIALECTS_NN_ATTRIBUTES_H

#include "dialects/nn/Layout.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"

#include "dialects/nn/NnDialect.h.inc"
#include "dialects/nn/NnEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/nn/NnAttrs.h.inc"

namespace nnc::nn {

/// Name of the attribute of a function's result that tells a size which a run
/// finds: the size's number, as nn.prefix has it.
inline constexpr llvm::StringLiteral kSizeAttr = "nn.size";

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_ATTRIBUTES_H
