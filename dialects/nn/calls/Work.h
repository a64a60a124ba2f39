//===- Work.h - The amount of work of an op -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_CALLS_WORK_H
#define NNC_DIALECTS_NN_CALLS_WORK_H

#include "mlir/IR/Operation.h"

namespace nnc::nn {

/// The amount of work of an op, counted on logical shapes (without padding).
struct Work {
  int64_t multiplyAdds = 0;
  int64_t operations = 0; ///< all operations except multiply-adds
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;
};

/// Returns the work of an op that does one operation per element of its result.
Work elementwiseWork(mlir::Operation *op);

/// Returns the work of an op that reads its operands and writes its results and
/// computes nothing.
Work bytesOnly(mlir::Operation *op);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_CALLS_WORK_H
