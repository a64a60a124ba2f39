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

/// Returns true if elements of this type are integers of 8 or 16 bits.
bool isQuantizedType(mlir::Type element);
/// Returns true if `x` has elements of 8 or 16 bits that represent real
/// numbers.
bool isQuantized(mlir::Value x, const Quantization &quantization);

/// Returns stored integers as a value of the quantized type.
mlir::Value asQuantized(Layer &layer, mlir::Value x,
                        const Quantization &quantization);

/// Returns operand `i` of a layer with float activations, as floats. 16-bit
/// floats and quantized constants (the weights of hybrid layers) are converted
/// at compile time, as some TFLite kernels do at run time.
mlir::Value getReals(Layer &layer, size_t i);

/// The range of the integers of a result after its activation function, and the
/// name of this function as in dialects/nn/description/Description.h.
struct Range {
  int64_t min, max;
  llvm::StringRef activation = "";
};
Range getRange(mlir::Type storage);

/// Returns the range of the operator's result after an activation; nullopt
/// after an error for an activation that TFLite does not define on integers.
std::optional<Range> getActivationRange(Layer &layer,
                                        fb::Activation activation);

/// Returns the operator's result, in its storage type and range, from `sums` in
/// i32. `scales` has one scale of the sums, or one for each index of `axis`.
/// The sums have the quantized type with these scales, or are plain integers.
mlir::Value requantize(Layer &layer, mlir::Value sums,
                       llvm::ArrayRef<double> scales, int64_t axis,
                       std::optional<Range> range);

/// Returns the stored integers minus their zero point, in i32.
mlir::Value centre(Layer &layer, mlir::Value x,
                   const Quantization &quantization);

/// Returns `x`, in i32, times `multiplier` * 2^(`shift` - 31), rounded
/// according to `rescale`, or in the overloads without it as the import rounds.
mlir::Value rescale(Layer &layer, nn::Rescale rescale, mlir::Value x,
                    mlir::Value multiplier, mlir::Value shift);
mlir::Value rescale(Layer &layer, mlir::Value x, mlir::Value multiplier,
                    mlir::Value shift);
mlir::Value rescale(Layer &layer, mlir::Value x, const qnn::FixedPoint &factor);
mlir::Value rescale(Layer &layer, mlir::Value x, double factor);

/// Returns the result's integers: `x`, in i32, times `factor`, rounded as the
/// import rounds, plus the zero point of the result, saturated to the range.
mlir::Value storeRescaled(Layer &layer, mlir::Value x,
                          const qnn::FixedPoint &factor,
                          std::optional<Range> range);
/// Returns the result's integers like the overload above. `operands` are x, the
/// multiplier and the shift, and `rescale` is the rounding of their product.
mlir::Value storeRescaled(Layer &layer, nn::Rescale rescale,
                          llvm::ArrayRef<mlir::Value> operands,
                          std::optional<Range> range);

/// Returns `x`, in i32, plus the zero point of the result, saturated to the
/// range, in the result's type.
mlir::Value store(Layer &layer, mlir::Value x, std::optional<Range> range);

/// Returns `function` of each 8-bit integer in `x` by means of a table.
/// `function` returns an integer in the range of the result's type.
mlir::Value tabulate(Layer &layer, mlir::Value x,
                     llvm::function_ref<int64_t(int64_t)> function);
/// Returns a function of real numbers of `x` by means of a table. As in TFLite,
/// the entries are computed in f32 and halves are rounded away from zero.
mlir::Value tabulateReal(Layer &layer, mlir::Value x,
                         llvm::function_ref<float(float)> function);

/// Returns the activation function of `x`, a tensor of floats; null after an
/// error for an activation that TFLite does not define.
mlir::Value activate(Layer &layer, mlir::Value x, fb::Activation activation);

/// Returns a constant with one i32 element.
mlir::Value constantOf(Layer &layer, int64_t value);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_QNN_QUANTIZED_H
