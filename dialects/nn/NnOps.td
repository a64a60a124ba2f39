//===- NnOps.td - Ops that a family of routines computes ----*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Attribute lists hold one value for each spatial axis; `pads` holds those
// before all axes, then those behind them. Shapes are logical, whatever the
// layout.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_OPS
#define NNC_DIALECTS_NN_OPS

include "dialects/nn/control/Control.td"
include "dialects/nn/custom/Custom.td"
include "dialects/nn/elementwise/Elementwise.td"
include "dialects/nn/learned/Learned.td"
include "dialects/nn/lengths/Lengths.td"
include "dialects/nn/moves/Moves.td"
include "dialects/nn/recurrent/Recurrent.td"
include "dialects/nn/regions/Roi.td"
include "dialects/nn/signal/Signal.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

//===----------------------------------------------------------------------===//
// Convolution, pooling, products
//===----------------------------------------------------------------------===//

def Nn_ConvOp : Nn_AnchorOp<"conv", ["isLayoutTolerant", "getAccumulatorType",
                                     "keepsSamples"]> {
  let summary = "Convolution (cross-correlation) over 1 to 3 spatial axes";
  let description = [{
    `y[n,k,oy,ox] = sum over c,i,j of x[n, c, oy*sh - pt + i*dh, ox*sw - pl +
    j*dw] * w[k,c,i,j]`, where elements outside x are zero. The channels are
    divided into `groups`. A bias is a separate `nn.add`.

    The operands have one element type, which is also that of the sums and of
    the result. If they are integers, they may have two types of at most 32
    bits, with the type of the sums and of the result, i32 or i64, as
    `accumulator = i32`: each element is converted to it first, and sums wrap around. Elements outside
    x then have the value `fill`, such as the zero point of a quantized x.
    `nnc-legalize` computes a convolution over 3 axes by ones over 2.

    Example:
    ```mlir
    %y = nn.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
        pads = array<i64: 3, 3, 3, 3>, groups = 1 : i64}
        : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
    ```
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$w,
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
    DenseI64ArrayAttr:$pads, I64Attr:$groups,
    OptionalAttr<TypeAttr>:$accumulator, DefaultValuedAttr<I64Attr, "0">:$fill);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x `,` $w attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// Returns true if each pixel of the result depends only on the input pixel
    /// at its position: 1 x 1 filters, stride 1 and no padding.
    bool isPointwise();
  }];
}

def Nn_InnerActivation : I32EnumAttr<"InnerActivation",
    "what a layer of two convolutions does between them", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"relu", 1>,
    I32EnumAttrCase<"clip", 2>, I32EnumAttrCase<"hard_swish", 3>,
    I32EnumAttrCase<"silu", 4>]> {
  let cppNamespace = "::nnc::nn";
  let genSpecializedAttr = 0;
}
def Nn_InnerActivationAttr
    : EnumAttr<Nn_Dialect, Nn_InnerActivation, "inner_activation">;

def Nn_SeparableConvOp : Nn_AnchorOp<"separable_conv",
    ["isLayoutTolerant", "keepsSamples"]> {
  let summary = "Depthwise convolution and one of 1 x 1 that alone reads it";
  let description = [{
    `z = activation(nn.conv(x, w) + bias)` with one filter per channel, then
    `y = nn.conv(z, v)` with 1 x 1 filters. `[low, high]` are the bounds of the
    activation `clip`; other activations ignore them. `nnc-fuse-layers` creates
    this op from two layers.

    Example:
    ```mlir
    %y = nn.separable_conv clip %x, %w, %bias, %v {strides = array<i64: 2, 2>,
        dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
        low = 0.0 : f64, high = 6.0 : f64}
        : (tensor<1x96x112x112xf32>, tensor<96x1x3x3xf32>, tensor<1x96x1x1xf32>,
           tensor<24x96x1x1xf32>) -> tensor<1x24x56x56xf32>
    ```
  }];
  let arguments = (ins Nn_InnerActivationAttr:$activation, Nn_Tensor:$x,
    Nn_Tensor:$w, Nn_Tensor:$bias, Nn_Tensor:$v, DenseI64ArrayAttr:$strides,
    DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads,
    DefaultValuedAttr<F64Attr, "0.0">:$low,
    DefaultValuedAttr<F64Attr, "0.0">:$high);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = [{
    $activation $x `,` $w `,` $bias `,` $v attr-dict `:`
    functional-type(operands, results)
  }];
}

