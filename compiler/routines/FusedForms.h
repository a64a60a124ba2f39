//===- FusedForms.h - Forms of one layer in the place of two --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_FUSEDFORMS_H
#define NNC_COMPILER_ROUTINES_FUSEDFORMS_H

#include "compiler/routines/CallCosts.h"

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
  /// time of two; see costs.inc.
  double worthwhile;
  /// Whether the cost of two layers includes bringing the memory of the value
  /// between them into the caches near the core.
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
