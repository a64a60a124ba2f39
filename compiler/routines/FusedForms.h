//===- FusedForms.h - Forms of one layer in the place of two --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_FUSEDFORMS_H
#define NNC_COMPILER_ROUTINES_FUSEDFORMS_H

#include "llvm/ADT/StringRef.h"

namespace nnc {

/// A kind of layer that computes what two layers do. The costs of both forms
/// decide which one a pair of layers gets.
struct FusedForm {
  llvm::StringLiteral name;   ///< as the option of nnc-fuse-layers says it
  llvm::StringLiteral family; ///< of the routines that compute the one layer
  /// The attribute that holds the costs of both forms. The one layer has it, or
  /// the second of two layers that stay apart.
  llvm::StringLiteral note;
  /// The pair becomes one layer only if that takes less than this share of the
  /// time of two. The share is below 1 because estimates are a few percent off,
  /// and because much of what two layers move hides behind their arithmetic.
  double worthwhile;
  /// Whether the cost of two layers includes bringing the memory of the value
  /// between them into the caches near the core.
  bool countsFetch;
};

/// All forms, in the order in which nnc-fuse-layers tries them. Both costs of a
/// scaling contain the same matrix product, so that their difference is known
/// better than that of the others.
inline constexpr FusedForm kFusedForms[] = {
    {"expanded", "expanded_conv2d", "nn.expanded", 0.9, true},
    {"separable", "separable_conv2d", "nn.separable", 0.9, true},
    {"scaling", "scaled_conv2d", "nn.scaling", 0.99, false},
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_FUSEDFORMS_H
