// RUN: nnc-opt %s --split-input-file --nnc-choose-routines="target=cuda-sm80 precision=f16" --nnc-check-routines | FileCheck %s
// RUN: nnc-opt %s --split-input-file --nnc-choose-routines=target=cuda-sm80 --nnc-check-routines | FileCheck %s --check-prefix=FLOATS

// The first layer reads the caller's floats and rounds them, so that neither a
// conversion nor a change of layout comes before it.

// CHECK-LABEL: func.func @image
// CHECK-NOT: nn.layer "input
// CHECK-NOT: nn.adapt
// CHECK: nn.layer "conv" inputs(%arg0, {{.*}} : tensor<1x3x224x224xf32>, tensor<64x3x7x7xf16, #nn.layout<KRSC32k_pixels>>) -> tensor<1x64x112x112xf16, #nn.layout<NHWC>> {{.*}}routine = "conv2d_f32_f16_nchw_pixels_sm75"
// CHECK: nn.conv {{.*}}accumulator = f16{{.*}} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf16>) -> tensor<1x64x112x112xf16>
func.func @image(%x: tensor<1x3x224x224xf32>) -> tensor<1x64x56x56xf32> {
  %w = nn.constant dense<0.5> : tensor<64x3x7x7xf32>
  %0 = nn.layer "conv" inputs(%x, %w : tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32> anchor {
  ^bb0(%ax: tensor<1x3x224x224xf32>, %aw: tensor<64x3x7x7xf32>):
    %1 = nn.conv %ax, %aw {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 3, 3, 3, 3>, groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
    nn.yield %1 : tensor<1x64x112x112xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %2 = nn.layer "pool" inputs(%0 : tensor<1x64x112x112xf32>) -> tensor<1x64x56x56xf32> anchor {
  ^bb0(%ax: tensor<1x64x112x112xf32>):
    %3 = nn.max_pool %ax {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false} : (tensor<1x64x112x112xf32>) -> tensor<1x64x56x56xf32>
    nn.yield %3 : tensor<1x64x56x56xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %2 : tensor<1x64x56x56xf32>
}

// -----

// A small image of floats is read as it is, too, as a launch takes longer.

// FLOATS-LABEL: func.func @small
// FLOATS-NOT: nn.adapt %arg0
// FLOATS: routine = "conv2d_f32_nchw_pixels_sm75"
func.func @small(%x: tensor<1x3x64x64xf32>) -> tensor<1x32x32x32xf32> {
  %w = nn.constant dense<0.5> : tensor<32x3x3x3xf32>
  %v = nn.constant dense<0.5> : tensor<32x32x3x3xf32>
  %0 = nn.layer "conv" inputs(%x, %w : tensor<1x3x64x64xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x32x32xf32> anchor {
  ^bb0(%ax: tensor<1x3x64x64xf32>, %aw: tensor<32x3x3x3xf32>):
    %1 = nn.conv %ax, %aw {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x3x64x64xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x32x32xf32>
    nn.yield %1 : tensor<1x32x32x32xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %2 = nn.layer "conv2" inputs(%0, %v : tensor<1x32x32x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x32x32xf32> anchor {
  ^bb0(%ax: tensor<1x32x32x32xf32>, %aw: tensor<32x32x3x3xf32>):
    %3 = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x32x32x32xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x32x32xf32>
    nn.yield %3 : tensor<1x32x32x32xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %2 : tensor<1x32x32x32xf32>
}

// -----

// An image of more channels is converted, as no routine rounds it.

// CHECK-LABEL: func.func @channels
// CHECK: nn.layer "input_f16"
// CHECK: nn.conv
// CHECK-NOT: accumulator
// CHECK: return
// FLOATS-LABEL: func.func @channels
// FLOATS-NOT: pixels
// FLOATS: return
func.func @channels(%x: tensor<1x8x224x224xf32>) -> tensor<1x64x112x112xf32> {
  %w = nn.constant dense<0.5> : tensor<64x8x3x3xf32>
  %0 = nn.layer "conv" inputs(%x, %w : tensor<1x8x224x224xf32>, tensor<64x8x3x3xf32>) -> tensor<1x64x112x112xf32> anchor {
  ^bb0(%ax: tensor<1x8x224x224xf32>, %aw: tensor<64x8x3x3xf32>):
    %1 = nn.conv %ax, %aw {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x8x224x224xf32>, tensor<64x8x3x3xf32>) -> tensor<1x64x112x112xf32>
    nn.yield %1 : tensor<1x64x112x112xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %0 : tensor<1x64x112x112xf32>
}
