//===- Conv.td - Convolutions ------------------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//
// Attribute lists hold one value for each spatial axis, in elements; `pads`
// holds the padding at the beginning of each axis, then the padding at the end
// of each axis. Shapes are logical, whatever the layout.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_CONVOLUTION_CONV
#define NNC_DIALECTS_NN_CONVOLUTION_CONV

include "dialects/nn/NnBase.td"
include "mlir/IR/EnumAttr.td"

def Nn_ConvOp : Nn_AnchorOp<"conv",
    ["isLayoutTolerant", "getAccumulatorType", "roundOperand"],
    [Nn_PaddedAxes]> {
  let summary = "Convolution (cross-correlation) over 1 to 3 spatial axes";
  let description = [{
    Convolution of the input `x`, `[n, c, h, w]`, with the filters `w`,
    `[k, c / groups, kh, kw]`, over two spatial axes, or over one or three in
    the same way: `y[n,k,oy,ox] = sum over c,i,j of x[n, c, iy, ix] *
    w[k,c,i,j]`, where `iy = oy*sh - pt + i*dh` and `ix = ox*sw - pl + j*dw`
    with the strides `sh, sw`, the dilations `dh, dw`, and the paddings `pt` and
    `pl` at the top and at the left. Elements outside x are zero. `groups`
    divides c and k: filters of group g read the input channels of group g
    alone. A bias is a separate `nn.add`.

    Without `accumulator`, the operands, the sums and the result have one
    element type. With `accumulator`, i32 or i64, the operands hold integers of
    at most 32 bits, whose two types may differ; sums and result have the
    accumulator's type, to which each element is converted first, and sums wrap
    around. Elements outside x then have the value `fill`, such as the zero
    point of a quantized x. With the accumulator f16 or bf16, x holds f32, whose
    elements are rounded to that type first; filters and result have that type,
    and sums and padding are as without an accumulator.

    `nnc-legalize` replaces a convolution over 3 axes by a sum of convolutions
    over 2.

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
    ["isLayoutTolerant"], [Nn_Axes]> {
  let summary = "Depthwise convolution followed by a 1 x 1 convolution";
  let description = [{
    `y = nn.conv(z, v)`, where `z = activation(nn.conv(x, w) + bias)`. The
    filters `w`, `[c, 1, kh, kw]`, are one per channel of the input `x`; `bias`
    is `[1, c, 1, 1]`; the filters `v` are `[k, c, 1, 1]`, applied with stride 1
    and no padding. Attributes are those of the first convolution. `low` and
    `high` are the bounds of the activation `clip`; other activations ignore
    them. `nnc-fuse-layers` creates this op from two layers.

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
    ["isLayoutTolerant"], [Nn_Axes]> {
  let summary = "1 x 1 convolution followed by a depthwise convolution";
  let description = [{
    `y = nn.conv(z, w)`, where `z = activation(nn.conv(x, v) + bias)`: the first
    half of an inverted residual block. The filters `v`, `[m, c, 1, 1]`, are
    applied to the input `x` with stride 1 and no padding; `bias` is `[1, m, 1,
    1]`; the filters `w`, `[m, 1, kh, kw]`, are one per channel of z. Attributes
    are those of the second convolution, whose padding consists of zeros. `low`
    and `high` are the bounds of the activation `clip`; other activations ignore
    them. `nnc-fuse-layers` creates this op from two layers.

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
    ["isLayoutTolerant", "takesHalf"], [Nn_Axes]> {
  let summary = "1 x 1 convolution of an input that is scaled per channel";
  let description = [{
    `y = nn.conv(z, v)` with 1 x 1 filters, stride 1 and no padding, where `z =
    activation(x * scale + bias)`. `scale` and `bias` hold one value for each
    channel of the input `x`. This computes a batch normalization and an
    activation before a convolution, as in DenseNet, or the scaling of
    squeeze-and-excite. `low` and `high` are the bounds of the activation
    `clip`; other activations ignore them. `nnc-fuse-layers` creates this op
    from two layers.

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
    ["isLayoutTolerant", "getAccumulatorType"], [Nn_Axes]> {
  let summary = "Transposed convolution over 1 to 3 spatial axes";
  let description = [{
    The gradient of `nn.conv` with respect to its input: starting from zeros,
    `y[n, k, iy*sh - pt + i*dh, ix*sw - pl + j*dw] += x[n,c,iy,ix] *
    w[c,k,i,j]`, where places outside y are ignored. The weight is `[c, k /
    groups, kh, kw]`. `output_padding` is added to the end of each spatial axis
    of the result. Element types and the accumulator are as in `nn.conv`.

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

#endif // NNC_DIALECTS_NN_CONVOLUTION_CONV
