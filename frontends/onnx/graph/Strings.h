//===- Strings.h - Texts that are known when compiling --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// nnc computes with no strings. Those of classes' names are known, though: a
// value of type string is an i64 tensor of indices in a list of texts. While a
// model is imported it is a cast of that tensor, as a value of a narrow type is
// (CarrierTypes.h), which holds the list. An output has the indices, and the
// texts become an entry of the metadata.
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

/// Returns the texts that a value of type string has indices in; null for other
/// values.
mlir::ArrayAttr getTexts(mlir::Value value);

/// Whether the operator takes values of type string: it moves elements of its
/// first operand, or looks them up.
bool takesStrings(llvm::StringRef op);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_GRAPH_STRINGS_H
