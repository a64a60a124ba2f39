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
  /// Nothing where the dimension is open. Some exporters write 0 for a size
  /// that they do not know.
  std::optional<int64_t> size;
  /// Name of an open dimension, or empty. Dimensions of one name have one size.
  std::string symbol;
};

/// Name, element type and shape of a tensor as a model states them, before
/// anything is inferred.
struct TensorInfo {
  std::string name;
  /// The element type; null if the model states none, or one that nnc lacks.
  mlir::Type element;
  /// The framework's name of the element type; empty if the model states none.
  std::string elementName;
  /// Nothing if the model does not even state the number of dimensions.
  std::optional<llvm::SmallVector<Dim>> dims;
  /// Set where the frontend has reported why this is no tensor that nnc takes.
  bool isReported = false;
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_TENSORINFO_H
