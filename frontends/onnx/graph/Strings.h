//===- Strings.h - Strings that are known at compile time -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// nnc does not compute with strings, but supports strings that are known at
// compile time, such as the names of classes. A tensor of strings is
// represented by an i64 tensor of indices in a list of texts. During the import
// it is a cast of that tensor, like a value of a narrow type (CarrierTypes.h),
// and the cast holds the list. An output of the network has the indices, and
// the texts become a metadata entry.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_GRAPH_STRINGS_H
#define NNC_FRONTENDS_ONNX_GRAPH_STRINGS_H

#include "mlir/IR/Builders.h"

namespace nnc::onnx {

mlir::ArrayAttr makeTexts(mlir::Builder &builder,
                          llvm::ArrayRef<std::string> texts);

/// Returns a tensor of strings, given by their i64 indices in the list `texts`.
mlir::Value makeStrings(mlir::OpBuilder &builder, mlir::Value indices,
                        mlir::ArrayAttr texts);

/// Returns the list of texts in which a value of type string has indices; null
/// for other values.
mlir::ArrayAttr getTexts(mlir::Value value);

/// Returns true if nnc supports operands of type string for the operator: it
/// moves elements of its first operand or looks them up.
bool takesStrings(llvm::StringRef op);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_GRAPH_STRINGS_H
