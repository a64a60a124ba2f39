//===- Limits.h - The sizes of tensors that nnc handles -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_LIMITS_H
#define NNC_FRONTENDS_COMMON_LIMITS_H

#include "dialects/nn/layouts/Layout.h"

#include "mlir/IR/BuiltinTypes.h"

#include <cstdint>
#include <optional>
#include <string>

namespace nnc::frontends {

/// The largest rank of a tensor.
using nn::kMaxRank;
/// The largest size of an axis: the shape structs count its elements in an int.
inline constexpr int64_t kMaxDim = INT32_MAX;

/// The limits on the size of a model, which --limit changes.
struct Limits {
  /// The largest size of the model's file in bytes, without external data.
  int64_t file = INT64_MAX;
  /// The largest number of nodes after expansion of all function calls and
  /// unrolled loops.
  int64_t nodes = 200000;
  /// The largest nesting depth of functions, branches and loops.
  int64_t depth = 64;
  /// The largest size of a tensor in bytes (8 GiB). Larger tensors do not occur
  /// in models that are meant to run.
  int64_t tensor = int64_t(1) << 33;
  /// The largest size in bytes (256 MiB) of a tensor that an importer creates
  /// from a few numbers in the file, such as the result of ONNX's
  /// ConstantOfShape.
  int64_t constant = int64_t(1) << 28;
};

/// Returns why nnc cannot hold a tensor of this shape, as the end of a sentence
/// that starts with the tensor, or nullopt if it can. `isMade` says that the
/// importer creates it.
std::optional<std::string> findSizeProblem(llvm::ArrayRef<int64_t> shape,
                                           mlir::Type element,
                                           const Limits &limits,
                                           bool isMade = false);

/// Formats a number for messages.
std::string toString(double value);
/// Formats a shape for messages, as in "1x3x48x320"; a scalar is "()".
std::string toString(llvm::ArrayRef<int64_t> shape);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_LIMITS_H
