//===- Types.h - ONNX's element types -------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_SCHEMA_TYPES_H
#define NNC_FRONTENDS_ONNX_SCHEMA_TYPES_H

#include "frontends/common/Limits.h"

namespace nnc::onnx {
using namespace frontends;

/// Returns the element type for ONNX's type `dataType` (a value of the
/// enumeration in TensorProto), or null if nnc has none. It may be a narrow one
/// (CarrierTypes.h), which no op of the imported program has.
mlir::Type getElementType(mlir::MLIRContext *context, int32_t dataType);

/// Returns the format of `element` in runtime/simd/small_floats.h if it is one
/// of ONNX's floats of at most 8 bits, else an empty string. MLIR lacks most of
/// them; here they are opaque types that bear ONNX's names.
llvm::StringRef getSmallFormat(mlir::Type element);

/// Returns the bits that an element takes in a model: 1 for bools, 4 for int4.
unsigned getBits(mlir::Type element);

/// Returns the type that stands for strings while a model is imported
/// (Strings.h).
mlir::Type getStringType(mlir::MLIRContext *context);

/// Returns ONNX's type for `element`, the inverse of getElementType; 0
/// (undefined) if there is none.
int32_t getDataType(mlir::Type element);

/// Returns ONNX's name of a type ("float", "int64", ...), or a text such as
/// "type 77" if it has none.
std::string getDataTypeName(int32_t dataType);

/// Returns the type with the given name in TensorProto's enumeration ("FLOAT"),
/// or 0 if there is none.
int32_t parseDataType(llvm::StringRef name);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_SCHEMA_TYPES_H
