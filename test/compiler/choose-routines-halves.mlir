// RUN: nnc-opt %s --split-input-file --nnc-choose-routines=target=aarch64-fp16 --nnc-check-routines | FileCheck %s
// RUN: nnc-opt %s --split-input-file --nnc-choose-routines="target=aarch64-fp16 max-error=0" | FileCheck %s --check-prefix=NONE

// Of halves there is Winograd's method for two outputs an axis, which the bound
// of errors forbids as it does with floats.

// CHECK-LABEL: func.func @conv
// CHECK: tensor<64x64x3x3xf16, #nn.layout<KRSC8k_winograd2>>
// CHECK: routine = "conv2d_f16_nchw8c_winograd2_neonfp16"
// NONE: routine = "conv2d_f16_nchw8c_direct_neonfp16"
func.func @conv(%x: tensor<1x64x28x28xf16>) -> tensor<1x64x28x28xf16> {
  %w = nn.constant dense<0.5> : tensor<64x64x3x3xf16>
  %0 = nn.layer "conv" inputs(%x, %w : tensor<1x64x28x28xf16>, tensor<64x64x3x3xf16>) -> tensor<1x64x28x28xf16> anchor {
  ^bb0(%ax: tensor<1x64x28x28xf16>, %aw: tensor<64x64x3x3xf16>):
    %1 = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x64x28x28xf16>, tensor<64x64x3x3xf16>) -> tensor<1x64x28x28xf16>
    nn.yield %1 : tensor<1x64x28x28xf16>
  } epilogue {
  ^bb0(%e: f16):
    nn.yield %e : f16
  }
  return %0 : tensor<1x64x28x28xf16>
}

// -----

// Strassen's method has one level, which the bound forbids, too.

// CHECK-LABEL: func.func @pointwise
// CHECK: tensor<512x512x1x1xf16, #nn.layout<KRSC8k_strassen>>
// CHECK: routine = "conv2d_f16_nchw8c_strassen_neonfp16"
// NONE: routine = "conv2d_f16_nchw8c_pointwise_neonfp16"
func.func @pointwise(%x: tensor<1x512x28x28xf16>) -> tensor<1x512x28x28xf16> {
  %w = nn.constant dense<0.5> : tensor<512x512x1x1xf16>
  %0 = nn.layer "conv" inputs(%x, %w : tensor<1x512x28x28xf16>, tensor<512x512x1x1xf16>) -> tensor<1x512x28x28xf16> anchor {
  ^bb0(%ax: tensor<1x512x28x28xf16>, %aw: tensor<512x512x1x1xf16>):
    %1 = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x512x28x28xf16>, tensor<512x512x1x1xf16>) -> tensor<1x512x28x28xf16>
    nn.yield %1 : tensor<1x512x28x28xf16>
  } epilogue {
  ^bb0(%e: f16):
    nn.yield %e : f16
  }
  return %0 : tensor<1x512x28x28xf16>
}

// -----

// Two values, neither of them known: read as they are, or one in panels.

// CHECK-LABEL: func.func @product
// CHECK: routine = "matmul_f16_{{plain|nk8n}}_neonfp16"
func.func @product(%a: tensor<4x2x48xf16>, %b: tensor<4x48x64xf16>) -> tensor<4x2x64xf16> {
  %0 = nn.layer "product" inputs(%a, %b : tensor<4x2x48xf16>, tensor<4x48x64xf16>) -> tensor<4x2x64xf16> anchor {
  ^bb0(%ax: tensor<4x2x48xf16>, %bx: tensor<4x48x64xf16>):
    %1 = nn.matmul %ax, %bx {transpose_a = false, transpose_b = false} : (tensor<4x2x48xf16>, tensor<4x48x64xf16>) -> tensor<4x2x64xf16>
    nn.yield %1 : tensor<4x2x64xf16>
  } epilogue {
  ^bb0(%e: f16):
    nn.yield %e : f16
  }
  return %0 : tensor<4x2x64xf16>
}
