//===- Learned.h - What operators of machine learning share ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Operators of the domain ai.onnx.ml. Where the specification leaves a case
// open, nnc follows onnxruntime, for which converters write these operators.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_LEARNED_LEARNED_H
#define NNC_FRONTENDS_ONNX_LEARNED_LEARNED_H

#include "frontends/onnx/graph/Node.h"

namespace nnc::onnx {

/// The classes of a classifier, given by numbers or by names.
struct Classes {
  llvm::SmallVector<int64_t> numbers;
  llvm::SmallVector<std::string> names;

  size_t size() const { return std::max(numbers.size(), names.size()); }
};

/// Returns the classes that the node's attributes `numbers` and `names` list.
Classes readClasses(Node &node, llvm::StringRef numbers, llvm::StringRef names);

/// Returns the numbers or names of the classes with the indices `indices`, a
/// tensor of i64.
mlir::Value makeLabels(Node &node, mlir::Value indices, const Classes &classes);

/// Returns the index of the largest element of each row of `scores`.
mlir::Value findLargest(Node &node, mlir::Value scores);

/// Returns operand 0 as a matrix with elements of type `element`. A vector
/// becomes a matrix of one row.
mlir::Value getRows(Node &node, mlir::Type element);

/// Returns f64 if operand 0 has elements of type f64, otherwise f32.
mlir::Type getRealType(Node &node);

/// Returns a constant of `element`s, floats or integers.
mlir::Value makeConstant(Node &node, llvm::ArrayRef<double> values,
                         mlir::Type element, llvm::ArrayRef<int64_t> shape);

/// The rule by which a single score of a binary classifier becomes two. With
/// the transform LOGISTIC, the two are the logistic functions of -score and
/// score.
enum class SecondClass {
  none,       ///< the score remains a single one
  complement, ///< 1 - score, score
  opposite    ///< -score, score
};

/// Applies `transform`, the value of the node's attribute post_transform, to
/// the rows of `scores`. A row with one score is transformed as in onnxruntime:
/// by PROBIT alone, or after the second score that `second` describes has been
/// added.
mlir::Value transformScores(Node &node, mlir::Value scores,
                            llvm::StringRef transform,
                            SecondClass second = SecondClass::none);

/// Returns the matrix with the columns `a` and `b`.
mlir::Value joinColumns(Node &node, mlir::Value a, mlir::Value b);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_LEARNED_LEARNED_H
