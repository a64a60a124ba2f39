// RUN: nnc-opt --nnc-recompose --split-input-file %s | FileCheck %s
// RUN: nnc-opt --nnc-test-equivalence=passes=nnc-recompose --split-input-file %s

// As PyTorch and paddle2onnx write it.
// CHECK-LABEL: @layer_norm
// CHECK-DAG: %[[S:.*]] = nn.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
// CHECK-DAG: %[[B:.*]] = nn.constant dense<[5.000000e-01, -1.000000e+00, 0.000000e+00]>
// CHECK-NEXT: nn.layer_norm %arg0, %[[S]], %[[B]] {axis = 2 : i64, epsilon = 9.99{{.*}}E-6 : f64}
// CHECK-NEXT: return
func.func @layer_norm(%x: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  %two = nn.constant dense<2.0> : tensor<f32>
  %eps = nn.constant dense<1.0e-5> : tensor<f32>
  %scale = nn.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %bias = nn.constant dense<[[[0.5, -1.0, 0.0]]]> : tensor<1x1x3xf32>
  %0 = nn.reduce mean %x {axes = array<i64: 2>, keepdims = true} : (tensor<2x4x3xf32>) -> tensor<2x4x1xf32>
  %1 = nn.sub %x, %0 : tensor<2x4x3xf32>, tensor<2x4x1xf32>
  %2 = nn.pow %1, %two : tensor<2x4x3xf32>, tensor<f32>
  %3 = nn.reduce mean %2 {axes = array<i64: 2>, keepdims = true} : (tensor<2x4x3xf32>) -> tensor<2x4x1xf32>
  %4 = nn.add %3, %eps : tensor<2x4x1xf32>, tensor<f32>
  %5 = nn.sqrt %4 : tensor<2x4x1xf32>
  %6 = nn.div %1, %5 : tensor<2x4x3xf32>, tensor<2x4x1xf32>
  %7 = nn.mul %6, %scale : tensor<2x4x3xf32>, tensor<3xf32>
  %8 = nn.add %7, %bias : tensor<2x4x3xf32>, tensor<1x1x3xf32>
  return %8 : tensor<2x4x3xf32>
}

// -----

// Two axes, a product with the inverse root, a square as a product; no scale.
// CHECK-LABEL: @layer_norm_by_rsqrt
// CHECK: nn.layer_norm %arg0, %{{.*}} {axis = 1 : i64
// CHECK-NEXT: return
func.func @layer_norm_by_rsqrt(%x: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  %eps = nn.constant dense<1.0e-5> : tensor<1xf32>
  %0 = nn.reduce mean %x {axes = array<i64: 1, 2>, keepdims = true} : (tensor<2x4x3xf32>) -> tensor<2x1x1xf32>
  %1 = nn.sub %x, %0 : tensor<2x4x3xf32>, tensor<2x1x1xf32>
  %2 = nn.mul %1, %1 : tensor<2x4x3xf32>, tensor<2x4x3xf32>
  %3 = nn.reduce mean %2 {axes = array<i64: 1, 2>, keepdims = true} : (tensor<2x4x3xf32>) -> tensor<2x1x1xf32>
  %4 = nn.add %eps, %3 : tensor<1xf32>, tensor<2x1x1xf32>
  %5 = nn.rsqrt %4 : tensor<2x1x1xf32>
  %6 = nn.mul %5, %1 : tensor<2x1x1xf32>, tensor<2x4x3xf32>
  return %6 : tensor<2x4x3xf32>
}

// -----

// Over the channels of an image: not the last axes.
// CHECK-LABEL: @norm_of_middle_axis
// CHECK-NOT: nn.layer_norm
func.func @norm_of_middle_axis(%x: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  %two = nn.constant dense<2.0> : tensor<f32>
  %eps = nn.constant dense<1.0e-5> : tensor<f32>
  %0 = nn.reduce mean %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x4x3xf32>) -> tensor<2x1x3xf32>
  %1 = nn.sub %x, %0 : tensor<2x4x3xf32>, tensor<2x1x3xf32>
  %2 = nn.pow %1, %two : tensor<2x4x3xf32>, tensor<f32>
  %3 = nn.reduce mean %2 {axes = array<i64: 1>, keepdims = true} : (tensor<2x4x3xf32>) -> tensor<2x1x3xf32>
  %4 = nn.add %3, %eps : tensor<2x1x3xf32>, tensor<f32>
  %5 = nn.sqrt %4 : tensor<2x1x3xf32>
  %6 = nn.div %1, %5 : tensor<2x4x3xf32>, tensor<2x1x3xf32>
  return %6 : tensor<2x4x3xf32>
}

