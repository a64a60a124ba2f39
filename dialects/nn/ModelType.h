//===- ModelType.h - Element types that a model declares --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_MODELTYPE_H
#define NNC_DIALECTS_NN_MODELTYPE_H

#include "llvm/ADT/StringRef.h"

namespace nnc::nn {

/// Name of the attribute of a function's argument or result, and then of the
/// op of the exec dialect that this becomes, whose elements have a narrower
/// type in the model than in memory: that type's name, such as "i4" where an
/// element takes an i8.
inline constexpr llvm::StringLiteral kModelTypeAttr = "nn.model_type";

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_MODELTYPE_H
