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
  let summary = "The first slices of axis 0, whose number is found at run time";
  let description = [{
    The number of slices is in `count`, one i32. It is the value of the
    data-dependent size with the number `size`, which several ops may share.
    `length` is the size for which the network is compiled; it may be larger
    than axis 0 of `x`.

    Example: `%y = nn.prefix %x, %n {length = 5 : i64, size = 0 : i64} : (tensor<9x2xi64>, tensor<i32>) -> tensor<5x2xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$count, I64Attr:$length,
                       I64Attr:$size);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_OffsetOp : Nn_RoutineOp<"offset"> {
  let summary = "Each element plus an integer of that element";
  let description = [{
    `values` holds an integer for each of at most 16 elements. In a network that
    is compiled for several sizes, they may depend on the sizes, like the
    elements of a shape with which the network computes (compiler/sizes).

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
    plus the one element of `x`. They may depend on sizes like the integers of
    `nn.offset`.

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
    For an operand of N elements the result has N + 1 elements: the number of
    elements that are not zero, their positions in row-major order, and zeros.

    Example: `%y = nn.find %x : (tensor<3x4xf32>) -> tensor<13xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_DistinctOp : Nn_RoutineOp<"distinct"> {
  let summary = "The distinct rows of a matrix";
  let description = [{
    For a matrix of `rows` rows the result has 1 + 3 * rows elements: the number
    of distinct rows; for each distinct row the index of its first occurrence;
    for each row the number of its distinct row; and for each distinct row its
    number of occurrences. Shorter lists are filled up with zeros. The distinct
    rows are in ascending order if `sorted`, otherwise in the order of their
    first occurrence. NaN is equal to NaN and larger than all numbers.

    Example: `%y = nn.distinct %x {sorted = true} : (tensor<4x2xf32>) -> tensor<13xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x, BoolAttr:$sorted);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_SuppressOp : Nn_RoutineOp<"suppress"> {
  let summary = "Non-maximum suppression of boxes";
  let description = [{
    `boxes` is batches x boxes x 4: two corners (y, x, y, x) or, if `centered`,
    center, width and height (x, y, w, h). `scores` is batches x classes x boxes.
    For each batch and class, boxes are selected in order of descending score,
    with equal scores in order of their index, until their number is the i64 in
    `limit`. A box is selected if its score is above that in `least` and if its
    intersection with each box selected before is at most `overlap` of their
    union.

    The result has 1 + 3 * batches * classes * `most` elements: the number of
    selected boxes, a triple (batch, class, box) for each, and zeros. At most
    `most` boxes are selected for each batch and class.

    Example: `%y = nn.suppress %b, %s, %n, %o, %l {most = 3 : i64, centered = false} : (tensor<1x9x4xf32>, tensor<1x2x9xf32>, tensor<1xi64>, tensor<1xf32>, tensor<1xf32>) -> tensor<19xi64>`.
  }];
  let arguments = (ins Nn_Float:$boxes, Nn_Float:$scores, Nn_Tensor:$limit,
                       Nn_Float:$overlap, Nn_Float:$least, I64Attr:$most,
                       BoolAttr:$centered);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_LENGTHS_LENGTHS
