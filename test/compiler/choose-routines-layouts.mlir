// RUN: nnc-opt %s --nnc-choose-routines="target=x86-64-v4 layouts=plain" --nnc-check-routines | FileCheck %s --check-prefix=PLAIN
// RUN: nnc-opt %s --nnc-choose-routines="target=x86-64-v4 layouts=local" --nnc-check-routines | FileCheck %s --check-prefix=LOCAL
// RUN: nnc-opt %s --nnc-choose-routines="target=x86-64-v4 layouts=fixed" --nnc-check-routines | FileCheck %s --check-prefix=FIXED
// RUN: nnc-opt %s --nnc-choose-routines="target=x86-64-v4 layouts=global" --nnc-check-routines | FileCheck %s --check-prefix=GLOBAL

// What a search for layouts is worth shows without it. Two convolutions suit
// blocks of 16 channels; that between them has groups of 8.

// Nothing is adapted.
// PLAIN-NOT: nn.adapt
// PLAIN-NOT: #nn.layout
// PLAIN: nn.layer "a" {{.*}}routine = "conv2d_f32_portable"
// PLAIN: nn.layer "groups" {{.*}}routine = "conv2d_f32_portable"
// PLAIN: nn.layer "b" {{.*}}routine = "conv2d_f32_portable"
// PLAIN-NOT: nn.adapt

// Each layer has its layout to itself.
// LOCAL: nn.adapt %arg0 {{.*}} -> tensor<1x64x28x28xf32, #nn.layout<NCHW16c>>
// LOCAL: %[[A:.*]] = nn.layer "a" {{.*}} routine = "conv2d_f32_nchw16c_
// LOCAL: %[[V:.*]] = nn.adapt %[[A]] {{.*}} -> tensor<1x32x28x28xf32>{{$}}
// LOCAL-NEXT: nn.adapt %[[V]] {{.*}} -> tensor<1x32x28x28xf32, #nn.layout<NCHW8c>>
// LOCAL: %[[G:.*]] = nn.layer "groups" {{.*}} routine = "conv2d_f32_nchw8c_
// LOCAL: %[[V:.*]] = nn.adapt %[[G]] {{.*}} -> tensor<1x32x28x28xf32>{{$}}
// LOCAL-NEXT: nn.adapt %[[V]] {{.*}} -> tensor<1x32x28x28xf32, #nn.layout<NCHW16c>>
// LOCAL: %[[B:.*]] = nn.layer "b" {{.*}} routine = "conv2d_f32_nchw16c_
// LOCAL: nn.adapt %[[B]] {{.*}} -> tensor<1x64x28x28xf32>{{$}}

// Blocks of 16 or none.
// FIXED-NOT: NCHW8c
// FIXED: nn.layer "a" {{.*}} routine = "conv2d_f32_nchw16c_
// FIXED: nn.layer "groups" {{.*}}routine = "conv2d_f32_portable"
// FIXED: nn.layer "b" {{.*}} routine = "conv2d_f32_nchw16c_
// FIXED-NOT: NCHW8c

// Blocks of 16 become blocks of 8 at once.
// GLOBAL: %[[A:.*]] = nn.layer "a" {{.*}} routine = "conv2d_f32_nchw16c_
// GLOBAL: nn.adapt %[[A]] {{.*}} -> tensor<1x32x28x28xf32, #nn.layout<NCHW8c>>
// GLOBAL: %[[G:.*]] = nn.layer "groups" {{.*}} routine = "conv2d_f32_nchw8c_
// GLOBAL: nn.adapt %[[G]] {{.*}} -> tensor<1x32x28x28xf32, #nn.layout<NCHW16c>>
// GLOBAL: nn.layer "b" {{.*}} routine = "conv2d_f32_nchw16c_
func.func @layouts(%x: tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32> {
  %w1 = nn.constant dense<1.0> : tensor<32x64x1x1xf32>
  %w2 = nn.constant dense<2.0> : tensor<32x8x3x3xf32>
  %w3 = nn.constant dense<3.0> : tensor<64x32x1x1xf32>
  %0 = nn.layer "a" inputs(%x, %w1 : tensor<1x64x28x28xf32>, tensor<32x64x1x1xf32>) -> tensor<1x32x28x28xf32>
  anchor {
  ^bb0(%ax: tensor<1x64x28x28xf32>, %aw: tensor<32x64x1x1xf32>):
    %c = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x64x28x28xf32>, tensor<32x64x1x1xf32>) -> tensor<1x32x28x28xf32>
    nn.yield %c : tensor<1x32x28x28xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %1 = nn.layer "groups" inputs(%0, %w2 : tensor<1x32x28x28xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x28x28xf32>
  anchor {
  ^bb0(%ax: tensor<1x32x28x28xf32>, %aw: tensor<32x8x3x3xf32>):
    %c = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 4 : i64} : (tensor<1x32x28x28xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x28x28xf32>
    nn.yield %c : tensor<1x32x28x28xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %2 = nn.layer "b" inputs(%1, %w3 : tensor<1x32x28x28xf32>, tensor<64x32x1x1xf32>) -> tensor<1x64x28x28xf32>
  anchor {
  ^bb0(%ax: tensor<1x32x28x28xf32>, %aw: tensor<64x32x1x1xf32>):
    %c = nn.conv %ax, %aw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x32x28x28xf32>, tensor<64x32x1x1xf32>) -> tensor<1x64x28x28xf32>
    nn.yield %c : tensor<1x64x28x28xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %2 : tensor<1x64x28x28xf32>
}
