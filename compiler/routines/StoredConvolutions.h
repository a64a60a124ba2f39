//===- StoredConvolutions.h - Convolutions by decoded strips ----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_STOREDCONVOLUTIONS_H
#define NNC_COMPILER_ROUTINES_STOREDCONVOLUTIONS_H

#include "compiler/routines/Candidates.h"
#include "compiler/routines/StoredProducts.h"

namespace nnc {

/// A convolution with constant filters, whose routine has one of the family
/// stored_conv2d beside it: nn.stored_conv could compute it.
struct ConvLayer {
  nn::LayerOp layer;
  const Routine *routine = nullptr; ///< that of stored_conv2d
  int64_t order = 0;                ///< a stored_filters: that of the layout

  /// The layer of `use`, if that is the weight of one, with a routine for it.
  static std::optional<ConvLayer> get(mlir::OpOperand &use,
                                      llvm::StringRef routine);
};

/// Returns how a convolution may read filters of a kind of form, or nothing.
/// `decoded` is what computes it with decoded filters, and `elements` are those
/// of the weight in the layout that it reads. A strip is as short as costs
/// little time.
std::optional<StoredMatrix> storeFilters(const ConvLayer &conv,
                                         const Candidate &decoded,
                                         llvm::ArrayRef<char> elements,
                                         stored::StoredKind kind,
                                         const CostModel &cost);

/// Returns the seconds that the layer takes more with filters of this form than
/// `decoded` does, or nothing where its routine cannot read them.
std::optional<double> findStoredConv(const ConvLayer &conv,
                                     const Candidate &decoded,
                                     const StoredMatrix &filters,
                                     const CostModel &cost);

/// Lets the layer read `stored`, the bytes of `filters`.
void readStored(const ConvLayer &conv, const StoredMatrix &filters,
                mlir::Value stored);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_STOREDCONVOLUTIONS_H
