//===- IntegerSums.h - Whether integers are faster than floats ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_INTEGERSUMS_H
#define NNC_COMPILER_ROUTINES_INTEGERSUMS_H

#include "compiler/routines/Cost.h"

namespace nnc {

/// The estimated seconds of a product, an nn.conv or nn.matmul of floats whose
/// operands are dequantized and whose result is quantized.
struct ProductTimes {
  double floats;   ///< with the conversions before and after it
  double integers; ///< of operands of 8 bits, with the requantization
};

/// Returns the times of `product` with the fastest routines of the machine;
/// infinite where there is none.
ProductTimes estimateProduct(mlir::Operation *product, const CostModel &cost);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_INTEGERSUMS_H
