// RUN: nnc-opt %s --nnc-choose-routines=target=aarch64-fp16 --nnc-check-routines | FileCheck %s
// RUN: nnc-opt %s --nnc-choose-routines="target=aarch64-fp16 max-error=0" | FileCheck %s --check-prefix=NONE

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
