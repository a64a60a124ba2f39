// RUN: nnc-opt %s --nnc-choose-routines=target=x86-64-v4 --nnc-check-routines | FileCheck %s
// RUN: nnc-opt %s --nnc-choose-routines=target=aarch64 --nnc-check-routines | FileCheck %s

// An image of one spatial axis has the layouts of images without their rows,
// except those whose weights are parted by rows and columns: no routine with
// such weights is a candidate, whatever the stride is.

// CHECK-LABEL: func.func @strides
// CHECK-NOT: folded
// CHECK-NOT: strided
// CHECK: nn.layer "a" inputs({{.*}}#nn.layout<K
// CHECK-NOT: folded
// CHECK-NOT: strided
// CHECK: nn.layer "b" inputs({{.*}}#nn.layout<K
// CHECK: return
func.func @strides(%x: tensor<1x64x128xf32>) -> tensor<1x64x64xf32> {
  %w1 = nn.constant dense<1.0> : tensor<64x64x3xf32>
  %w2 = nn.constant dense<2.0> : tensor<64x64x3xf32>
  %0 = nn.layer "a" inputs(%x, %w1 : tensor<1x64x128xf32>, tensor<64x64x3xf32>) -> tensor<1x64x128xf32>
  anchor {
  ^bb0(%ax: tensor<1x64x128xf32>, %aw: tensor<64x64x3xf32>):
    %c = nn.conv %ax, %aw {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x128xf32>, tensor<64x64x3xf32>) -> tensor<1x64x128xf32>
    nn.yield %c : tensor<1x64x128xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %1 = nn.layer "b" inputs(%0, %w2 : tensor<1x64x128xf32>, tensor<64x64x3xf32>) -> tensor<1x64x64xf32>
  anchor {
  ^bb0(%ax: tensor<1x64x128xf32>, %aw: tensor<64x64x3xf32>):
    %c = nn.conv %ax, %aw {strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x128xf32>, tensor<64x64x3xf32>) -> tensor<1x64x64xf32>
    nn.yield %c : tensor<1x64x64xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %1 : tensor<1x64x64xf32>
}
