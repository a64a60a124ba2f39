//===- Lengths.td - Ops with data-dependent sizes ----------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Shapes are static: an op that finds a number of results that depends on the
// data gives a list of the largest possible length, which holds that number,
// then the results, then zeros. `nn.prefix` takes the results out of the list;
// their number is a size of the program from there on (compiler/sizes).
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_LENGTHS_LENGTHS
#define NNC_DIALECTS_NN_LENGTHS_LENGTHS

include "dialects/nn/NnBase.td"

def Nn_PrefixOp : Nn_RoutineOp<"prefix"> {
  let summary = "The first slices of axis 0, as many as are found at run time";
  let description = [{
    The first slices of `x` along axis 0. Their number is the value of `count`,
    a tensor of one i32, when the program runs. That value becomes the value of
    the data-dependent size with the number `size`; several ops may share a
    size. `length` is the value of the size for which the network is compiled,
    and axis 0 of the result; it may be larger than axis 0 of `x`.

    Example: `%y = nn.prefix %x, %n {length = 5 : i64, size = 0 : i64} : (tensor<9x2xi64>, tensor<i32>) -> tensor<5x2xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$count, I64Attr:$length,
                       I64Attr:$size);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_OffsetOp : Nn_RoutineOp<"offset"> {
  let summary = "A short vector plus constants that may depend on the sizes";
  let description = [{
    Element i of `x`, in row-major order, plus `values[i]`. `x` has at most 16
    elements. In a network that is compiled for several sizes, the values may
    depend on the sizes: the op computes, for example, a shape that the network
    calculates with (compiler/sizes).

    Example: `%y = nn.offset %x {values = array<i64: 3, 8>} : (tensor<2xi64>) -> tensor<2xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x, DenseI64ArrayAttr:$values);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// The largest number of elements of the operand.
    static constexpr int64_t kMost = 16;
  }];
}

def Nn_StepsOp : Nn_RoutineOp<"steps"> {
  let summary = "An arithmetic progression";
  let description = [{
    A tensor of `shape` whose elements, in row-major order, are `x + start`,
    `x + start + step`, `x + start + 2 * step` and so on, where `x` is a tensor
    of one element. In a network that is compiled for several sizes, the
    attributes may depend on the sizes.

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
    A list of i64 about the elements of `x` that are not zero: their number,
    then their indices, counted in row-major order, from the lowest to the
    highest, then zeros. For an operand of N elements, the list has N + 1.

    Example: `%y = nn.find %x : (tensor<3x4xf32>) -> tensor<13xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_DistinctOp : Nn_RoutineOp<"distinct"> {
  let summary = "The distinct rows of a matrix";
  let description = [{
    A list of i64 about the distinct rows of the matrix `x`: their number,
    followed by three lists with one entry for each row of x. The first holds,
    for each distinct row, the index of its first occurrence in x; the second,
    for each row of x, the number of the distinct row that is equal to it; the
    third, for each distinct row, how often it occurs. The first and the third
    list end in zeros if there are fewer distinct rows than rows.

    The distinct rows are numbered in ascending order if `sorted`, otherwise in
    the order of their first occurrence. NaN is equal to NaN and larger than all
    numbers.

    Example: `%y = nn.distinct %x {sorted = true} : (tensor<4x2xf32>) -> tensor<13xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x, BoolAttr:$sorted);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_SuppressOp : Nn_RoutineOp<"suppress"> {
  let summary = "Non-maximum suppression of boxes";
  let description = [{
    For each batch and class, boxes are selected in order of descending score,
    with equal scores in order of their index. A box is selected if its score is
    above `least` and if, for each box selected before it, the intersection of
    the two is at most the fraction `overlap` of their union. At most `limit`
    boxes are selected for each batch and class, and at most `most`.

    `boxes` is batches x boxes x 4: two opposite corners (y, x, y, x) or, if
    `centered`, the centre, the width and the height (x, y, w, h). `scores` is
    batches x classes x boxes. `limit` is a tensor of one i64; `overlap` and
    `least` are tensors of one float of the element type of the boxes.

    The result is a list of 1 + 3 * batches * classes * `most` i64: the number
    of selected boxes, a triple (batch, class, box) for each of them, then
    zeros.

    Example: `%y = nn.suppress %b, %s, %n, %o, %l {most = 3 : i64, centered = false} : (tensor<1x9x4xf32>, tensor<1x2x9xf32>, tensor<1xi64>, tensor<1xf32>, tensor<1xf32>) -> tensor<19xi64>`.
  }];
  let arguments = (ins Nn_Float:$boxes, Nn_Float:$scores, Nn_Tensor:$limit,
                       Nn_Float:$overlap, Nn_Float:$least, I64Attr:$most,
                       BoolAttr:$centered);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_LENGTHS_LENGTHS
