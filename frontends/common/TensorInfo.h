//===- TensorInfo.h - What a model states about a tensor ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_TENSORINFO_H
#define NNC_FRONTENDS_COMMON_TENSORINFO_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace nnc::frontends {

/// A dimension as a model states it.
struct Dim {
  /// The size, or nullopt if the dimension is open. Some exporters write 0 for
  /// a size that they do not know.
  std::optional<int64_t> size;
  /// The name of an open dimension, or an empty string. All dimensions of one
  /// name have the same size.
  std::string symbol;
};

/// Name, element type and shape of a tensor as a model states them, before
/// anything is inferred.
struct TensorInfo {
  std::string name;
  /// The element type; null if the model states none or one that nnc does not
  /// support.
  mlir::Type element;
  /// The framework's name of the element type; empty if the model states none.
  std::string elementName;
  /// The dimensions, or nullopt if the model does not even state their number.
  std::optional<llvm::SmallVector<Dim>> dims;
  /// True if the frontend has already reported why nnc does not support this
  /// tensor.
  bool isReported = false;
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_TENSORINFO_H
