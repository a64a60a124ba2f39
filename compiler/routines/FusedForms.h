//===- FusedForms.h - Kinds of layers that replace two layers -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_FUSEDFORMS_H
#define NNC_COMPILER_ROUTINES_FUSEDFORMS_H

#include "compiler/routines/CallCosts.h"

#include "llvm/ADT/StringRef.h"

namespace nnc {

/// A kind of layer that computes two layers in one. The costs of both decide
/// which one a pair of layers gets.
struct FusedForm {
  llvm::StringLiteral name; ///< value of the option `forms` of nnc-fuse-layers
  llvm::StringLiteral family; ///< family of the routines of the fused layer
  /// Name of the attribute that holds the costs of both choices. It is set on
  /// the fused layer, or on the second layer if the two stay apart.
  llvm::StringLiteral note;
  /// The pair is fused only if the fused layer takes less than this fraction of
  /// the time of both layers; see costs.inc.
  double worthwhile;
  /// True if the cost of two separate layers includes the time to bring the
  /// memory of the value between them into the caches near the core.
  bool countsFetch;
};

/// All forms, in the order in which nnc-fuse-layers tries them.
inline constexpr FusedForm kFusedForms[] = {
#define NNC_FUSED_FORM(name, family, note, worthwhile, countsFetch, ...)       \
  {name, family, note, costs::worthwhile, countsFetch},
#include "compiler/routines/fused_forms.inc"
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_FUSEDFORMS_H
