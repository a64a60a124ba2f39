//===- TensorData.h - Elements of a tensor inside the compiler ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_TENSORS_TENSORDATA_H
#define NNC_DIALECTS_NN_TENSORS_TENSORDATA_H

#include "dialects/nn/Nn.h"

#include <memory>

namespace nnc {

/// A tensor whose elements are known at compile time. The elements are
/// row-major, whatever the layout of the type, and an i1 takes a byte. Copies
/// share the memory, which is either owned or, for weights, borrowed from the
/// model.
class TensorData {
public:
  TensorData() = default;

  /// Allocates a tensor of `type` with uninitialised elements.
  static TensorData allocate(mlir::RankedTensorType type);

  /// Returns a tensor whose elements are `bytes`, which must live as long as
  /// the result and its copies.
  static TensorData borrow(mlir::RankedTensorType type,
                           llvm::ArrayRef<char> bytes);

  /// Returns a tensor whose elements are all `value`, converted to the element
  /// type.
  static TensorData splat(mlir::RankedTensorType type, double value);

  /// Returns the tensor in `attribute`: a dense attribute, or a resource whose
  /// bytes are loaded and as many as its type requires. Otherwise nullopt.
  static std::optional<TensorData> get(mlir::ElementsAttr attribute);

  /// Returns the tensor of the nn.constant that defines `value`, or nullopt if
  /// another op does.
  static std::optional<TensorData> get(mlir::Value value);

  explicit operator bool() const { return static_cast<bool>(type); }
  mlir::RankedTensorType getType() const { return type; }
  mlir::Type getElementType() const { return type.getElementType(); }
  llvm::ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t getNumElements() const { return type.getNumElements(); }
  llvm::ArrayRef<char> getBytes() const { return bytes; }

  /// Returns the elements for writing; only valid on a tensor that has just
  /// been allocated.
  char *getMutableBytes() { return const_cast<char *>(bytes.data()); }
  template <class T> T *getMutable() {
    return reinterpret_cast<T *>(getMutableBytes());
  }
  template <class T> llvm::ArrayRef<T> getAs() const {
    return llvm::ArrayRef<T>(reinterpret_cast<const T *>(bytes.data()),
                             bytes.size() / sizeof(T));
  }

  /// Returns the element at a row-major index as a double, whatever its type.
  double getReal(int64_t index) const;

  /// Returns the same bytes as a tensor of another type, which must have as
  /// many elements of the same size.
  TensorData withType(mlir::RankedTensorType other) const;

  /// Returns the tensor as an attribute: a dense attribute if it has up to 16
  /// elements, else a resource whose name starts with `name`. A resource keeps
  /// owned memory alive.
  mlir::ElementsAttr toAttribute(llvm::StringRef name) const;

private:
  mlir::RankedTensorType type;
  llvm::ArrayRef<char> bytes;
  std::shared_ptr<char> owner;
};

} // namespace nnc

#endif // NNC_DIALECTS_NN_TENSORS_TENSORDATA_H
