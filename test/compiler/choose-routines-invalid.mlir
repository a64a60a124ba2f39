// RUN: nnc-opt %s --split-input-file --verify-diagnostics --nnc-choose-routines=target=aarch64
// RUN: not nnc-opt %s --nnc-choose-routines=target=vax 2>&1 | FileCheck %s

// CHECK: there is no target 'vax'; choose one of native, aarch64, aarch64-fp16, armv7, portable, x86-64-v2, x86-64-v3, x86-64-v4, x86-64-v4-vnni

func.func @type(%x: tensor<1x4x8x8xf64>, %w: tensor<4x4x1x1xf64>) -> tensor<1x4x8x8xf64> {
  // expected-error@below {{has no routine for the target 'aarch64' (nn.conv of 'tensor<1x4x8x8xf64>' 'tensor<4x4x1x1xf64>')}}
  %0 = nn.layer "a" inputs(%x, %w : tensor<1x4x8x8xf64>, tensor<4x4x1x1xf64>) -> tensor<1x4x8x8xf64>
  anchor {
  ^bb0(%ax: tensor<1x4x8x8xf64>, %aw: tensor<4x4x1x1xf64>):
    %c = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x4x8x8xf64>, tensor<4x4x1x1xf64>) -> tensor<1x4x8x8xf64>
    nn.yield %c : tensor<1x4x8x8xf64>
  } epilogue {
  ^bb0(%e: f64):
    nn.yield %e : f64
  }
  return %0 : tensor<1x4x8x8xf64>
}

// -----

func.func @isa(%x: tensor<4x50xf32>) -> tensor<4x50xf32> {
  // expected-error@below {{cannot be computed by the routine 'elementwise_avx512' that it names, with the params it names}}
  %0 = nn.layer "c" extras(%x : tensor<4x50xf32>) -> tensor<4x50xf32> attributes {routine = "elementwise_avx512"} anchor {
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %0 : tensor<4x50xf32>
}
