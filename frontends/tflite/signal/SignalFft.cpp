//===- SignalFft.cpp - Signal operators that are Fourier transforms -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/signal/Signal.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// The length of the longest transform; no real network has a longer one.
static constexpr int64_t kMaxLength = 1 << 20;

/// Returns the radices of kissfft's stages for a transform of n complex
/// numbers, from the last stage to the first: 4 as often as it divides n, then
/// 2, 3 and 5. Returns nullopt if n has other factors, for which TFLite Micro
/// lacks memory.
static std::optional<SmallVector<int64_t>> findRadices(int64_t n) {
  SmallVector<int64_t> radices;
  for (int64_t radix : {4, 2, 3, 5})
    for (; n % radix == 0; n /= radix)
      radices.push_back(radix);
  return n == 1 && !radices.empty() ? std::optional(radices) : std::nullopt;
}

/// Appends the point of the unit circle at `angle`, in fixed point with all
/// bits of T except the sign as fraction bits.
template <class T>
static void addAngle(SmallVectorImpl<T> &circle, double angle) {
  auto convert = [](double x) -> T {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(std::floor(
          0.5 + static_cast<double>(std::numeric_limits<T>::max()) * x));
    else
      return static_cast<T>(x);
  };
  circle.push_back(convert(std::cos(angle)));
  circle.push_back(convert(std::sin(angle)));
}

/// Returns the table of nnc_signal_fft.h for n complex numbers. Angles are
/// computed as in kissfft, because their rounding affects tables with many
/// bits.
template <class T>
static Value makeCircle(Layer &layer, int64_t n, bool isInverse) {
  const double pi = 3.14159265358979323846, sign = isInverse ? -1 : 1;
  SmallVector<T> circle;
  for (int64_t i = 0; i < n; ++i)
    addAngle(circle, sign * (-2 * pi * static_cast<double>(i) /
                             static_cast<double>(n)));
  for (int64_t i = 1; i <= n / 2; ++i)
    addAngle(
        circle,
        sign * (-pi * (static_cast<double>(i) / static_cast<double>(n) + 0.5)));
  Type element = std::is_integral_v<T>
                     ? Type(layer.getBuilder().getIntegerType(8 * sizeof(T)))
                     : Type(layer.getBuilder().getF32Type());
  return layer.constant(DenseElementsAttr::get(
      RankedTensorType::get({int64_t(circle.size()) / 2, 2}, element),
      ArrayRef<T>(circle)));
}

/// Builds SignalRfft, or SignalIrfft.
static Value convertFft(Layer &layer, bool isInverse) {
  FlexOptions map(layer);
  int64_t length = map.getInt("fft_length", 4, kMaxLength);
  SignalCall call(layer, 1);
  Value x = call.take(0, {SignalCall::I16, SignalCall::I32, SignalCall::F32},
                      SignalCall::kAnyRank);
  if (!x || !map.isSound())
    return {};
  auto radices = findRadices(length / 2);
  if (length % 2 != 0 || !radices)
    return layer.unsupported(
        "has an 'fft_length' of " + Twine(length) +
        "; nnc handles even numbers whose only prime factors are 2, 3 and 5");
  SmallVector<int64_t> shape(getShape(x));
  int64_t inner = shape.back();
  if (isInverse ? inner != length + 2 : inner > length)
    return layer.broken(
        "reads rows of " + Twine(inner) + " numbers; an " + "'fft_length' of " +
        Twine(length) + " needs " +
        (isInverse ? Twine(length + 2) : "at most " + Twine(length)));
  shape.back() = isInverse ? length : length + 2;
  Type element = getElement(x);
  int64_t n = length / 2;
  std::string type = element.isF32()         ? "f32"
                     : element.isInteger(16) ? "i16"
                                             : "i32";
  call.read(x);
  call.read(element.isF32()         ? makeCircle<float>(layer, n, isInverse)
            : element.isInteger(16) ? makeCircle<int16_t>(layer, n, isInverse)
                                    : makeCircle<int32_t>(layer, n, isInverse));
  call.write(shape, element);
  SmallVector<int64_t> options = {length};
  options.append(*radices);
  int64_t scratch =
      isInverse ? length * (element.getIntOrFloatBitWidth() / 8) : 0;
  std::string function = isInverse ? "nnc_signal_irfft" : "nnc_signal_rfft";
  if (!llvm::isPowerOf2_64(static_cast<uint64_t>(length)))
    function += "_mixed";
  return call.finish("nnc_signal_fft_" + type + ".h", function + "_" + type,
                     options, scratch);
}

Value convertSignalRfft(Layer &layer) {
  return convertFft(layer, /*isInverse=*/false);
}

Value convertSignalIrfft(Layer &layer) {
  return convertFft(layer, /*isInverse=*/true);
}

} // namespace nnc::tflite
