//===- CarrierTypes.h - Types narrower than what nnc computes with --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// Values of 16-bit floats are computed as float32, and integers of 2 and 4 bits
// as integers of 8. Those are the carriers of these types. Floats of 8 bits and
// less are not computed with: they are moved, and cast. Their carrier is uint8,
// which holds their codes (runtime/simd/small_floats.h). While a model is
// imported, a value of a narrow type is a cast of its carrier, an
// unrealized_conversion_cast, so that the checks of types see what the model
// says. Converters get carriers, and no such cast is left when all is imported.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_GRAPH_CARRIERTYPES_H
#define NNC_FRONTENDS_ONNX_GRAPH_CARRIERTYPES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"

namespace nnc::onnx {

/// Returns whether `element` is a type that another one carries. Strings are
/// among these types (Strings.h).
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

/// Returns the carrier of a value of a narrow type, or any other value itself.
mlir::Value getCarrier(mlir::Value value);

/// Returns the bytes that `count` elements take in a model: elements of 2, 4
/// and 6 bits are packed.
int64_t getPackedBytes(mlir::Type element, int64_t count);

/// Returns the elements of a narrow type, packed as in a model, as elements of
/// the type's carrier.
mlir::AsmResourceBlob unpack(mlir::Type element, llvm::ArrayRef<char> packed,
                             int64_t count);

/// Returns `count` packed integers of `bits` bits, 2 to 8, as one a byte.
/// The first has the lowest bits of its byte.
std::vector<char> unpackIntegers(unsigned bits, bool isUnsigned,
                                 llvm::ArrayRef<char> packed, int64_t count);

/// Rounds `value` to the 16-bit float type `element`.
double roundTo(mlir::FloatType element, double value);

/// Erases the casts from carriers to narrow types.
void eraseCarrierCasts(mlir::func::FuncOp function);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_GRAPH_CARRIERTYPES_H
