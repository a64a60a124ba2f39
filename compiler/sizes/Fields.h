//===- Fields.h - Fields of shapes that depend on sizes -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SIZES_FIELDS_H
#define NNC_COMPILER_SIZES_FIELDS_H

#include "compiler/sizes/SizeRange.h"
#include "dialects/nn/Nn.h"

namespace nnc {

/// Returns the fields that differ among the shapes of a call at the samples of
/// `finder`. Each is a map from the sizes to its entries, as in exec.call's
/// `varying`. Returns null if no field differs. Fails if a field is no
/// expression of the sizes, and sets `problem` to a clause that says which.
mlir::FailureOr<mlir::DictionaryAttr>
findVaryingFields(llvm::ArrayRef<nn::ShapeAttr> shapes,
                  ExpressionFinder &finder, std::string &problem);

/// Returns `shape` with the values that its varying fields have at `point`.
nn::ShapeAttr evaluateFields(nn::ShapeAttr shape, mlir::DictionaryAttr varying,
                             llvm::ArrayRef<int64_t> point);

} // namespace nnc

#endif // NNC_COMPILER_SIZES_FIELDS_H
