//===- WeightOptions.td - Options of passes about weights --*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_WEIGHT_OPTIONS
#define NNC_COMPILER_WEIGHT_OPTIONS

include "mlir/Pass/PassBase.td"

/// The options of passes that ask which routines can compute a layer: the
/// members of WeightRules.
defvar weightRuleOptions = [
  Option<"weightsEncoding", "weights-encoding", "std::string",
         /*default=*/"\"auto\"",
         "kind of weights that layers have where they can">,
];

#endif // NNC_COMPILER_WEIGHT_OPTIONS