def Nn_ExpandedConvOp : Nn_AnchorOp<"expanded_conv",
    ["isLayoutTolerant", "keepsSamples"]> {
  let summary = "Convolution of 1 x 1 and a depthwise one that alone reads it";
  let description = [{
    `z = activation(nn.conv(x, v) + bias)` with 1 x 1 filters, then
    `y = nn.conv(z, w)` with one filter per channel: the first half of an
    inverted residual block. `[low, high]` are the bounds of the activation
    `clip`; other activations ignore them. `nnc-fuse-layers` creates this op
    from two layers.

    Example:
    ```mlir
    %y = nn.expanded_conv clip %x, %v, %bias, %w {strides = array<i64: 2, 2>,
        dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
        low = 0.0 : f64, high = 6.0 : f64}
        : (tensor<1x16x112x112xf32>, tensor<96x16x1x1xf32>,
           tensor<1x96x1x1xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x56x56xf32>
    ```
  }];
  let arguments = (ins Nn_InnerActivationAttr:$activation, Nn_Tensor:$x,
    Nn_Tensor:$v, Nn_Tensor:$bias, Nn_Tensor:$w, DenseI64ArrayAttr:$strides,
    DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads,
    DefaultValuedAttr<F64Attr, "0.0">:$low,
    DefaultValuedAttr<F64Attr, "0.0">:$high);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = [{
    $activation $x `,` $v `,` $bias `,` $w attr-dict `:`
    functional-type(operands, results)
  }];
}

def Nn_ScaledConvOp : Nn_AnchorOp<"scaled_conv",
    ["isLayoutTolerant", "takesHalf", "keepsSamples"]> {
  let summary = "Convolution of 1 x 1 over an input that was scaled a channel";
  let description = [{
    `z = activation(x * scale + bias)`, then `y = nn.conv(z, v)` with 1 x 1
    filters, stride 1 and no padding. This is a batch normalisation and an
    activation before the convolution, as in DenseNet, or the scaling of
    squeeze-and-excite. `[low, high]` are the bounds of the activation `clip`;
    other activations ignore them. `nnc-fuse-layers` creates this op from two
    layers.

    Example:
    ```mlir
    %y = nn.scaled_conv relu %x, %scale, %bias, %v
        : (tensor<1x64x56x56xf32>, tensor<1x64x1x1xf32>, tensor<1x64x1x1xf32>,
           tensor<128x64x1x1xf32>) -> tensor<1x128x56x56xf32>
    ```
  }];
  let arguments = (ins Nn_InnerActivationAttr:$activation, Nn_Tensor:$x,
    Nn_Tensor:$scale, Nn_Tensor:$bias, Nn_Tensor:$v,
    DefaultValuedAttr<F64Attr, "0.0">:$low,
    DefaultValuedAttr<F64Attr, "0.0">:$high);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = [{
    $activation $x `,` $scale `,` $bias `,` $v attr-dict `:`
    functional-type(operands, results)
  }];
}

