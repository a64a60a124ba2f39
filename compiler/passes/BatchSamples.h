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

/// The values of a function of layers that consist of one part for each sample
/// of a batch: all parts of a value have one size, lie one behind the other
/// along its first axis, and depend on the inputs of their own sample alone.
class BatchSamples {
public:
  /// Proves for each op of `function`, whose inputs hold `count` samples, that
  /// it computes samples one by one. Fails, with a diagnostic at the first op
  /// that may mix them.
  static mlir::FailureOr<BatchSamples> find(mlir::func::FuncOp function,
                                            int64_t count);

  int64_t getCount() const { return count; }
  /// Returns false if the value is the same for all samples.
  bool isSplit(mlir::Value value) const { return split.contains(value); }
  /// Returns the type of `value`, which is split, with parts for `samples`
  /// samples.
  mlir::RankedTensorType getType(mlir::Value value, int64_t samples) const;

  /// Creates the op for `samples` samples. `values` has its operands that are
  /// split, for as many, and gets its results. What is the same for all samples
  /// is created, too, where `values` lacks it.
  mlir::Operation *clone(mlir::Operation *op, int64_t samples,
                         mlir::OpBuilder &builder,
                         mlir::IRMapping &values) const;

private:
  explicit BatchSamples(int64_t count) : count(count) {}
  mlir::LogicalResult add(mlir::Operation *op);
  bool keepsSamples(mlir::Operation *op,
                    llvm::ArrayRef<bool> splitOperands) const;
  /// Whether the op keeps samples apart if constants among its operands from
  /// number `first` on are taken as the same part for each sample.
  bool keepsRepeated(mlir::Operation *op, llvm::ArrayRef<bool> splitOperands,
                     size_t first);
  bool hasParts(mlir::Value value) const;

  int64_t count; ///< of samples in the function
  llvm::DenseSet<mlir::Value> split;
  /// Uses of constants that hold the same part for every sample.
  llvm::DenseSet<mlir::OpOperand *> repeated;
};

} // namespace nnc

#endif // NNC_COMPILER_PASSES_BATCHSAMPLES_H
