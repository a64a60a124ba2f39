//===- Missing.h - Operators that a frontend does not support -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_MISSING_H
#define NNC_FRONTENDS_COMMON_MISSING_H

#include "frontends/common/Problems.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/MapVector.h"

namespace nnc::frontends {

/// The uses of an operator that a frontend does not support.
struct MissingOperator {
  mlir::Location first; ///< location of its first use
  int64_t count;
};
/// The operators of a model that its frontend does not support, by name, in the
/// order of their first uses.
using MissingOperators = llvm::MapVector<mlir::StringAttr, MissingOperator>;

/// Reports each of the operators once, at its first use. `uses` is the
/// framework's word for several uses ("nodes"), and `advice` says what the user
/// can do.
void reportMissing(const MissingOperators &missing, Problems &problems,
                   llvm::StringRef uses, llvm::StringRef advice);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_MISSING_H