def Nn_ConvTransposeOp : Nn_AnchorOp<"conv_transpose",
    ["isLayoutTolerant", "getAccumulatorType", "keepsSamples"]> {
  let summary = "Transposed convolution over 1 to 3 spatial axes";
  let description = [{
    The gradient of `nn.conv`: `y[n, k, iy*sh - pt + i*dh, ix*sw - pl + j*dw] +=
    x[n,c,iy,ix] * w[c,k,i,j]`. The weight is `[c, k / groups, kh, kw]`. Types
    of elements and the accumulator are as in `nn.conv`.

    Example:
    ```mlir
    %y = nn.conv_transpose %x, %w {strides = array<i64: 2, 2>,
        dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
        output_padding = array<i64: 0, 0>, groups = 1 : i64}
        : (tensor<1x24x8x8xf32>, tensor<24x24x2x2xf32>) -> tensor<1x24x16x16xf32>
    ```
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$w,
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
    DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$output_padding, I64Attr:$groups,
    OptionalAttr<TypeAttr>:$accumulator);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x `,` $w attr-dict `:` functional-type(operands, results)";
}

class Nn_PoolOp<string mnemonic, dag more, list<string> methods = []>
    : Nn_AnchorOp<mnemonic, !listconcat(["isLayoutTolerant", "keepsSamples"],
                                        methods)> {
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

def Nn_MatMulOp : Nn_AnchorOp<"matmul", ["getRoutineCallsOn", "getAccumulatorType",
                                         "spellLayout", "keepsSamples"]> {
  let summary = "Matrix product with NumPy's rules, either side transposed";
  let description = [{
    Batch axes broadcast; a vector operand is not allowed (frontends reshape).
    Types of elements and the accumulator are as in `nn.conv`.

    Example:
    ```mlir
    %y = nn.matmul %a, %b {transpose_a = false, transpose_b = true}
        : (tensor<12x128x64xf32>, tensor<12x128x64xf32>) -> tensor<12x128x128xf32>
    ```
  }];
  let arguments = (ins Nn_Tensor:$a, Nn_Tensor:$b, BoolAttr:$transpose_a,
                       BoolAttr:$transpose_b,
                       OptionalAttr<TypeAttr>:$accumulator);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// Returns true if the batch axes collapse to a single stride for each
    /// operand, as the routines need. `nnc-legalize` expands other operands.
    bool hasCollapsibleBatch();
  }];
}

def Nn_DetOp : Nn_RoutineOp<"det"> {
  let summary = "Determinants of the matrices in the last two axes";
  let description = [{
    Example: `%y = nn.det %x : (tensor<5x3x3xf32>) -> tensor<5xf32>`.
  }];
  let arguments = (ins Nn_Float:$x);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Nn_BlockMatMulOp : Nn_AnchorOp<"block_matmul",
    ["getRoutineCallsOn", "spellLayout", "keepsSamples"]> {
  let summary = "Matrix product with weights of 4 or 8 bits and their scales";
  let description = [{
    `y[..., m, n] = sum over k of x[..., m, k] * w[n, k]`, where `w[n, k]` is
    `(q[n, k] - zero_points[n, k / block]) * scales[n, k / block]`. The sums are
    of floats. The integers `q` have `bits` bits, 4 or 8, of a `ui8` each; in the
    compiled model they take no more than these, and routines decode them in
    registers. A `block` is a multiple of 8 or all of a column. A single zero
    point stands for all.

    Example:
    ```mlir
    %y = nn.block_matmul %x, %q, %scales, %zero {bits = 4 : i64, block = 32 : i64}
        : (tensor<1x64xf32>, tensor<10x64xui8>, tensor<10x2xf32>, tensor<1x1xui8>)
          -> tensor<1x10xf32>
    ```
  }];
  let arguments = (ins Nn_Float:$x, Nn_Tensor:$q, Nn_Float:$scales,
                       Nn_Tensor:$zero_points, I64Attr:$bits, I64Attr:$block);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = [{
    $x `,` $q `,` $scales `,` $zero_points attr-dict `:`
    functional-type(operands, results)
  }];
}

def Nn_StoredMatMulOp : Nn_AnchorOp<"stored_matmul", ["getRoutineCallsOn",
                                                      "getAccumulatorType"]> {
  let summary = "Matrix product with weights that are stored in fewer bytes";
  let description = [{
    `y[..., m, n] = sum over k of x[..., m, k] * w[n, k]`. `w` holds the bytes that
    `runtime/routines/stored_weights/decode/plan.h` describes of a matrix of `rows` rows, and
    `shape` says how they are read. They are weights of i8 where `x` has
    integers of 8 bits, and of f32 otherwise. `order` is the number of the order in
    which the matrix is stored (`runtime/routines/stored_weights/stored_matmul/shape.h`). The
    accumulator is as in `nn.conv`. `nnc-choose-routines` makes the op where reading
    these bytes takes less time than decoding all of them first.

    Example:
    ```mlir
    %y = nn.stored_matmul %x, %w, <form = 0, elements = 128, block = 128, values = 16,
        value_bits = 4, gaps = 0, gap_bits = 0, entries = 0>
        {rows = 8 : i64, order = 0 : i64}
        : (tensor<1x16xf32>, tensor<128xui8>) -> tensor<1x8xf32>
    ```
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$w, Nn_ShapeAttr:$shape,
                       I64Attr:$rows, I64Attr:$order,
                       OptionalAttr<TypeAttr>:$accumulator);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $w `,` $shape attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// Returns the call for m rows of k elements and n rows of weights, which
    /// `shape` tells how to decode.
    static ::nnc::nn::RoutineCall makeCall(::nnc::nn::ShapeAttr shape, int64_t m,
                                           int64_t n, int64_t k, int64_t order);
    /// Returns the bytes of the weights, each as a number of its own.
    int64_t getWeightBytes();
    /// Returns the multiply-adds for m rows.
    static int64_t countProducts(::nnc::nn::ShapeAttr shape, int64_t m);
  }];
}

