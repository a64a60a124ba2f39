//===- QnnOps.td - Quantized operators ----------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_QNN_OPS
#define NNC_DIALECTS_QNN_OPS

include "dialects/nn/NnInterfaces.td"
include "dialects/nn/elementwise/Rescale.td"
include "dialects/qnn/QnnDialect.td"
include "dialects/qnn/QnnEnums.td"
include "dialects/qnn/QnnInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Qnn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Qnn_Dialect, mnemonic, !listconcat([Pure], traits)> {
  let hasVerifier = 1;
  let hasFolder = 1;
}

/// Base class of the ops that nnc-qnn-canonicalize lowers to nn ops.
class Qnn_LoweredOp<string mnemonic, list<Trait> traits = []>
    : Qnn_Op<mnemonic, !listconcat(
          [DeclareOpInterfaceMethods<Qnn_LoweringOpInterface>], traits)>;

def Qnn_QuantizeOp : Qnn_LoweredOp<"quantize", [Nn_ElementwiseAxes]> {
  let summary = "Quantization of real numbers";
  let description = [{
    Elementwise `saturate(round(x / scale) + zero_point)` of floats, with the
    division in f32. Scale and zero point are those of the result's type, for
    the whole tensor or for each index of an axis. Halves are rounded to even
    with `half_even` (ONNX), and away from zero with `half_away` (TFLite).

    Example:
    ```mlir
    %q = qnn.quantize half_even %x
        : tensor<2x3xf32> -> tensor<2x3x!quant.uniform<u8:f32, 2.0e-02:128>>
    ```
  }];
  let arguments = (ins Qnn_RoundingAttr:$rounding, AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$rounding $x attr-dict `:` type($x) `->` type($y)";
}

def Qnn_DequantizeOp : Qnn_LoweredOp<"dequantize", [Nn_ElementwiseAxes]> {
  let summary = "Real numbers that quantized ones represent";
  let description = [{
    Elementwise `(x - zero_point) * scale`, with the product in f32. Scale and
    zero point are those of the operand's type, for the whole tensor or for each
    index of an axis.

    Example:
    ```mlir
    %x = qnn.dequantize %q
        : tensor<2x3x!quant.uniform<i8:f32:1, {2.0e-02:0, 1.0e-01:0, 5.0e-02:0}>>
          -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Qnn_DequantizeBlocksOp : Qnn_LoweredOp<"dequantize_blocks"> {
  let summary = "Real numbers that weights with block-wise scales represent";
  let description = [{
    Elementwise `(x - zero_point) * scale` in f32 for a matrix `x` of integers.
    Blocks of `block` elements along `axis` share a scale and a zero point.
    `scales` and the optional `zero_points`, which are 0 by default, have the
    shape of x but as many elements along the axis as there are blocks.
    `nnc-qnn-fuse` replaces a matrix product with such weights by one that reads
    the integers.

    Example:
    ```mlir
    %w = qnn.dequantize_blocks %q, %scales {axis = 0 : i64, block = 32 : i64}
        : tensor<64x10xi8>, tensor<2x10xf32> -> tensor<64x10xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$scales,
    Optional<AnyRankedTensor>:$zero_points, I64Attr:$axis, I64Attr:$block);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = [{
    $x `,` $scales (`,` $zero_points^)? attr-dict `:` type($x) `,` type($scales)
    (`,` type($zero_points)^)? `->` type($y)
  }];
}

def Qnn_RequantizeOp : Qnn_LoweredOp<"requantize", [Nn_ElementwiseAxes]> {
  let summary = "Quantized numbers, such as sums, brought to another scale";
  let description = [{
    Elementwise `saturate(round((x - zero_point) * (scale / new_scale)) +
    new_zero_point)`, where `scale` and `zero_point` are those of the operand's
    type and the others those of the result's. `rescale` says how the factor is
    represented and the product is rounded. With `real` (ONNX), both are f32,
    and halves are rounded to even. The others are TFLite's, whose factor is
    `m * 2^(s - 31)` with an m of 31 bits: `double_rounding` is gemmlowp's
    doubling high multiply, which rounds, followed by a shift that rounds halves
    away from zero; `single_rounding` is one 64-bit product and one shift that
    rounds halves up. The op does not have `wide`.

    Only `real` may have a `shift`, real numbers that broadcast to the shape of
    x: `shift / new_scale` is added to the product before it is rounded. This is
    how a bias is added that is no multiple of the scale of x.

    Example:
    ```mlir
    %y = qnn.requantize real %x : tensor<4x!quant.uniform<i32:f32, 1.0e-03>>
        -> tensor<4x!quant.uniform<i8:f32, 5.0e-02:-3>>
    %z = qnn.requantize real %x, %bias
        : tensor<4x!quant.uniform<i32:f32, 1.0e-03>>, tensor<4xf32>
          -> tensor<4x!quant.uniform<i8:f32, 5.0e-02:-3>>
    ```
  }];
  let arguments = (ins Nn_RescaleAttr:$rescale, AnyRankedTensor:$x,
    Optional<RankedTensorOf<[F32]>>:$shift);
  let results = (outs AnyRankedTensor:$y);
  let builders = [OpBuilder<(ins "::mlir::Type":$y, "::nnc::nn::Rescale":$rescale,
      "::mlir::Value":$x), [{
    build($_builder, $_state, y, rescale, x, ::mlir::Value());
  }]>];
  let assemblyFormat = [{
    $rescale $x (`,` $shift^)? attr-dict `:` type($x) (`,` type($shift)^)?
    `->` type($y)
  }];
}

def Qnn_ConvOp : Qnn_LoweredOp<"conv",
    [DeclareOpInterfaceMethods<Nn_AxisOpInterface, ["setAxisPadding"]>]> {
  let summary = "Convolution of quantized tensors, exact in an i32 accumulator";
  let description = [{
    `nn.conv` of `x - x_zero_point` and `w - w_zero_point`, plus `bias`, in
    32-bit integers that wrap around. Padding represents the real number 0. The
    weight may have a scale and zero point for each filter. The result is an i32
    quantized with the product of both scales and the zero point 0; `bias`, a
    vector of i32 with an element for each filter, has this scale, too.

    Example:
    ```mlir
    %y = qnn.conv %x, %w, %b {strides = array<i64: 1, 1>,
        dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64}
        : (tensor<1x3x8x8x!quant.uniform<u8:f32, 2.0e-02:128>>,
           tensor<2x3x3x3x!quant.uniform<i8:f32, 1.0e-02>>, tensor<2xi32>)
          -> tensor<1x2x8x8x!quant.uniform<i32:f32, 2.0e-04>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$w,
    Optional<RankedTensorOf<[I32]>>:$bias, DenseI64ArrayAttr:$strides,
    DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads, I64Attr:$groups);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Qnn_MatMulOp : Qnn_LoweredOp<"matmul",
    [DeclareOpInterfaceMethods<Nn_AxisOpInterface>]> {
  let summary = "Matrix product of quantized tensors, exact in an i32 accumulator";
  let description = [{
    `nn.matmul` of `a - a_zero_point` and `b - b_zero_point` in 32-bit integers
    that wrap around. `b` may have a scale and zero point for each column (its
    last axis). The result is an i32 quantized with the product of both scales
    and the zero point 0.

    Example:
    ```mlir
    %y = qnn.matmul %a, %b
        : (tensor<2x3x!quant.uniform<u8:f32, 2.0e-02:128>>,
           tensor<3x4x!quant.uniform<i8:f32, 1.0e-02:5>>)
          -> tensor<2x4x!quant.uniform<i32:f32, 2.0e-04>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
}

def Qnn_ReinterpretOp : Qnn_Op<"reinterpret", [Nn_ElementwiseAxes]> {
  let summary = "The integers of a quantized tensor, or the reverse";
  let description = [{
    The integers that a quantized tensor stores, or a quantized tensor that
    stores the given integers. The bytes stay the same. The type of the integers
    is that of the storage: `ui8` for unsigned, `i8` for signed storage of 8
    bits.

    Example:
    ```mlir
    %i = qnn.reinterpret %q
        : tensor<4x!quant.uniform<u8:f32, 2.0e-02:128>> -> tensor<4xui8>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

#endif // NNC_DIALECTS_QNN_OPS
