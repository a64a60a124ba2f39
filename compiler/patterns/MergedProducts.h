//===- MergedProducts.h - One product in the place of several -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_MERGEDPRODUCTS_H
#define NNC_COMPILER_PATTERNS_MERGEDPRODUCTS_H

#include "dialects/nn/Nn.h"

namespace nnc {

/// Products of one tensor with constant matrices that an attention reads, and
/// what can replace them: one product with all columns side by side, and an
/// attention that reads its operands from these columns.
struct MergedProducts {
  llvm::SmallVector<nn::LayerOp, 3> products; ///< in the order of their columns
  nn::LayerOp product, attention;             ///< the new layers
};

/// Builds the product that computes two or three of q, k and v of the layer
/// `attention`, and the attention that reads it, and leaves the old layers in
/// place. Returns nothing if the operands are no such products.
std::optional<MergedProducts> mergeProducts(nn::LayerOp attention);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_MERGEDPRODUCTS_H
