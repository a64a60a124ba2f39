//===- FusedForms.h - Layers that may stand for two -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_FUSEDFORMS_H
#define NNC_COMPILER_ROUTINES_FUSEDFORMS_H

#include "llvm/ADT/StringRef.h"

namespace nnc {

/// A kind of layer that computes what two layers do. Which form a pair gets is
/// decided by the costs of both.
struct FusedForm {
  llvm::StringLiteral family; ///< of the routines that compute it
  /// The attribute that has both costs: of the one layer, or of the second of
  /// two that could be one.
  llvm::StringLiteral note;
  /// One layer takes less than this share of the time of two, or there are two.
  double worthwhile;
};

/// Estimates are a few percent off, and much of what two layers move hides
/// behind their arithmetic.
inline constexpr FusedForm kExpandedForm = {"expanded_conv2d", "nn.expanded",
                                            0.9};
inline constexpr FusedForm kSeparableForm = {"separable_conv2d", "nn.separable",
                                             0.9};
/// Both estimates have the same product in them: what else they differ by is
/// known well enough.
inline constexpr FusedForm kScaledForm = {"scaled_conv2d", "nn.scaling", 0.99};

inline constexpr const FusedForm *kFusedForms[] = {
    &kExpandedForm, &kSeparableForm, &kScaledForm};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_FUSEDFORMS_H
