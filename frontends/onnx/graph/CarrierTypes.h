//===- CarrierTypes.h - Types narrower than what nnc computes with --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// The carrier of a narrow type is the type in which nnc computes with its
// values: float32 for 16-bit floats, and 8-bit integers for integers of 2 and 4
// bits. Floats of at most 8 bits are only moved and cast; their carrier is
// uint8, which holds their codes (runtime/simd/small_floats.h). During the
// import, a value of a narrow type is an unrealized_conversion_cast of its
// carrier, so that type checks see the types of the model. Converters receive
// the carriers, and no such cast is left at the end of the import.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_GRAPH_CARRIERTYPES_H
#define NNC_FRONTENDS_ONNX_GRAPH_CARRIERTYPES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"

namespace nnc::onnx {

/// Returns true if `element` has another type as its carrier. Strings are such
/// a type (Strings.h).
bool hasCarrier(mlir::Type element);

/// Returns the type that values of type `element` are computed with, which is
/// `element` itself for all but narrow types.
mlir::Type getCarrier(mlir::Type element);

/// Returns the type of inputs and outputs of the network that the model
/// declares as `element`: integers of 2 and 4 bits and floats of at most 8 bits
/// have a byte each, and the indices of strings are i64.
mlir::Type getStoredType(mlir::Type element);

/// Returns the name of a type that takes more bits in inputs and outputs of the
/// network than in the model, such as "i4" or "f8e4m3fn"; empty for others.
std::string getPackedName(mlir::Type element);

/// Returns `carrier` as a value of the narrow type `element`.
mlir::Value castFromCarrier(mlir::OpBuilder &builder, mlir::Value carrier,
                            mlir::Type element);

/// Returns the carrier of a value of a narrow type; returns any other value
/// unchanged.
mlir::Value getCarrier(mlir::Value value);

/// Returns the bytes that `count` elements take in a model: elements of 2, 4
/// and 6 bits are packed.
int64_t getPackedBytes(mlir::Type element, int64_t count);

/// Returns the elements of a narrow type, packed as in a model, as elements of
/// the type's carrier.
mlir::AsmResourceBlob unpack(mlir::Type element, llvm::ArrayRef<char> packed,
                             int64_t count);

/// Returns `count` packed integers of `bits` bits (2 to 8), unpacked to one
/// integer per byte. The first has the lowest bits of its byte.
std::vector<char> unpackIntegers(unsigned bits, bool isUnsigned,
                                 llvm::ArrayRef<char> packed, int64_t count);

/// Erases the casts from carriers to narrow types.
void eraseCarrierCasts(mlir::func::FuncOp function);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_GRAPH_CARRIERTYPES_H
