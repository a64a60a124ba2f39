// Images of N, H, W, C keep that order on a target without vector routines: the
// transposes around a convolution and a sum move nothing.
// RUN: nnc-opt %s --nnc-simplify | FileCheck %s --check-prefix=SUNK
// RUN: nnc-opt %s --nnc-simplify --nnc-legalize --nnc-form-layers --nnc-choose-routines=target=portable | FileCheck %s --check-prefix=CHOSEN
// RUN: nnc-opt %s --nnc-simplify --nnc-legalize --nnc-form-layers --nnc-choose-routines=target=portable --nnc-choose-routines=target=portable | FileCheck %s --check-prefix=CHOSEN
// RUN: nnc-opt %s --nnc-pipeline=target=portable | FileCheck %s --check-prefix=EXEC

// SUNK-LABEL: func.func @main
// SUNK: nn.transpose %arg0
// SUNK: nn.conv
// SUNK: nn.conv
// SUNK-NEXT: nn.add
// SUNK: nn.relu
// SUNK-NEXT: nn.conv
// SUNK-NEXT: nn.transpose
// SUNK-NEXT: return

// CHOSEN: nn.transpose %arg0 {{.*}} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32, #nn.layout<NHWC>>
// CHOSEN-NOT: nn.adapt
// CHOSEN: routine = "conv2d_f32_nhwc_portable"
// CHOSEN-NOT: nn.adapt
// CHOSEN: nn.transpose {{.*}} : (tensor<1x4x8x8xf32, #nn.layout<NHWC>>) -> tensor<1x8x8x4xf32>

// EXEC: exec.view "input_view" of %input at 0
// EXEC-NOT: copy_portable
// EXEC: exec.view "conv_3_out" of %output at 0
func.func @main(%x: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  %w = nn.constant dense<0.5> : tensor<4x4x3x3xf32>
  %b = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = nn.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32>
  %1 = nn.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %2 = nn.transpose %1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  %3 = nn.transpose %2 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32>
  %4 = nn.conv %3, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %5 = nn.transpose %4 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  %6 = nn.add %2, %5 : tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>
  %7 = nn.add %6, %b : tensor<1x8x8x4xf32>, tensor<4xf32>
  %8 = nn.relu %7 : tensor<1x8x8x4xf32>
  %9 = nn.transpose %8 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32>
  %10 = nn.conv %9, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %11 = nn.transpose %10 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  return %11 : tensor<1x8x8x4xf32>
}
