//===- Lengths.td - Ops with results as long as data say ---*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Shapes are static: an op that finds any number of things writes how many,
// then the things, then zeros. `nn.prefix` takes as many as were found, which
// is a size of the program from there on (compiler/sizes).
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_LENGTHS_LENGTHS
#define NNC_DIALECTS_NN_LENGTHS_LENGTHS

include "dialects/nn/NnBase.td"

def Nn_PrefixOp : Nn_RoutineOp<"prefix"> {
  let summary = "The first slices of axis 0, as many as a run finds";
  let description = [{
    `count` holds one i32, which becomes size number `size` of those that a run
    finds; several ops may have the same one. `length` is the size that the
    network is compiled for, and may be more than `x` has.

    Example: `%y = nn.prefix %x, %n {length = 5 : i64, size = 0 : i64} : (tensor<9x2xi64>, tensor<i32>) -> tensor<5x2xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$count, I64Attr:$length,
                       I64Attr:$size);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_OffsetOp : Nn_RoutineOp<"offset"> {
  let summary = "Each element plus an integer of its own";
  let description = [{
    `values` holds an integer for each of at most 16 elements. In a network that is
    compiled for several sizes they may depend on these, as a shape does that
    the network computes with (compiler/sizes).

    Example: `%y = nn.offset %x {values = array<i64: 3, 8>} : (tensor<2xi64>) -> tensor<2xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x, DenseI64ArrayAttr:$values);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// The largest number of elements.
    static constexpr int64_t kMost = 16;
  }];
}

def Nn_StepsOp : Nn_RoutineOp<"steps"> {
  let summary = "An arithmetic progression";
  let description = [{
    The elements, row-major, are `start`, `start + step`, `start + 2 * step`, ..., all
    plus the one element of `x`. They may depend on sizes as those of `nn.offset` may.

    Example: `%y = nn.steps %x {shape = array<i64: 4, 1>, start = 0 : i64, step = 3 : i64} : (tensor<i64>) -> tensor<4x1xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x, DenseI64ArrayAttr:$shape, I64Attr:$start,
                       I64Attr:$step);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_FindOp : Nn_RoutineOp<"find"> {
  let summary = "The positions of the elements that are not zero";
  let description = [{
    Of N elements the result has N + 1: how many are not zero, their positions in
    row-major order, and zeros.

    Example: `%y = nn.find %x : (tensor<3x4xf32>) -> tensor<13xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_DistinctOp : Nn_RoutineOp<"distinct"> {
  let summary = "The distinct rows of a matrix";
  let description = [{
    The result of `rows` rows has 1 + 3 * rows elements: how many rows are
    distinct; the index of the first row that is like each of them; for each row,
    which of them it is; and how many rows are like each. Lists that are shorter
    end in zeros. The distinct rows are in ascending order if `sorted`, else in
    that of their first occurrence. NaN is equal to NaN and larger than all numbers.

    Example: `%y = nn.distinct %x {sorted = true} : (tensor<4x2xf32>) -> tensor<13xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x, BoolAttr:$sorted);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_SuppressOp : Nn_RoutineOp<"suppress"> {
  let summary = "The boxes that are left by non-maximum suppression";
  let description = [{
    `boxes` is batches x boxes x 4: two corners (y, x, y, x) or, if `centered`,
    center, width and height (x, y, w, h). `scores` is batches x classes x boxes.
    Of each batch and class boxes are taken by falling score, of equal ones by rising
    index, while they are fewer than the i64 in `limit`: those whose score is above that in
    `least`, and whose intersection with each box taken before is at most `overlap` of the union.

    The result has 1 + 3 * batches * classes * `most` elements: how many boxes
    were taken, a triple (batch, class, box) of each, and zeros. Of each batch and class no more
    than `most` are taken.

    Example: `%y = nn.suppress %b, %s, %n, %o, %l {most = 3 : i64, centered = false} : (tensor<1x9x4xf32>, tensor<1x2x9xf32>, tensor<1xi64>, tensor<1xf32>, tensor<1xf32>) -> tensor<19xi64>`.
  }];
  let arguments = (ins Nn_Float:$boxes, Nn_Float:$scores, Nn_Tensor:$limit,
                       Nn_Float:$overlap, Nn_Float:$least, I64Attr:$most,
                       BoolAttr:$centered);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_LENGTHS_LENGTHS
