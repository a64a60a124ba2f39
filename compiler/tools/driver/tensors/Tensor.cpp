//===- Tensor.cpp - Tensors in the host's memory --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/tensors/Tensor.h"

#include "compiler/tools/driver/system/Files.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"

#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <random>

namespace nnc::tools {

std::string dtypeName(Dtype dtype) {
  static const char *const names[] = {"f32", "f64", "f16", "bf16", "i8",
                                      "u8",  "i16", "u16", "i32",  "u32",
                                      "i64", "u64", "bool"};
  return names[int(dtype)];
}

std::optional<Dtype> parseDtype(llvm::StringRef name) {
  for (int i = 0; i <= int(Dtype::boolean); ++i)
    if (name == dtypeName(Dtype(i)))
      return Dtype(i);
  return std::nullopt;
}

int64_t dtypeBytes(Dtype dtype) {
  static const int bytes[] = {4, 8, 2, 2, 1, 1, 2, 2, 4, 4, 8, 8, 1};
  return bytes[int(dtype)];
}

bool isFloat(Dtype dtype) { return dtype <= Dtype::bf16; }

std::string shapeText(const std::vector<int64_t> &shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

int64_t Tensor::elements() const {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

Tensor Tensor::zeros(Dtype dtype, std::vector<int64_t> shape) {
  Tensor tensor{dtype, std::move(shape), {}};
  tensor.data.resize(tensor.elements() * dtypeBytes(dtype));
  return tensor;
}

namespace {
/// A 16-bit float, as its bits, in the format that `Semantics` returns.
template <const llvm::fltSemantics &(*Semantics)()> struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(double value) {
    llvm::APFloat number(value);
    bool inexact;
    number.convert(Semantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    bits = uint16_t(number.bitcastToAPInt().getZExtValue());
  }
  explicit operator double() const {
    llvm::APFloat number(Semantics(), llvm::APInt(16, bits));
    return number.convertToDouble();
  }
};
} // namespace

/// Calls `visit` with a value of the C++ type of `dtype`.
template <class F> static void withType(Dtype dtype, F visit) {
  switch (dtype) {
  case Dtype::f32:
    return visit(float());
  case Dtype::f64:
    return visit(double());
  case Dtype::f16:
    return visit(Half<llvm::APFloat::IEEEhalf>());
  case Dtype::bf16:
    return visit(Half<llvm::APFloat::BFloat>());
  case Dtype::i8:
    return visit(int8_t());
  case Dtype::u8:
    return visit(uint8_t());
  case Dtype::i16:
    return visit(int16_t());
  case Dtype::u16:
    return visit(uint16_t());
  case Dtype::i32:
    return visit(int32_t());
  case Dtype::u32:
    return visit(uint32_t());
  case Dtype::i64:
    return visit(int64_t());
  case Dtype::u64:
    return visit(uint64_t());
  case Dtype::boolean:
    return visit(uint8_t());
  }
}

std::vector<double> Tensor::values() const {
  std::vector<double> result(elements());
  withType(dtype, [&](auto sample) {
    for (size_t i = 0; i < result.size(); ++i) {
      std::memcpy(&sample, data.data() + i * sizeof sample, sizeof sample);
      result[i] = double(sample);
    }
  });
  return result;
}

llvm::Error checkTensor(const Tensor &tensor, Dtype dtype,
                        const std::vector<int64_t> &shape,
                        llvm::StringRef what) {
  if (tensor.dtype == dtype && tensor.shape == shape)
    return llvm::Error::success();
  return makeError(fmt::format("{} is {} of {}, the model wants {} of {}",
                               what.str(), shapeText(tensor.shape),
                               dtypeName(tensor.dtype), shapeText(shape),
                               dtypeName(dtype)));
}

Tensor randomTensor(Dtype dtype, const std::vector<int64_t> &shape,
                    uint64_t seed) {
  Tensor tensor = Tensor::zeros(dtype, shape);
  std::mt19937_64 engine(seed);
  // The standard library's distributions are not used, because their results
  // differ between implementations.
  auto unit = [&] { return double(engine() >> 11) * 0x1p-53; };
  withType(dtype, [&](auto sample) {
    using T = decltype(sample);
    for (int64_t i = 0, n = tensor.elements(); i < n; ++i) {
      if constexpr (!std::is_integral_v<T>)
        sample = T(unit());
      else
        sample = T(unit() * (dtype == Dtype::boolean ? 2 : 100));
      std::memcpy(tensor.data.data() + i * sizeof sample, &sample,
                  sizeof sample);
    }
  });
  return tensor;
}

} // namespace nnc::tools
