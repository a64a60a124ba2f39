//===- Order.h - Orders of steps that need little memory --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_MEMORY_ORDER_H
#define NNC_COMPILER_MEMORY_ORDER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace nnc {

/// A step of a program, which reads values and produces at most one. A value
/// takes memory from the step that produces it to the last step that reads it.
struct OrderStep {
  llvm::SmallVector<unsigned> reads; ///< numbers of the values, without repeats
  int made = -1;                     ///< number of the produced value, or -1
  int64_t scratch = 0; ///< bytes that are in use during this step only
  /// The read values whose memory the produced value may reuse if this step is
  /// their last reader.
  llvm::SmallVector<unsigned> inPlace;
};

/// The steps of a program, in an order in which each value is produced before
/// it is read, and the size in bytes of each value. A value that no step
/// produces exists from the start.
struct OrderProblem {
  llvm::SmallVector<OrderStep> steps;
  llvm::SmallVector<int64_t> bytes;
  /// For each value, whether it is needed at the end.
  llvm::SmallVector<bool> isKept;
};

/// Returns the largest number of bytes in use during any step if the steps run
/// in the order `order`.
int64_t getPeak(const OrderProblem &problem, llvm::ArrayRef<unsigned> order);

/// Returns the number of bytes in use during each step if the steps run in the
/// order of `problem`.
llvm::SmallVector<int64_t> getUsage(const OrderProblem &problem);

/// Returns an order of the steps that keeps the peak, the largest number of
/// bytes in use during any step, low. Each step comes after the steps whose
/// values it reads. The peak is the lowest of all orders unless the search
/// would have to visit more than about `budget` sets of completed steps, and it
/// is never higher than that of the given order.
llvm::SmallVector<unsigned> findOrder(const OrderProblem &problem,
                                      int64_t budget = 20000);

} // namespace nnc

#endif // NNC_COMPILER_MEMORY_ORDER_H
