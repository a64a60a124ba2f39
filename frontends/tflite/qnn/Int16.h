//===- Int16.h - Sums of products of integers of 16 bits ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

// Layers with 16-bit activations accumulate products in 64 bits and rescale the
// sums by a 16-bit multiplier, unless their bias has 32 bits: then sums and
// multipliers have 32 bits, as with 8-bit activations.

#ifndef NNC_FRONTENDS_TFLITE_QNN_INT16_H
#define NNC_FRONTENDS_TFLITE_QNN_INT16_H

#include "frontends/tflite/qnn/Quantized.h"

namespace nnc::tflite {

/// Returns true if `x` is a 16-bit activation.
bool isInt16Activation(mlir::Value x, const Quantization &quantization);

/// How a layer accumulates products of 16-bit activations and weights.
struct Int16Sums {
  /// The accumulator type: i64, or i32 if the bias has 32 bits or if no sum can
  /// exceed 32 bits.
  mlir::Type type;
  /// True if the multiplier has 16 bits.
  bool isShort;
  mlir::Value bias; ///< one element of type `type` per channel; may be null

  mlir::TypeAttr getAccumulator() const { return mlir::TypeAttr::get(type); }
};

/// Returns how the layer adds products of its activations (operand `input`) and
/// its weights (operand 1, with one channel for each index of `axis`) and its
/// bias (operand `bias`, which may be absent: then `biasType` in the options
/// says which type a bias would have). Returns nullopt, after an error, for
/// combinations that TFLite does not define.
std::optional<Int16Sums> planInt16Sums(Layer &layer, size_t input, int64_t axis,
                                       size_t bias, fb::TensorType biasType);

/// Returns a table of 513 16-bit numbers, in units of 1 / `unit`, for the
/// approximation of `function` on [`least`, `most`] by linear interpolation. As
/// in TFLite, each entry is corrected by half the error in the middle of its
/// interval, and all numbers are computed in type T, float or double.
template <class T>
mlir::Value makeLines(Layer &layer, T least, T most, T unit,
                      llvm::function_ref<T(T)> function);

/// Returns `function` of the 16-bit activations `x`, by linear interpolation in
/// a table of makeLines().
mlir::Value tabulateInt16(Layer &layer, mlir::Value x,
                          llvm::function_ref<float(float)> function);

/// Returns the operator's result, in i16, from the sums of a layer. `scales`
/// has one scale of the sums, or one for each index of `axis`, which is also
/// the axis of the bias.
mlir::Value finishInt16Sums(Layer &layer, mlir::Value sums,
                            const Int16Sums &plan,
                            llvm::ArrayRef<double> scales, int64_t axis,
                            fb::Activation activation);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_QNN_INT16_H
