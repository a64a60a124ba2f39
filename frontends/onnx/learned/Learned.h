//===- Learned.h - What operators of machine learning share ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Operators of the domain ai.onnx.ml. Where the specification leaves a case
// open, onnxruntime, for which converters write them, says what they compute.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_LEARNED_LEARNED_H
#define NNC_FRONTENDS_ONNX_LEARNED_LEARNED_H

#include "frontends/onnx/graph/Node.h"

namespace nnc::onnx {

/// The classes that a classifier tells apart, by numbers or by names.
struct Classes {
  llvm::SmallVector<int64_t> numbers;
  llvm::SmallVector<std::string> names;

  size_t size() const { return std::max(numbers.size(), names.size()); }
};

/// Returns the classes that two attributes of the node list.
Classes readClasses(Node &node, llvm::StringRef numbers, llvm::StringRef names);

/// Returns the classes' numbers or names at `indices`, i64.
mlir::Value makeLabels(Node &node, mlir::Value indices, const Classes &classes);

/// Returns the indices of the largest elements of the rows of `scores`.
mlir::Value findLargest(Node &node, mlir::Value scores);

/// Returns operand 0 as a matrix, a vector as one row, of elements `element`.
mlir::Value getRows(Node &node, mlir::Type element);

/// Returns f64 for an operand 0 of these elements, else f32.
mlir::Type getRealType(Node &node);

/// Returns a constant of `element`s, floats or integers.
mlir::Value makeConstant(Node &node, llvm::ArrayRef<double> values,
                         mlir::Type element, llvm::ArrayRef<int64_t> shape);

/// How a single score of two classes becomes two; with the transform LOGISTIC,
/// the logistic functions of -score and score.
enum class SecondClass {
  none,       ///< it stays one
  complement, ///< 1 - score, score
  opposite    ///< -score, score
};

/// Applies the transform of the node's attribute post_transform to the rows of
/// `scores`. One score a row is transformed as onnxruntime does: by PROBIT, or
/// together with what `second` adds.
mlir::Value transformScores(Node &node, mlir::Value scores,
                            llvm::StringRef transform,
                            SecondClass second = SecondClass::none);

/// Returns [a, b] for columns a and b.
mlir::Value joinColumns(Node &node, mlir::Value a, mlir::Value b);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_LEARNED_LEARNED_H
