//===- Tensor.h - Tensors in the host's memory and in .npy files ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_TENSORS_TENSOR_H
#define NNC_COMPILER_TOOLS_DRIVER_TENSORS_TENSOR_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nnc::tools {

/// The element types, with the names that the manifest has for them.
enum class Dtype {
  f32,
  f64,
  f16,
  bf16,
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  boolean
};

std::string dtypeName(Dtype);
std::optional<Dtype> parseDtype(llvm::StringRef name);
int64_t dtypeBytes(Dtype);
bool isFloat(Dtype);

/// Returns a text such as "1x3x224x224", or "scalar" if there are no
/// dimensions.
std::string shapeText(const std::vector<int64_t> &shape);

/// A tensor whose elements are in row-major order.
struct Tensor {
  Dtype dtype = Dtype::f32;
  std::vector<int64_t> shape;
  std::vector<char> data;

  static Tensor zeros(Dtype, std::vector<int64_t> shape);
  int64_t elements() const;
  /// Returns the elements as doubles (large 64-bit integers are rounded).
  std::vector<double> values() const;
};

/// Reads a .npy file that numpy.save has written. Big-endian, Fortran-ordered
/// and structured arrays cause an error that says what to do.
llvm::Expected<Tensor> readNpy(const std::string &path);
/// Parses the contents of a .npy file. The error text is meant to follow the
/// name of the file.
llvm::Expected<Tensor> parseNpy(llvm::StringRef bytes);
llvm::Error writeNpy(const std::string &path, const Tensor &);

/// Succeeds if the tensor has the type and shape of an input or output of a
/// model; `what` names that input or output in the error.
llvm::Error checkTensor(const Tensor &, Dtype,
                        const std::vector<int64_t> &shape,
                        llvm::StringRef what);

/// Returns seeded random values that are the same on every machine: floats in
/// [0, 1), integers in [0, 100), booleans.
Tensor randomTensor(Dtype, const std::vector<int64_t> &shape, uint64_t seed);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_TENSORS_TENSOR_H
