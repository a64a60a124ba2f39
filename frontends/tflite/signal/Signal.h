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

/// Builds the call of a function of runtime/nnc_signal_*.h for one of TFLite
/// Micro's signal operators. Whatever fails is reported, and finish() gives
/// null then.
class SignalCall {
public:
  /// The operator has so many results.
  SignalCall(Layer &layer, size_t results);

  /// The type of an operand: so many bits, with or without a sign, or a float;
  /// a rank, or any rank but 0.
  enum Kind { I16, I32, U32, U64, F32 };
  static constexpr int64_t kAnyRank = -1;

  /// Returns operand `i`, which has to be of one of these kinds and of the
  /// rank; null, and a report, where it is not.
  mlir::Value take(size_t i, llvm::ArrayRef<Kind> kinds, int64_t rank);
  mlir::Value take(size_t i, Kind kind, int64_t rank = 1) {
    return take(i, llvm::ArrayRef(kind), rank);
  }

  mlir::Type getType(Kind kind);
  mlir::Type getBool() { return layer.getBuilder().getI1Type(); }

  // The function's operands and results, in order; then what it keeps.
  void read(mlir::Value operand);
  void write(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  void keep(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
            mlir::Type element);

  /// Creates the call, sets the layer's results and what is kept for the next
  /// run, and returns the first result.
  mlir::Value finish(llvm::StringRef header, llvm::StringRef function,
                     llvm::ArrayRef<int64_t> options, int64_t scratch = 0);

private:
  Layer &layer;
  Customs::Call call;
  llvm::SmallVector<Variable *> kept;
  bool sound = true;
};

/// The largest option that counts samples or frames.
inline constexpr int64_t kMaxSamples = 1 << 24;

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_SIGNAL_SIGNAL_H
