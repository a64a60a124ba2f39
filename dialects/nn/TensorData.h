//===- TensorData.h - Elements of a tensor inside the compiler ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_TENSORDATA_H
#define NNC_DIALECTS_NN_TENSORDATA_H

#include "dialects/nn/Nn.h"

#include <memory>

namespace nnc {

/// A known tensor. The elements are row-major whatever the layout in a type
/// says; i1 takes a byte. Copies share the memory, which is owned or, for
/// weights, borrowed from whoever keeps the model alive.
class TensorData {
public:
  TensorData() = default;

  /// Memory for a tensor of `type`, its elements not set.
  static TensorData allocate(mlir::RankedTensorType type);

  /// `bytes` must live as long as the result and its copies.
  static TensorData borrow(mlir::RankedTensorType type,
                           llvm::ArrayRef<char> bytes);

  /// A tensor of one value, converted to the element type.
  static TensorData splat(mlir::RankedTensorType type, double value);

  /// What `attribute` holds: a dense attribute, or a resource whose bytes are
  /// there and as many as its type needs.
  static std::optional<TensorData> get(mlir::ElementsAttr attribute);

  /// What an nn.constant defines, or nullopt for any other value.
  static std::optional<TensorData> get(mlir::Value value);

  explicit operator bool() const { return static_cast<bool>(type); }
  mlir::RankedTensorType getType() const { return type; }
  mlir::Type getElementType() const { return type.getElementType(); }
  llvm::ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t getNumElements() const { return type.getNumElements(); }
  llvm::ArrayRef<char> getBytes() const { return bytes; }

  /// For whoever has just allocated it.
  char *getMutableBytes() { return const_cast<char *>(bytes.data()); }
  template <class T> T *getMutable() {
    return reinterpret_cast<T *>(getMutableBytes());
  }
  template <class T> llvm::ArrayRef<T> getAs() const {
    return llvm::ArrayRef<T>(reinterpret_cast<const T *>(bytes.data()),
                             bytes.size() / sizeof(T));
  }

  /// One element as a double, whatever its type.
  double getReal(int64_t index) const;

  /// The same elements under another type of as many elements and as large.
  TensorData withType(mlir::RankedTensorType other) const;

  /// As an attribute: inline up to 16 elements, else a resource that starts
  /// with `name`. A resource of owned memory keeps it alive.
  mlir::ElementsAttr toAttribute(llvm::StringRef name) const;

private:
  mlir::RankedTensorType type;
  llvm::ArrayRef<char> bytes;
  std::shared_ptr<char> owner;
};

} // namespace nnc

#endif // NNC_DIALECTS_NN_TENSORDATA_H
