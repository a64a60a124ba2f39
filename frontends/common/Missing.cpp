//===- Missing.cpp - Operators that a frontend does not support -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Missing.h"

using namespace nnc::frontends;

void nnc::frontends::reportMissing(const MissingOperators &missing,
                                   Problems &problems, llvm::StringRef uses,
                                   llvm::StringRef advice) {
  for (const auto &[name, found] : missing) {
    auto diagnostic =
        problems.report(ImportStatus::unsupported, found.first, name);
    diagnostic << name.getValue() << " is not supported";
    if (found.count > 1)
      diagnostic << " (" << found.count << " " << uses << ")";
    diagnostic << "; " << advice;
  }
}