// -----

// A scale along another axis than the normalised one is no part of it.
// CHECK-LABEL: @scale_of_another_axis
// CHECK: nn.layer_norm
// CHECK-NEXT: nn.mul
func.func @scale_of_another_axis(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %one = nn.constant dense<1.0> : tensor<3xf32>
  %zero = nn.constant dense<0.0> : tensor<3xf32>
  %scale = nn.constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  %0 = nn.layer_norm %x, %one, %zero {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<3x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  %1 = nn.mul %0, %scale : tensor<3x3xf32>, tensor<3x1xf32>
  return %1 : tensor<3x3xf32>
}

// -----

// CHECK-LABEL: @softmax
// CHECK-NEXT: nn.softmax %arg0 {axis = 1 : i64, log = false}
// CHECK-NEXT: return
func.func @softmax(%x: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  %0 = nn.reduce max %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x4x3xf32>) -> tensor<2x1x3xf32>
  %1 = nn.sub %x, %0 : tensor<2x4x3xf32>, tensor<2x1x3xf32>
  %2 = nn.exp %1 : tensor<2x4x3xf32>
  %3 = nn.reduce sum %2 {axes = array<i64: 1>, keepdims = true} : (tensor<2x4x3xf32>) -> tensor<2x1x3xf32>
  %4 = nn.div %2, %3 : tensor<2x4x3xf32>, tensor<2x1x3xf32>
  return %4 : tensor<2x4x3xf32>
}

// -----

// CHECK-LABEL: @log_softmax
// CHECK-NEXT: nn.softmax %arg0 {axis = 2 : i64, log = true}
// CHECK-NEXT: return
func.func @log_softmax(%x: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  %2 = nn.exp %x : tensor<2x4x3xf32>
  %3 = nn.reduce sum %2 {axes = array<i64: 2>, keepdims = true} : (tensor<2x4x3xf32>) -> tensor<2x4x1xf32>
  %4 = nn.log %3 : tensor<2x4x1xf32>
  %5 = nn.sub %x, %4 : tensor<2x4x3xf32>, tensor<2x4x1xf32>
  return %5 : tensor<2x4x3xf32>
}

// -----

// The sum runs along another axis than the maximum: the maximum stays.
// CHECK-LABEL: @softmax_of_other_maximum
// CHECK: nn.reduce max
// CHECK: %[[S:.*]] = nn.sub
// CHECK: nn.softmax %[[S]] {axis = 2 : i64
func.func @softmax_of_other_maximum(%x: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  %0 = nn.reduce max %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x4x3xf32>) -> tensor<2x1x3xf32>
  %1 = nn.sub %x, %0 : tensor<2x4x3xf32>, tensor<2x1x3xf32>
  %2 = nn.exp %1 : tensor<2x4x3xf32>
  %3 = nn.reduce sum %2 {axes = array<i64: 2>, keepdims = true} : (tensor<2x4x3xf32>) -> tensor<2x4x1xf32>
  %4 = nn.div %2, %3 : tensor<2x4x3xf32>, tensor<2x4x1xf32>
  return %4 : tensor<2x4x3xf32>
}

// -----

// CHECK-LABEL: @global_pools
// CHECK-NEXT: %[[A:.*]] = nn.avg_pool %arg0
// CHECK-NEXT: %[[M:.*]] = nn.max_pool %arg0
// CHECK-NEXT: %[[R:.*]] = nn.reshape %[[M]] : tensor<1x8x1x1xf32> -> tensor<1x8xf32>
// CHECK-NEXT: return %[[A]], %[[R]]
func.func @global_pools(%x: tensor<1x8x5x4xf32>) -> (tensor<1x8x1x1xf32>, tensor<1x8xf32>) {
  %0 = nn.reduce mean %x {axes = array<i64: 2, 3>, keepdims = true} : (tensor<1x8x5x4xf32>) -> tensor<1x8x1x1xf32>
  %1 = nn.reduce max %x {axes = array<i64: 2, 3>, keepdims = false} : (tensor<1x8x5x4xf32>) -> tensor<1x8xf32>
  return %0, %1 : tensor<1x8x1x1xf32>, tensor<1x8xf32>
}
