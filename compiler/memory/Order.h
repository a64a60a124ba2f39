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

/// One step of a program: it reads values and makes one or none. A value takes
/// memory from the step that makes it up to the last one that reads it.
struct OrderStep {
  llvm::SmallVector<unsigned> reads; ///< numbers of values, each once
  int made = -1;                     ///< number of the value, or -1
  int64_t scratch = 0;               ///< bytes in use during the step alone
  /// Values whose memory the new one may take if this step is the last one to
  /// read them.
  llvm::SmallVector<unsigned> inPlace;
};

/// Steps, in an order that is possible, and the bytes of the values. A value
/// that no step makes is there from the start.
struct OrderProblem {
  llvm::SmallVector<OrderStep> steps;
  llvm::SmallVector<int64_t> bytes;
  llvm::SmallVector<bool> isKept; ///< values that stay up to the end
};

/// Returns the most bytes that are in use in a step, in this order.
int64_t getPeak(const OrderProblem &problem, llvm::ArrayRef<unsigned> order);

/// Returns the bytes that are in use in each step, in the given order.
llvm::SmallVector<int64_t> getUsage(const OrderProblem &problem);

/// Returns an order of the steps, each behind those whose values it reads, in
/// which the most bytes in use are few: the fewest of all orders unless more
/// than `budget` sets of steps would have to be looked at, and never more than
/// those of the given order.
llvm::SmallVector<unsigned> findOrder(const OrderProblem &problem,
                                      int64_t budget = 20000);

} // namespace nnc

#endif // NNC_COMPILER_MEMORY_ORDER_H
