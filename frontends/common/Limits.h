//===- Limits.h - The sizes of tensors that nnc handles -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_LIMITS_H
#define NNC_FRONTENDS_COMMON_LIMITS_H

#include "dialects/nn/Layout.h"

#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>

namespace nnc::frontends {

/// The largest rank of a tensor.
using nn::kMaxRank;
/// The largest size of an axis: the shape structs count its elements in an int.
inline constexpr int64_t kMaxDim = INT32_MAX;
/// The largest tensor, in bytes (8 GiB): larger ones do not occur in models
/// that are meant to run.
inline constexpr int64_t kMaxBytes = int64_t(1) << 33;
/// The largest tensor, in bytes (256 MiB), that an importer creates from a few
/// numbers in the file, such as the result of ONNX's ConstantOfShape.
inline constexpr int64_t kMaxMadeBytes = int64_t(1) << 28;

/// Returns why nnc cannot hold a tensor of this shape, as the end of a sentence
/// that starts with the tensor, or nullopt if it can.
std::optional<std::string> findSizeProblem(llvm::ArrayRef<int64_t> shape,
                                           mlir::Type element,
                                           int64_t maxBytes = kMaxBytes);

/// Formats a number for messages.
std::string toString(double value);
/// Formats a shape for messages, as in "1x3x48x320"; a scalar is "()".
std::string toString(llvm::ArrayRef<int64_t> shape);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_LIMITS_H
