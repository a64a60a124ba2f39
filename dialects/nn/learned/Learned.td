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
  let summary = "Scores of an ensemble of decision trees";
  let description = [{
    For each row of features and each target, the sum, minimum or maximum of the
    scores of the leaves that the row reaches, one in each tree. `x` is rows x
    features, and the result is rows x `targets`. A target gets 0 if no leaf
    that the row reaches has a score for it.

    All trees have their nodes in one list. `values`, of x's element type, and
    `tests` and `jumps`, both i16 or both i32, have one entry for each node;
    `roots` holds the index of each tree's first node. See
    `runtime/routines/learned/tree_ensemble/portable.h` for the entries. Without
    `dense`, a leaf has a score for one target, and `scores` has
    one element, which nothing reads. With `dense`, a leaf refers to a row of
    `scores`, which has one score for each target.

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
    `y[i, j] = sum over k of (x[i, k] - w[j, k])^2` for matrices `x` and `w`
    with rows of one length and one element type.

    Example: `%y = nn.squared_distance %x, %w : (tensor<4x3xf32>, tensor<7x3xf32>) -> tensor<4x7xf32>`.
  }];
  let arguments = (ins Nn_Float:$x, Nn_Float:$w);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_CoupleProbabilitiesOp : Nn_RoutineOp<"couple_probabilities"> {
  let summary = "Class probabilities by pairwise coupling";
  let description = [{
    The probability of each of `classes` classes, from 2 to 65535, by the
    pairwise coupling of Wu, Lin and Weng (2004), as support vector machines use
    it (`runtime/routines/learned/couple_probabilities/portable.h`). A row of
    `x` has one element for each pair of classes, in the order (0, 1), (0, 2),
    ..., (1, 2), ...: the probability that the class is the first of the pair,
    given that it is one of the two. The result is rows x classes.

    Example: `%y = nn.couple_probabilities %x {classes = 4 : i64} : (tensor<2x6xf32>) -> tensor<2x4xf32>`.
  }];
  let arguments = (ins Nn_Float:$x, I64Attr:$classes);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_LEARNED_LEARNED
