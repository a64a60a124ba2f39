//===- ApplyPatterns.h - Applies rewrite patterns ---------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_LEGALIZE_APPLYPATTERNS_H
#define NNC_DIALECTS_NN_LEGALIZE_APPLYPATTERNS_H

#include "dialects/nn/Nn.h"

#include "mlir/IR/PatternMatch.h"

namespace nnc {

/// Applies `patterns` and the ops' folders to a fixed point. Constants keep
/// their locations, and memory of constants that the patterns made is freed as
/// soon as no op uses it.
mlir::LogicalResult applyPatterns(mlir::func::FuncOp function,
                                  mlir::RewritePatternSet &&patterns);

} // namespace nnc

#endif // NNC_DIALECTS_NN_LEGALIZE_APPLYPATTERNS_H
