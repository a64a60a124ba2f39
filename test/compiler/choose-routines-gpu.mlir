// RUN: nnc-opt %s --split-input-file --nnc-choose-routines=target=cuda-sm80 --nnc-check-routines | FileCheck %s

// A single call computes a concatenation.

// CHECK-LABEL: func.func @concat
// CHECK: routine = "join_f16_sm75"
// CHECK: nn.concat {{.*}}in_one_call
func.func @concat(%a: tensor<4x64xf16>, %b: tensor<4x32xf16>) -> tensor<4x96xf16> {
  %0 = nn.layer "join" inputs(%a, %b : tensor<4x64xf16>, tensor<4x32xf16>) -> tensor<4x96xf16> anchor {
  ^bb0(%aa: tensor<4x64xf16>, %ab: tensor<4x32xf16>):
    %1 = nn.concat %aa, %ab {axis = 1 : i64} : (tensor<4x64xf16>, tensor<4x32xf16>) -> tensor<4x96xf16>
    nn.yield %1 : tensor<4x96xf16>
  } epilogue {
  ^bb0(%e: f16):
    nn.yield %e : f16
  }
  return %0 : tensor<4x96xf16>
}

// -----

// A transpose moves tiles, and one that leaves rows whole moves these.

// CHECK-LABEL: func.func @transposes
// CHECK: routine = "copy_f32_transposed_sm75"
// CHECK: routine = "copy_f32_sm75"
func.func @transposes(%x: tensor<40x50x60xf32>) -> tensor<50x60x40xf32> {
  %0 = nn.layer "tiles" inputs(%x : tensor<40x50x60xf32>) -> tensor<60x50x40xf32> anchor {
  ^bb0(%ax: tensor<40x50x60xf32>):
    %1 = nn.transpose %ax {permutation = array<i64: 2, 1, 0>} : (tensor<40x50x60xf32>) -> tensor<60x50x40xf32>
    nn.yield %1 : tensor<60x50x40xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %2 = nn.layer "rows" inputs(%0 : tensor<60x50x40xf32>) -> tensor<50x60x40xf32> anchor {
  ^bb0(%ax: tensor<60x50x40xf32>):
    %3 = nn.transpose %ax {permutation = array<i64: 1, 0, 2>} : (tensor<60x50x40xf32>) -> tensor<50x60x40xf32>
    nn.yield %3 : tensor<50x60x40xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %2 : tensor<50x60x40xf32>
}

// -----

// Floats in NCHW become halves in NHWC in one call.

// CHECK-LABEL: func.func @convert
// CHECK: routine = "elementwise_f32_from_plain_sm75"
func.func @convert(%x: tensor<1x8x224x224xf32>) -> tensor<1x64x112x112xf32> {
  %w = nn.constant dense<0.5> : tensor<64x8x3x3xf16>
  %0 = nn.layer "to_halves" extras(%x : tensor<1x8x224x224xf32>) -> tensor<1x8x224x224xf16> epilogue {
  ^bb0(%e: f32):
    %1 = nn.cast %e : f32 to f16
    nn.yield %1 : f16
  }
  %2 = nn.layer "conv" inputs(%0, %w : tensor<1x8x224x224xf16>, tensor<64x8x3x3xf16>) -> tensor<1x64x112x112xf32> anchor {
  ^bb0(%ax: tensor<1x8x224x224xf16>, %aw: tensor<64x8x3x3xf16>):
    %3 = nn.conv %ax, %aw {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x8x224x224xf16>, tensor<64x8x3x3xf16>) -> tensor<1x64x112x112xf16>
    nn.yield %3 : tensor<1x64x112x112xf16>
  } epilogue {
  ^bb0(%e: f16):
    %4 = nn.cast %e : f16 to f32
    nn.yield %4 : f32
  }
  return %2 : tensor<1x64x112x112xf32>
}
