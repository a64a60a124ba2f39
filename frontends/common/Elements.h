//===- Elements.h - Constants of a model ----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_ELEMENTS_H
#define NNC_FRONTENDS_COMMON_ELEMENTS_H

#include "dialects/nn/tensors/TensorData.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace nnc::frontends {

/// The largest number of elements of a constant that becomes a
/// DenseElementsAttr. Larger constants become resource blobs.
inline constexpr int64_t kMaxInlineElements = 16;
/// The largest number of elements of a tensor whose elements are read during
/// the import. Larger tensors are no shapes.
inline constexpr int64_t kMaxReadElements = 4096;

/// Returns an attribute of type `type` whose row-major elements are the bytes
/// of `blob`. An i1 takes a byte and is true if the byte is not zero.
mlir::ElementsAttr makeElements(mlir::RankedTensorType type,
                                llvm::StringRef name,
                                mlir::AsmResourceBlob blob);

/// Returns the float32 numbers of floats of 16 bits: bfloat16 if `isBrain`,
/// otherwise float16.
mlir::AsmResourceBlob widenHalves(llvm::ArrayRef<char> halves, bool isBrain);

/// The elements of a small tensor: in `reals` if they are floats, otherwise in
/// `ints`.
struct Elements {
  mlir::RankedTensorType type;
  llvm::SmallVector<int64_t> ints;
  llvm::SmallVector<double> reals;

  bool isReal() const {
    return type.getElementType().isF32() || type.getElementType().isF64();
  }
};

/// Returns true if `Elements` can hold elements of this type. It cannot hold
/// 16-bit floats and unsigned 64-bit integers.
bool isReadable(mlir::Type element);

/// Returns the elements of a tensor, or nullopt if it has more than `most` or
/// its element type is not readable.
std::optional<Elements> readElements(const TensorData &data,
                                     int64_t most = kMaxReadElements);
/// Returns the elements of a constant, with the same limits.
std::optional<Elements> readElements(mlir::ElementsAttr attribute,
                                     int64_t most = kMaxReadElements);
/// Returns the elements of the nn.constant that defines `value`, with the same
/// limits, or nullopt if another op defines it.
std::optional<Elements> readElements(mlir::Value value,
                                     int64_t most = kMaxReadElements);

/// Returns the attribute that holds `elements`; the inverse of readElements.
/// Integers keep the low bits that fit in their type.
mlir::ElementsAttr makeAttribute(const Elements &elements);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_ELEMENTS_H
