// RUN: nnc-opt --pass-pipeline='builtin.module(nnc-plan-memory{threads=4},nnc-verify-memory)' %s | FileCheck %s
// RUN: nnc-opt --nnc-plan-memory --nnc-verify-memory %s | FileCheck %s --check-prefix=ONE

// Threads find their scratch of all layers in one place, where nobody writes in
// between; one thread has no more than each layer wants.
!map = tensor<1x16x8x8xf32, #nn.layout<NCHW16c>>
!taps = tensor<16x16x3x3xf32, #nn.layout<KRSC16k_winograd2>>

// CHECK-LABEL: func.func @scratch
// CHECK: nn.layer "large"{{.*}} exec.scratch = #exec.place<arena at [[AT:[0-9]+]] bytes [[BYTES:[0-9]+]]>
// CHECK-NOT: arena at [[AT]]>
// CHECK: nn.layer "small"{{.*}} exec.scratch = #exec.place<arena at [[AT]] bytes [[BYTES]]>
// ONE-LABEL: func.func @scratch
// ONE: nn.layer "large"{{.*}} exec.scratch = #exec.place<arena at {{[0-9]+}} bytes [[BYTES:[0-9]+]]>
// ONE-NOT: bytes [[BYTES]]>
// ONE: nn.layer "small"{{.*}} exec.scratch
func.func @scratch(%x: !map) -> !map {
  %w = nn.constant dense<1.0> : tensor<16x16x3x3xf32> -> !taps
  %large = nn.layer "large" inputs(%x, %w : !map, !taps) -> !map attributes {params = array<i64: 6, 2, 32, 512>, routine = "conv2d_f32_nchw16c_winograd2_avx512"} anchor {
  ^bb0(%a: tensor<1x16x8x8xf32>, %b: tensor<16x16x3x3xf32>):
    %c = nn.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
    nn.yield %c : tensor<1x16x8x8xf32>
  } epilogue {
  ^bb0(%a: f32):
    nn.yield %a : f32
  }
  %between = nn.relu %large : !map
  %small = nn.layer "small" inputs(%between, %w : !map, !taps) -> !map attributes {params = array<i64: 6, 1, 32, 512>, routine = "conv2d_f32_nchw16c_winograd2_avx512"} anchor {
  ^bb0(%a: tensor<1x16x8x8xf32>, %b: tensor<16x16x3x3xf32>):
    %c = nn.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
    nn.yield %c : tensor<1x16x8x8xf32>
  } epilogue {
  ^bb0(%a: f32):
    nn.yield %a : f32
  }
  return %small : !map
}