def Nn_StoredConvOp : Nn_AnchorOp<"stored_conv", ["isLayoutTolerant",
                                                  "getAccumulatorType"]> {
  let summary = "Convolution with weights that are stored in fewer bytes";
  let description = [{
    The `nn.conv` of `filters` filters over one or two axes, in one group. `w` holds
    the bytes that `runtime/routines/stored_weights/decode/plan.h` describes of their weights, and
    `shape` says how they are read. They are weights of i8 where `x` has
    integers of 8 bits, and of f32 otherwise. `order` is the number of the order in
    which they are stored (`runtime/routines/stored_weights/stored_conv2d/shape.h`). Routines decode
    `strip` filters at a time, which takes less working memory than all of them.
    `nnc-choose-routines` makes the op where that memory would be the most that the
    model needs.

    Example:
    ```mlir
    %y = nn.stored_conv %x, %w, <form = 0, elements = 512, block = 512, values = 16,
        value_bits = 4, gaps = 0, gap_bits = 0, entries = 0>
        {filters = 32 : i64, kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>,
         dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, fill = -3 : i64,
         order = 1 : i64, strip = 8 : i64, accumulator = i32}
        : (tensor<1x16x5x5xi8>, tensor<272xui8>) -> tensor<1x32x5x5xi32>
    ```
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$w, Nn_ShapeAttr:$shape,
                       I64Attr:$filters, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$pads, I64Attr:$order, I64Attr:$strip,
                       OptionalAttr<TypeAttr>:$accumulator,
                       DefaultValuedAttr<I64Attr, "0">:$fill);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $w `,` $shape attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// Returns the bytes of the weights, each as a number of its own.
    int64_t getWeightBytes();
  }];
}

