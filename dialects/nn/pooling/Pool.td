//===- Pool.td - Reductions of sliding windows -------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//
// Attribute lists hold one value for each spatial axis, in elements; `pads`
// holds the padding at the beginning of each axis, then the padding at the end
// of each axis. Shapes are logical, whatever the layout.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_POOLING_POOL
#define NNC_DIALECTS_NN_POOLING_POOL

include "dialects/nn/NnBase.td"

/// Base class of the pools. Operand and result are batch x channels and one or
/// two spatial axes. `more` are further attributes of the op.
class Nn_PoolOp<string mnemonic, dag more, list<string> methods = []>
    : Nn_AnchorOp<mnemonic, !listconcat(["isLayoutTolerant"], methods),
                  [Nn_PaddedAxes]> {
  let arguments = !con((ins Nn_Tensor:$x, DenseI64ArrayAttr:$kernel,
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
    DenseI64ArrayAttr:$pads, BoolAttr:$ceil_mode), more);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Nn_MaxPoolOp : Nn_PoolOp<"max_pool", (ins)> {
  let summary = "Largest element of each window";
  let description = [{
    The largest element of `x` in each window; elements of the padding do not
    count. With `ceil_mode`, the last window along an axis may reach beyond the
    padded input, but it begins within the input or the padding in front of it.

    Example:
    ```mlir
    %y = nn.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>,
        dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, ceil_mode = false}
        : (tensor<1x64x112x112xf32>) -> tensor<1x64x56x56xf32>
    ```
  }];
  let hasFolder = 1;
}

def Nn_AvgPoolOp : Nn_PoolOp<"avg_pool",
    (ins BoolAttr:$count_include_pad, OptionalAttr<TypeAttr>:$accumulator),
    ["getAccumulatorType"]> {
  let summary = "Mean of each window";
  let description = [{
    The sum of the elements of `x` in each window, divided by the number of
    elements of the window that lie in x or, with `count_include_pad`, in x or
    its padding. Elements beyond the padding, which `ceil_mode` adds, never
    count. The pooling of whole planes has a kernel of their size.

    Without `accumulator`, the mean has the element type of x. With `accumulator
    = f32`, x holds integers of at most 32 bits, their sum is an i32 that wraps
    around, and the mean is f32. With `accumulator = i32`, x holds integers of
    at most 16 bits, and the mean is an i32, rounded to nearest with halves away
    from zero.

    Example:
    ```mlir
    %y = nn.avg_pool %x {kernel = array<i64: 7, 7>, strides = array<i64: 1, 1>,
        dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
        ceil_mode = false, count_include_pad = false}
        : (tensor<1x2048x7x7xf32>) -> tensor<1x2048x1x1xf32>
    ```
  }];
  let hasFolder = 1;
}

def Nn_MaxPoolIndexOp : Nn_RoutineOp<"max_pool_index"> {
  let summary = "Position of the largest element of each window";
  let description = [{
    The position in `x`, as an i64, of the first largest element of each window,
    or -1 if the window lies in the padding. Windows are those of `nn.max_pool`,
    over 1 to 3 spatial axes. A position is the index of the element in
    row-major order; with `column_major`, elements of a plane are counted along
    its first spatial axis first.

    Example:
    ```mlir
    %y = nn.max_pool_index %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
        dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false,
        column_major = false} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xi64>
    ```
  }];
  let arguments = (ins Nn_Tensor:$x, DenseI64ArrayAttr:$kernel,
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
    DenseI64ArrayAttr:$pads, BoolAttr:$ceil_mode, BoolAttr:$column_major);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_POOLING_POOL
