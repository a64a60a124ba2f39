//===- Quantized.h - Integers of quantized tensors ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_QNN_QUANTIZED_H
#define NNC_FRONTENDS_TFLITE_QNN_QUANTIZED_H

#include "frontends/tflite/graph/Layer.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnc::tflite {

/// Whether elements of that type are integers of 8 or 16 bits.
bool isQuantizedType(mlir::Type element);
/// Whether `x` is an integer of 8 or 16 bits that stands for a real number.
bool isQuantized(mlir::Value x, const Quantization &quantization);

/// Returns stored integers as a value of the quantized type.
mlir::Value asQuantized(Layer &layer, mlir::Value x,
                        const Quantization &quantization);

/// Returns operand `i` beside activations of floats. Halves and quantized
/// constants, the weights of hybrid layers, are converted when compiling, as
/// some kernels do when they run.
mlir::Value getReals(Layer &layer, size_t i);

/// The range of the integers of a result after its activation function, and the
/// name of that function as in dialects/nn/description/Description.h.
struct Range {
  int64_t min, max;
  llvm::StringRef activation = "";
};
Range getRange(mlir::Type storage);

/// Returns the range of the operator's result that an activation leaves;
/// nullopt and a report for one that TFLite does not define on integers.
std::optional<Range> getActivationRange(Layer &layer,
                                        fb::Activation activation);

/// Returns the operator's result, in its storage type and range: `sums`, in
/// i32, whose unit is worth `scales`, one or one for each index of `axis`. They
/// have the quantized type of these scales, or are plain.
mlir::Value requantize(Layer &layer, mlir::Value sums,
                       llvm::ArrayRef<double> scales, int64_t axis,
                       std::optional<Range> range);

/// Returns stored integers minus their zero point, in i32.
mlir::Value centre(Layer &layer, mlir::Value x,
                   const Quantization &quantization);

/// Returns x, in i32, times a factor, as `rescale` says or as the import rounds
/// it.
mlir::Value rescale(Layer &layer, nn::Rescale rescale, mlir::Value x,
                    mlir::Value multiplier, mlir::Value shift);
mlir::Value rescale(Layer &layer, mlir::Value x, mlir::Value multiplier,
                    mlir::Value shift);
mlir::Value rescale(Layer &layer, mlir::Value x, const qnn::FixedPoint &factor);
mlir::Value rescale(Layer &layer, mlir::Value x, double factor);

/// Returns the result's integers: x, in i32, times a factor, as the import
/// rounds it, plus the zero point of the result, saturated to the range.
mlir::Value storeRescaled(Layer &layer, mlir::Value x,
                          const qnn::FixedPoint &factor,
                          std::optional<Range> range);
/// Returns the same where `rescale` says how x is multiplied by a multiplier
/// and a shift, the other operands.
mlir::Value storeRescaled(Layer &layer, nn::Rescale rescale,
                          llvm::ArrayRef<mlir::Value> operands,
                          std::optional<Range> range);

/// Returns x, in i32, plus the zero point of the result, saturated to the
/// range, as the result's type.
mlir::Value store(Layer &layer, mlir::Value x, std::optional<Range> range);

/// Returns the entries of a table for each integer of 8 bits in x. `function`
/// gives the result, in the range of its type, of an integer.
mlir::Value tabulate(Layer &layer, mlir::Value x,
                     llvm::function_ref<int64_t(int64_t)> function);
/// The same for a function of real numbers: TFLite computes the entries in f32
/// and rounds halves away from zero.
mlir::Value tabulateReal(Layer &layer, mlir::Value x,
                         llvm::function_ref<float(float)> function);

/// Returns the activation of a float; null and a report for one that TFLite
/// does not define.
mlir::Value activate(Layer &layer, mlir::Value x, fb::Activation activation);

/// A constant of one i32.
mlir::Value constantOf(Layer &layer, int64_t value);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_QNN_QUANTIZED_H
