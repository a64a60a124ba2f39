//===- Signal.h - Operators that a function of nnc_signal_*.h computes ----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_SIGNAL_SIGNAL_H
#define NNC_FRONTENDS_TFLITE_SIGNAL_SIGNAL_H

#include "frontends/tflite/custom/Custom.h"
#include "frontends/tflite/custom/Flex.h"

namespace nnc::tflite {

/// A builder of the call of a function in runtime/nnc_signal_*.h for one of
/// TFLite Micro's signal operators. Errors are reported, and finish() then
/// returns null.
class SignalCall {
public:
  /// Begins the call for an operator that must have `results` results.
  SignalCall(Layer &layer, size_t results);

  /// The element types of operands: signed (I), unsigned (U) or float (F) with
  /// this number of bits. kAnyRank stands for any rank except 0.
  enum Kind { I16, I32, U32, U64, F32 };
  static constexpr int64_t kAnyRank = -1;

  /// Returns operand `i`, which must have one of these element types and this
  /// rank; null after an error if it has not.
  mlir::Value take(size_t i, llvm::ArrayRef<Kind> kinds, int64_t rank);
  mlir::Value take(size_t i, Kind kind, int64_t rank = 1) {
    return take(i, llvm::ArrayRef(kind), rank);
  }

  mlir::Type getType(Kind kind);
  mlir::Type getBool() { return layer.getBuilder().getI1Type(); }

  // Adds an operand, a result, or a state that is kept between runs to the
  // call. They have to be added in this order.
  void read(mlir::Value operand);
  void write(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  void keep(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
            mlir::Type element);

  /// Creates the call, sets the layer's results and the new values of the kept
  /// state, and returns the first result.
  mlir::Value finish(llvm::StringRef header, llvm::StringRef function,
                     llvm::ArrayRef<int64_t> options, int64_t scratch = 0);

private:
  Layer &layer;
  Customs::Call call;
  llvm::SmallVector<Variable *> kept;
  bool sound = true;
};

/// The largest value of options that count samples or frames.
inline constexpr int64_t kMaxSamples = 1 << 24;

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_SIGNAL_SIGNAL_H
