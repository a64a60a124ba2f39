//===- BatchSamples.h - Networks that compute samples one by one ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_BATCHSAMPLES_H
#define NNC_COMPILER_PASSES_BATCHSAMPLES_H

#include "dialects/nn/Nn.h"

#include "mlir/IR/IRMapping.h"

namespace nnc {

/// The values of a function of layers that are split by samples: they consist
/// of one part for each sample of a batch. The parts of a value have the same
/// size, follow one another along its first axis, and depend on the inputs of
/// their own sample only.
class BatchSamples {
public:
  /// Checks that each op of `function`, whose inputs hold `count` samples,
  /// computes each sample by itself. Fails with a diagnostic at the first op
  /// that may mix samples.
  static mlir::FailureOr<BatchSamples> find(mlir::func::FuncOp function,
                                            int64_t count);

  int64_t getCount() const { return count; }
  /// Returns false if the value is the same for all samples.
  bool isSplit(mlir::Value value) const { return split.contains(value); }
  /// Returns the type that the split value `value` has for `samples` samples.
  mlir::RankedTensorType getType(mlir::Value value, int64_t samples) const;

  /// Creates a copy of `op` for `samples` samples. `values` maps its split
  /// operands to values for as many samples, and gets its results. Operands
  /// that are the same for all samples are created, too, where `values` lacks
  /// them.
  mlir::Operation *clone(mlir::Operation *op, int64_t samples,
                         mlir::OpBuilder &builder,
                         mlir::IRMapping &values) const;

private:
  explicit BatchSamples(int64_t count) : count(count) {}
  mlir::LogicalResult add(mlir::Operation *op);
  bool keepsSamples(mlir::Operation *op,
                    llvm::ArrayRef<bool> splitOperands) const;
  /// Returns true if the op keeps samples apart when constants that hold the
  /// same part for each sample count as split, among its operands from number
  /// `first` on. Records the uses of these constants in `repeated`.
  bool keepsRepeated(mlir::Operation *op, llvm::ArrayRef<bool> splitOperands,
                     size_t first);
  bool hasParts(mlir::Value value) const;

  int64_t count; ///< number of samples in the function
  llvm::DenseSet<mlir::Value> split;
  /// Uses of constants that hold the same part for every sample.
  llvm::DenseSet<mlir::OpOperand *> repeated;
};

} // namespace nnc

#endif // NNC_COMPILER_PASSES_BATCHSAMPLES_H
