//===- Pool.td - Reductions of sliding windows -------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//
// Attribute lists hold one value for each spatial axis; `pads` holds those
// before all axes, then those behind them. Shapes are logical, whatever the
// layout.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_POOLING_POOL
#define NNC_DIALECTS_NN_POOLING_POOL

include "dialects/nn/NnBase.td"

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
    Padding is never the maximum. With `ceil_mode` the last window may reach
    beyond the padded input, but it must start inside the input or the padding
    before it.

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
    The divisor includes the padding only with `count_include_pad`, and never
    the elements that `ceil_mode` adds. A global pooling has a kernel of the
    size of the plane. With `accumulator = f32`, the elements are integers of at
    most 32 bits, which are added in 32 bits that wrap around; the mean is f32.
    With `accumulator = i32`, of integers of at most 16 bits, the mean is an i32,
    rounded to nearest with halves away from zero.

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
  let summary = "Place of the largest element of each window";
  let description = [{
    Places count the elements of x row by row or, with `column_major`, within a
    plane along its first spatial axis first. Windows are those of `nn.max_pool`,
    over 1 to 3 spatial axes. The first of equal elements counts; a window in the
    padding has the place -1.

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
