//===- Types.h - TensorFlow's element types and shapes ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_GRAPH_TYPES_H
#define NNC_FRONTENDS_TENSORFLOW_GRAPH_TYPES_H

#include "frontends/tensorflow/tensorflow.pb.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>

namespace nnc::tensorflow {

/// Returns the type of elements, or null if nnc does not support it.
mlir::Type getElementType(mlir::MLIRContext *context, pb::DataType type);

/// Returns the type that elements of type `stored` are computed in: float32 for
/// floats of 16 bits.
mlir::Type getComputedType(mlir::Type stored);

/// Returns a constant of the computed type, from the bytes of elements of the
/// stored type `type`.
mlir::ElementsAttr makeComputed(mlir::RankedTensorType type,
                                llvm::StringRef name,
                                mlir::AsmResourceBlob blob);

/// Returns TensorFlow's name of a type: "float32".
std::string getTypeName(pb::DataType type);
std::string getTypeName(mlir::Type element);

/// Returns the sizes of a shape, -1 for those that are not stated; nullopt if
/// the number of axes is not stated.
std::optional<llvm::SmallVector<int64_t>>
readShape(const pb::TensorShapeProto &shape);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_GRAPH_TYPES_H
