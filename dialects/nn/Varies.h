//===- Varies.h - The mark of ops that depend on sizes ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_VARIES_H
#define NNC_DIALECTS_NN_VARIES_H

#include "llvm/ADT/StringRef.h"

namespace nnc {

/// Name of the attribute of an op that depends on sizes which are chosen at run
/// time (compiler/sizes), such as by dimensions of its operands or result. It
/// is not folded, even if its operands are constants.
inline constexpr llvm::StringLiteral kVariesAttr = "nn.varies";

/// Name of the attribute of a layer that copies a part of its operand whose
/// place depends on the sizes: even where it is the beginning at the largest
/// ones, it is no view.
inline constexpr llvm::StringLiteral kCopiesAttr = "nn.copies";

} // namespace nnc

#endif // NNC_DIALECTS_NN_VARIES_H
