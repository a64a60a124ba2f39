//===- Types.h - Element types and the sizes that nnc handles -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_TYPES_H
#define NNC_FRONTENDS_ONNX_TYPES_H

#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>

namespace nnc::onnx {

/// The shape structs of the runtime have room for so many axes.
inline constexpr int64_t kMaxRank = 8;
/// They count elements of an axis in an int.
inline constexpr int64_t kMaxDim = INT32_MAX;
/// No tensor of a network that is meant to run is larger than 8 GiB.
inline constexpr int64_t kMaxBytes = int64_t(1) << 33;
/// A constant that a few numbers in the file stand for is of no use beyond
/// that.
inline constexpr int64_t kMaxMadeBytes = int64_t(1) << 28;

/// The type of elements of ONNX type `dataType` (a value of TensorProto's
/// enumeration), or null where nnc has none.
mlir::Type getElementType(mlir::MLIRContext *context, int32_t dataType);

/// The inverse; 0 (undefined) where there is none.
int32_t getDataType(mlir::Type element);

/// ONNX's own name of a type: "float", "int64", ...; "type 77" if it has none.
std::string getDataTypeName(int32_t dataType);

/// The type that ONNX calls `name` ("FLOAT"); 0 where it knows none such.
int32_t parseDataType(llvm::StringRef name);

/// Why nnc cannot hold a tensor of this shape, as the end of a sentence that
/// starts with the tensor; nothing if it can.
std::optional<std::string> findSizeProblem(llvm::ArrayRef<int64_t> shape,
                                           mlir::Type element,
                                           int64_t maxBytes = kMaxBytes);

/// A number as in messages.
std::string toString(double value);
/// "1x3x48x320"; a scalar is "()".
std::string toString(llvm::ArrayRef<int64_t> shape);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_TYPES_H