def Nn_AttentionOp : Nn_RoutineOp<"attention", [],
    ["takesHalf", "keepsSamples"]> {
  let summary = "softmax(scale * q . k + mask) . v, for each of several heads";
  let description = [{
    An operand of rank 3 is `[batch, rows, columns]` with the heads side by side
    in the columns. The heads of `q`, `k` and `v` begin at the columns `starts`,
    so that all three operands may be parts of one tensor. An operand of rank 4
    is `[batch, heads, rows, size]`. For each head, a row of q or k has `dim`
    elements, and a row of v has `value_dim`. The optional mask broadcasts to
    `[batch, heads, queries, keys]`, but must have all keys; if the other
    operands are f16, it may be f32. The result is
    `[batch, queries, heads * value_dim]`. If a mask hides all keys from a
    query, so that all its scores are -inf, its result is NaN, like that of the
    softmax.

    Example:
    ```mlir
    %y = nn.attention %qkv, %qkv, %qkv, %mask {heads = 8 : i64, dim = 15 : i64,
        value_dim = 15 : i64, starts = array<i64: 0, 120, 240>, scale = 0.25 : f64}
        : (tensor<1x40x360xf32>, tensor<1x40x360xf32>, tensor<1x40x360xf32>,
           tensor<1x1x1x40xf32>) -> tensor<1x40x120xf32>
    ```
  }];
  let arguments = (ins Nn_Float:$q, Nn_Float:$k, Nn_Float:$v,
                       Optional<Nn_Float>:$mask, I64Attr:$heads, I64Attr:$dim,
                       I64Attr:$value_dim, DenseI64ArrayAttr:$starts,
                       F64Attr:$scale);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Normalisations and reductions
//===----------------------------------------------------------------------===//

def Nn_SoftmaxOp : Nn_RoutineOp<"softmax", [], ["keepsSamples"]> {
  let summary = "Exponentials along an axis, divided by their sum";
  let description = [{
    With `log`, the result is the logarithm of that.

    Example: `%y = nn.softmax %x {axis = 1 : i64, log = false} : (tensor<1x10xf32>) -> tensor<1x10xf32>`.
  }];
  let arguments = (ins Nn_Float:$x, I64Attr:$axis, BoolAttr:$log);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Nn_TableSoftmaxOp : Nn_RoutineOp<"table_softmax", [], ["keepsSamples"]> {
  let summary = "Softmax of i16 along the last axis, by tables";
  let description = [{
    Differences from the largest element of a row, which has fewer than 2^16
    elements, times multiplier * 2^(shift - 31) are in units of 10 / 65535;
    products are rounded once with `single`, else twice, as TFLite does. The
    tables, of 513 i16 each, give e^-d and 1 / (1 + a); results have 15 fraction
    bits (`runtime/routines/normalization/table_softmax/portable.h`).

    Example: `%y = nn.table_softmax %x, %e, %r {multiplier = 1073741824 : i64, shift = 2 : i64, single = false} : (tensor<1x10xi16>, tensor<513xi16>, tensor<513xi16>) -> tensor<1x10xi16>`.
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$exponentials,
                       Nn_Tensor:$reciprocals, I64Attr:$multiplier,
                       I64Attr:$shift, BoolAttr:$single);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_IntegerSoftmaxOp : Nn_Op<"integer_softmax", [
    DeclareOpInterfaceMethods<Nn_RoutineOpInterface, ["keepsSamples"]>,
    DeclareOpInterfaceMethods<Nn_CostOpInterface>]> {
  let summary = "Softmax of integers along the last axis, in fixed point";
  let description = [{
    An integer of 8 bits that is d less than the largest of its row has the
    exponential `exponentials[d]`, an i32 with 31 fraction bits, or 0 if there
    is no such entry. The result is its share of the sum of the row, in units of
    2^-8 or 2^-16 from the least integer of its type on, rounded as TFLite does
    (`runtime/routines/normalization/integer_softmax/portable.h`).

    Example: `%y = nn.integer_softmax %x, %e : (tensor<1x10xi8>, tensor<200xi32>) -> tensor<1x10xi8>`.
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Tensor:$exponentials);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Nn_LayerNormOp : Nn_RoutineOp<"layer_norm", [],
    ["getAccumulatorType", "getChannelAxis", "keepsSamples"]> {
  let summary = "Normalise over the axes from `axis` on, then scale and shift";
  let description = [{
    `(x - mean) / sqrt(variance + epsilon) * scale + bias`; scale and bias have
    the shape of the normalised axes. With `accumulator = f32`, x holds integers
    of at most 32 bits; the result is f32, and an epilogue may follow.

    Example:
    ```mlir
    %y = nn.layer_norm %x, %scale, %bias {axis = 2 : i64, epsilon = 1.0e-5 : f64}
        : (tensor<1x128x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<1x128x768xf32>
    ```
  }];
  let arguments = (ins Nn_Tensor:$x, Nn_Float:$scale, Nn_Float:$bias,
                       I64Attr:$axis, F64Attr:$epsilon,
                       OptionalAttr<TypeAttr>:$accumulator);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = [{
    $x `,` $scale `,` $bias attr-dict `:` functional-type(operands, results)
  }];
}

def Nn_BatchNormOp : Nn_InferredOp<"batch_norm"> {
  let summary = "Scale and shift each channel by its running statistics";
  let description = [{
    `(x - mean) / sqrt(variance + epsilon) * scale + bias`, with one value of
    each operand per channel (axis 1). `nnc-simplify` folds the op into the
    weights of a convolution or matmul before it, or else turns it into a
    multiply and an add.

    Example:
    ```mlir
    %y = nn.batch_norm %x, %scale, %bias, %mean, %variance {epsilon = 1.0e-5 : f64}
        : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
           tensor<8xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
  let arguments = (ins Nn_Float:$x, Nn_Float:$scale, Nn_Float:$bias,
                       Nn_Float:$mean, Nn_Float:$variance, F64Attr:$epsilon);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Nn_ReduceKind : I32EnumAttr<"ReduceKind", "what a reduction computes", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>,
    I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>,
    I32EnumAttrCase<"prod", 4>, I32EnumAttrCase<"l1", 5>,
    I32EnumAttrCase<"l2", 6>, I32EnumAttrCase<"sum_square", 7>,
    I32EnumAttrCase<"log_sum", 8>, I32EnumAttrCase<"log_sum_exp", 9>]> {
  let cppNamespace = "::nnc::nn";
  let genSpecializedAttr = 0;
}
def Nn_ReduceKindAttr : EnumAttr<Nn_Dialect, Nn_ReduceKind, "reduce_kind">;

def Nn_ReduceOp : Nn_RoutineOp<"reduce", [],
    ["getRoutineCallsOn", "keepsSamples"]> {
  let summary = "Reduce over axes";
  let description = [{
    The routines reduce one run of neighbouring axes. For other `axes`,
    `nnc-legalize` transposes the operand first.

    Example:
    ```mlir
    %y = nn.reduce mean %x {axes = array<i64: 2>, keepdims = true}
        : (tensor<1x40x120xf32>) -> tensor<1x40x1xf32>
    ```
  }];
  let arguments = (ins Nn_ReduceKindAttr:$kind, Nn_Tensor:$x,
                       DenseI64ArrayAttr:$axes, BoolAttr:$keepdims);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$kind $x attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// Returns true if `axes` are neighbours, not counting axes of size 1.
    bool hasNeighbouringAxes();
  }];
}

class Nn_ArgOp<string mnemonic, string what>
    : Nn_RoutineOp<mnemonic, [], ["keepsSamples"]> {
  let summary = "Index of the " # what # " element along an axis";
  let description = [{
    If several elements are equal, the result is the first index, or with
    `select_last` the last.

    Example: `%y = nn.}] # mnemonic # [{ %x {axis = 1 : i64, keepdims = false,
    select_last = false} : (tensor<2x10xf32>) -> tensor<2xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x, I64Attr:$axis, BoolAttr:$keepdims,
                       BoolAttr:$select_last);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}
def Nn_ArgMaxOp : Nn_ArgOp<"argmax", "largest">;
def Nn_ArgMinOp : Nn_ArgOp<"argmin", "smallest">;

def Nn_TopKOp : Nn_RoutineOp<"top_k", [], ["keepsSamples"]> {
  let summary = "Indices of the largest or smallest elements along an axis";
  let description = [{
    The result holds `count` indices instead of the axis, the best first. Of equal
    elements the one with the lower index is better; NaN is worse than all numbers.

    Example: `%y = nn.top_k %x {axis = 1 : i64, count = 3 : i64, largest = true}
    : (tensor<2x10xf32>) -> tensor<2x3xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x, I64Attr:$axis, I64Attr:$count,
                       BoolAttr:$largest);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

class Nn_ScanOp<string mnemonic, string what>
    : Nn_RoutineOp<mnemonic, [], ["keepsSamples"]> {
  let summary = "Cumulative " # what # " along an axis";
  let description = [{
    Each element of the result is made of those of `x` from the first of the axis
    up to its own, with `reverse` from its own to the last; with `exclusive` without
    its own. Integers wrap.

    Example: `%y = nn.}] # mnemonic # [{ %x {axis = 1 : i64, exclusive = false,
    reverse = false} : (tensor<2x10xf32>) -> tensor<2x10xf32>`.
  }];
  let arguments = (ins Nn_Tensor:$x, I64Attr:$axis, BoolAttr:$exclusive,
                       BoolAttr:$reverse);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}
def Nn_CumSumOp : Nn_ScanOp<"cumsum", "sums">;
def Nn_CumProdOp : Nn_ScanOp<"cumprod", "products">;

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

def Nn_LayerOp : Nn_Op<"layer", [
    AttrSizedOperandSegments, IsolatedFromAbove,
    DeclareOpInterfaceMethods<Nn_CostOpInterface>]> {
  let summary = "SoftNeuro's layer: an anchor, its epilogue and, once chosen, a routine";
  let description = [{
    `anchor` holds the single op that is computed from `inputs`, on row-major
    types; the region is empty in an elementwise layer. `epilogue` is an
    expression on scalars: its first argument is an element of the anchor's
    result, and the others are elements of `extras` (broadcast as in NumPy). An
    elementwise layer has `extras` only. Literals are `arith.constant`. The
    types of operands and result hold their layouts; extras are row-major or in
    the result's layout. `routine` names an
    entry of a table in `runtime/routines/`, and `params` are its parameters.

    Example:
    ```mlir
    %y = nn.layer "conv1" inputs(%x, %w : tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>)
        extras(%b : tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32>
    anchor {
    ^bb0(%ax: tensor<1x8x4x4xf32>, %aw: tensor<8x8x1x1xf32>):
      %0 = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
          pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64}
          : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
      nn.yield %0 : tensor<1x8x4x4xf32>
    } epilogue {
    ^bb0(%e: f32, %eb: f32):
      %0 = nn.add %e, %eb : f32, f32
      %1 = nn.relu %0 : f32
      nn.yield %1 : f32
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<Nn_Tensor>:$inputs,
    Variadic<Nn_Tensor>:$extras, OptionalAttr<StrAttr>:$routine,
    OptionalAttr<DenseI64ArrayAttr>:$params);
  let results = (outs Nn_Tensor:$y);
  let regions = (region MaxSizedRegion<1>:$anchor, SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $name (`inputs` `(` $inputs^ `:` type($inputs) `)`)?
    (`extras` `(` $extras^ `:` type($extras) `)`)? `->` type($y)
    attr-dict-with-keyword
    (`anchor` $anchor^)? `epilogue` $epilogue
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The anchor op, or null in an elementwise layer.
    ::mlir::Operation *getAnchorOp();
    /// Returns true if the epilogue yields the anchor's element unchanged.
    bool hasEmptyEpilogue();
    /// Returns the calls of the anchor's family for the types of inputs and
    /// result, or the call of the elementwise family with strides of physical
    /// shapes; none if the anchor cannot be computed in these layouts.
    ::llvm::SmallVector<::nnc::nn::RoutineCall> getRoutineCalls();
    /// Like getRoutineCalls, but as if the operands (inputs, then extras) and
    /// the result had these types.
    ::llvm::SmallVector<::nnc::nn::RoutineCall>
    getRoutineCallsOn(::llvm::ArrayRef<::mlir::RankedTensorType> operands,
                      ::mlir::RankedTensorType result);
    /// Returns the axis along which operands of the epilogue may hold one value
    /// per channel, or nullopt.
    ::std::optional<int64_t> getChannelAxis();
    /// Returns how extra `i` broadcasts to the result.
    ::nnc::nn::ExtraKind getExtraKind(unsigned i);
  }];
}

def Nn_YieldOp : Nn_Op<"yield", [Terminator, ReturnLike, ParentOneOf<["LayerOp"]>]> {
  let summary = "The value of a region of nn.layer";
  let description = [{Example: `nn.yield %0 : f32`.}];
  let arguments = (ins Nn_ScalarOrTensor:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // NNC_DIALECTS_NN_OPS
