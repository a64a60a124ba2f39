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

/// A convolution with constant filters that nn.stored_conv can compute, because
/// its routine has a counterpart in the family stored_conv2d.
struct ConvLayer {
  nn::LayerOp layer;
  const Routine *routine = nullptr; ///< the counterpart in stored_conv2d
  /// Order of the filters' layout, a value of stored_filters.
  int64_t order = 0;

  /// Returns the convolution whose filters `use` is, if `routine` has a
  /// counterpart for it; otherwise nothing.
  static std::optional<ConvLayer> get(mlir::OpOperand &use,
                                      llvm::StringRef routine);
};

/// Returns filters stored in a form of the given kind that the convolution can
/// read a strip at a time, or nothing if there is none. `decoded` is the
/// candidate that computes the convolution with decoded filters. `elements` are
/// the elements of the filters in the layout that `decoded` reads. The result
/// has the shortest strips that cost little time.
std::optional<StoredMatrix> storeFilters(const ConvLayer &conv,
                                         const Candidate &decoded,
                                         llvm::ArrayRef<char> elements,
                                         stored::StoredKind kind,
                                         const CostModel &cost);

/// Returns the seconds that the layer takes with `filters` minus those of
/// `decoded`, or nothing if its routine cannot read this form.
std::optional<double> findStoredConv(const ConvLayer &conv,
                                     const Candidate &decoded,
                                     const StoredMatrix &filters,
                                     const CostModel &cost);

/// Makes the layer read `stored`, the bytes of `filters`.
void readStored(const ConvLayer &conv, const StoredMatrix &filters,
                mlir::Value stored);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_STOREDCONVOLUTIONS_H
