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

class Qnn_LoweredOp<string mnemonic, list<Trait> traits = []>
    : Qnn_Op<mnemonic, !listconcat(
          [DeclareOpInterfaceMethods<Qnn_LoweringOpInterface>], traits)>;

def Qnn_QuantizeOp : Qnn_LoweredOp<"quantize", [Nn_ElementwiseAxes]> {
  let summary = "Real numbers as quantized ones";
  let description = [{
    Computes `saturate(round(x / scale) + zero_point)`, with the division in
    f32. ONNX rounds halves to even (`half_even`), TFLite away from zero
    (`half_away`).

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
  let summary = "Quantized numbers as the real ones that they stand for";
  let description = [{
    Computes `(x - zero_point) * scale`, with the product in f32.

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
  let summary = "Weights that share scales in blocks as real numbers";
  let description = [{
    Computes `(x - zero_point) * scale` in f32 for a matrix whose elements share
    a scale, and a zero point, in blocks of `block` along `axis`. Both have the
    shape of x, with as many elements along the axis as there are blocks. Without
    zero points these are 0. `nnc-qnn-fuse` computes a product with such weights
    from the integers.

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
  let summary = "Quantized numbers, an accumulator's, in another scale";
  let description = [{
    Computes `saturate(round((x - zero_point) * (scale / new_scale)) +
    new_zero_point)`. With `real` (ONNX), the factor and the product are f32 and
    halves round to even. The other two are TFLite's, whose factor is `m * 2^(s
    - 31)` with an m of 31 bits: `double_rounding` is gemmlowp's doubling high
    multiply, which rounds, followed by a shift that rounds halves away from
    zero; `single_rounding` is one 64-bit product and one shift that rounds
    halves up.

    `real` may have a `shift`, real numbers that broadcast to the shape of x:
    `shift / new_scale` is added to the product before it is rounded. It holds a
    bias that is no multiple of the scale of x.

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
    Computes `nn.conv` of `x - x_zero_point` and `w - w_zero_point`, plus
    `bias`, in 32-bit integers that wrap around. Padding stands for the real
    number 0. The weight may have a scale and zero point for each filter. The
    result is quantized with the product of both scales and the zero point 0:
    what `bias`, a vector of i32, is added to.

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
    Computes `nn.matmul` of `a - a_zero_point` and `b - b_zero_point` in 32-bit
    integers that wrap around. `b` may have a scale and zero point for each
    column (its last axis). The result is quantized with the product of both
    scales and the zero point 0.

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
  let summary = "The integers of a quantized tensor, or integers as one";
  let description = [{
    No element changes or moves. Unsigned storage has type `ui8`, signed storage
    `i8`.

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
