//===- Conv.td - Convolutions ------------------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//
// Attribute lists hold one value for each spatial axis; `pads` holds those
// before all axes, then those behind them. Shapes are logical, whatever the
// layout.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_CONVOLUTION_CONV
#define NNC_DIALECTS_NN_CONVOLUTION_CONV

include "dialects/nn/NnBase.td"
include "mlir/IR/EnumAttr.td"

def Nn_ConvOp : Nn_AnchorOp<"conv",
    ["isLayoutTolerant", "getAccumulatorType"], [Nn_PaddedAxes]> {
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
    ["isLayoutTolerant"], [Nn_Axes]> {
  let summary = "Depthwise convolution followed by a 1 x 1 convolution";
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
    ["isLayoutTolerant"], [Nn_Axes]> {
  let summary = "1 x 1 convolution followed by a depthwise convolution";
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
    ["isLayoutTolerant", "takesHalf"], [Nn_Axes]> {
  let summary = "1 x 1 convolution of an input that is scaled per channel";
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
    ["isLayoutTolerant", "getAccumulatorType"], [Nn_Axes]> {
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

#endif // NNC_DIALECTS_NN_CONVOLUTION_CONV
