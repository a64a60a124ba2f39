//===- Int16.h - Sums of products of integers of 16 bits ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

// Layers with activations of 16 bits sum up products in 64 bits and rescale
// sums by a multiplier of 16 bits, unless their bias has 32 bits: then sums and
// multipliers have 32 bits, as with activations of 8 bits.

#ifndef NNC_FRONTENDS_TFLITE_QNN_INT16_H
#define NNC_FRONTENDS_TFLITE_QNN_INT16_H

#include "frontends/tflite/qnn/Quantized.h"

namespace nnc::tflite {

/// Whether `x` is an activation of 16 bits.
bool isInt16Activation(mlir::Value x, const Quantization &quantization);

/// How a layer sums up products of activations of 16 bits and weights.
struct Int16Sums {
  /// The type of sums: i64, or i32 where that holds all of them.
  mlir::Type type;
  /// Whether the multiplier has 16 bits.
  bool isShort;
  mlir::Value bias; ///< in `type`, a number for each channel; may be null

  mlir::TypeAttr getAccumulator() const { return mlir::TypeAttr::get(type); }
};

/// Returns how the layer adds products of its activations (operand `input`) and
/// its weights (operand 1, with one channel for each index of `axis`) and its
/// bias (operand `bias`, which may be absent: then `biasType` in the options
/// says which type a bias would have). Returns nullopt, after an error, for
/// combinations that TFLite does not define.
std::optional<Int16Sums> planInt16Sums(Layer &layer, size_t input, int64_t axis,
                                       size_t bias, fb::TensorType biasType);

/// Returns a table of 513 numbers of 16 bits, in units of 1 / `unit`, between
/// whose entries lines approach `function` at arguments from `least` to `most`.
/// As in TFLite, an entry is moved by half the error in the middle of its line,
/// and all is computed in numbers of type T, float or double.
template <class T>
mlir::Value makeLines(Layer &layer, T least, T most, T unit,
                      llvm::function_ref<T(T)> function);

/// Returns a function of activations of 16 bits by such lines.
mlir::Value tabulateInt16(Layer &layer, mlir::Value x,
                          llvm::function_ref<float(float)> function);

/// Returns the operator's result, in i16, of sums whose unit is worth `scales`,
/// one or one for each index of `axis`, along which the bias lies.
mlir::Value finishInt16Sums(Layer &layer, mlir::Value sums,
                            const Int16Sums &plan,
                            llvm::ArrayRef<double> scales, int64_t axis,
                            fb::Activation activation);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_QNN_INT16_H
