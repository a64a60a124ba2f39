//===- Learned.td - Ops of classical machine learning ------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_LEARNED_LEARNED
#define NNC_DIALECTS_NN_LEARNED_LEARNED

include "dialects/nn/NnBase.td"
include "mlir/IR/EnumAttr.td"

def Nn_TreeReduction : I32EnumAttr<"TreeReduction",
    "what is made of the scores of all trees", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"min", 1>,
    I32EnumAttrCase<"max", 2>]> {
  let cppNamespace = "::nnc::nn";
  let genSpecializedAttr = 0;
}
def Nn_TreeReductionAttr
    : EnumAttr<Nn_Dialect, Nn_TreeReduction, "tree_reduction">;

def Nn_TreeEnsembleOp : Nn_RoutineOp<"tree_ensemble", [Nn_Axes]> {
  let summary = "Scores that decision trees give to rows of features";
  let description = [{
    x is rows x features. `values`, `tests` and `jumps` hold a number for each
    node of all trees, and `roots` the nodes at which trees start
    (`runtime/routines/learned/tree_ensemble/portable.h`). Leaves have a score for one
    of the `targets`, or if `dense` a row of `scores` with one for each;
    otherwise `scores` has one element, which nothing reads. A target for which
    no leaf has a score gets 0.

    Example: `%y = nn.tree_ensemble sum %x, %v, %t, %j, %r, %s {targets = 1 : i64, dense = false} : (tensor<4x5xf32>, tensor<3xf32>, tensor<3xi16>, tensor<3xi16>, tensor<1xi32>, tensor<1xf32>) -> tensor<4x1xf32>`.
  }];
  let arguments = (ins Nn_TreeReductionAttr:$reduction, Nn_Float:$x,
                       Nn_Float:$values, Nn_Tensor:$tests, Nn_Tensor:$jumps,
                       Nn_Tensor:$roots, Nn_Float:$scores, I64Attr:$targets,
                       BoolAttr:$dense);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = [{
    $reduction operands attr-dict `:` functional-type(operands, results)
  }];
}

def Nn_SquaredDistanceOp : Nn_RoutineOp<"squared_distance"> {
  let summary = "Squared Euclidean distances of the rows of two matrices";
  let description = [{
    `y[i, j]` is the sum over k of `(x[i, k] - w[j, k])^2`.

    Example: `%y = nn.squared_distance %x, %w : (tensor<4x3xf32>, tensor<7x3xf32>) -> tensor<4x7xf32>`.
  }];
  let arguments = (ins Nn_Float:$x, Nn_Float:$w);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_CoupleProbabilitiesOp : Nn_RoutineOp<"couple_probabilities"> {
  let summary = "Probabilities of classes from those within pairs of classes";
  let description = [{
    x holds for each row and pair of classes, (0, 1), (0, 2), ... (1, 2), ..., the
    probability of the first of both if it is one of these. The result has one
    for each class (`runtime/routines/learned/couple_probabilities/portable.h`).

    Example: `%y = nn.couple_probabilities %x {classes = 4 : i64} : (tensor<2x6xf32>) -> tensor<2x4xf32>`.
  }];
  let arguments = (ins Nn_Float:$x, I64Attr:$classes);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_LEARNED_LEARNED
