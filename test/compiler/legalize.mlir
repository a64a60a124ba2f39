// RUN: nnc-opt --nnc-legalize --split-input-file %s | FileCheck %s
// RUN: nnc-opt --nnc-test-equivalence=passes=nnc-legalize --split-input-file %s

// CHECK-LABEL: @reduce_of_far_axes
// CHECK-NEXT: %[[T:.*]] = nn.transpose %arg0 {permutation = array<i64: 1, 3, 0, 2>}
// CHECK-NEXT: %[[R:.*]] = nn.reduce sum %[[T]] {axes = array<i64: 2, 3>, keepdims = false} : (tensor<3x5x2x4xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: nn.reshape %[[R]] : tensor<3x5xf32> -> tensor<1x3x1x5xf32>
func.func @reduce_of_far_axes(%x: tensor<2x3x4x5xf32>) -> tensor<1x3x1x5xf32> {
  %0 = nn.reduce sum %x {axes = array<i64: 0, 2>, keepdims = true} : (tensor<2x3x4x5xf32>) -> tensor<1x3x1x5xf32>
  return %0 : tensor<1x3x1x5xf32>
}

// -----

// Only an axis of size 1 stands between them.
// CHECK-LABEL: @reduce_of_neighbours
// CHECK-NEXT: nn.reduce
// CHECK-NEXT: return
func.func @reduce_of_neighbours(%x: tensor<2x3x1x5xf32>) -> tensor<2x1xf32> {
  %0 = nn.reduce log_sum_exp %x {axes = array<i64: 1, 3>, keepdims = false} : (tensor<2x3x1x5xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

// -----

// CHECK-LABEL: @batch_that_does_not_collapse
// CHECK-NEXT: %[[A:.*]] = nn.expand %arg0 : tensor<2x1x4x5xf32> -> tensor<2x3x4x5xf32>
// CHECK-NEXT: %[[B:.*]] = nn.expand %arg1 : tensor<3x5x6xf32> -> tensor<2x3x5x6xf32>
// CHECK-NEXT: nn.matmul %[[A]], %[[B]]
func.func @batch_that_does_not_collapse(%a: tensor<2x1x4x5xf32>, %b: tensor<3x5x6xf32>) -> tensor<2x3x4x6xf32> {
  %0 = nn.matmul %a, %b {transpose_a = false, transpose_b = false} : (tensor<2x1x4x5xf32>, tensor<3x5x6xf32>) -> tensor<2x3x4x6xf32>
  return %0 : tensor<2x3x4x6xf32>
}

// -----

// CHECK-LABEL: @one_matrix_for_the_whole_batch
// CHECK-NEXT: nn.matmul
// CHECK-NEXT: return
func.func @one_matrix_for_the_whole_batch(%a: tensor<2x3x4x5xf32>, %b: tensor<1x5x6xf32>) -> tensor<2x3x4x6xf32> {
  %0 = nn.matmul %a, %b {transpose_a = false, transpose_b = false} : (tensor<2x3x4x5xf32>, tensor<1x5x6xf32>) -> tensor<2x3x4x6xf32>
  return %0 : tensor<2x3x4x6xf32>
}

// -----

// CHECK-LABEL: @transposed_operands
// CHECK-NEXT: nn.matmul %arg0, %arg1 {transpose_a = true, transpose_b = false}
func.func @transposed_operands(%a: tensor<2x4x5xf32>, %b: tensor<2x4x6xf32>) -> tensor<2x5x6xf32> {
  %0 = nn.transpose %a {permutation = array<i64: 0, 2, 1>} : (tensor<2x4x5xf32>) -> tensor<2x5x4xf32>
  %1 = nn.transpose %b {permutation = array<i64: 0, 2, 1>} : (tensor<2x4x6xf32>) -> tensor<2x6x4xf32>
  %2 = nn.matmul %0, %1 {transpose_a = false, transpose_b = true} : (tensor<2x5x4xf32>, tensor<2x6x4xf32>) -> tensor<2x5x6xf32>
  return %2 : tensor<2x5x6xf32>
}

// -----

// The keys of attention: rows move whole, the product transposes them.
// CHECK-LABEL: @attention_keys
// CHECK-NEXT: %[[K:.*]] = nn.transpose %arg1 {permutation = array<i64: 0, 2, 1, 3>}
// CHECK-NEXT: nn.matmul %arg0, %[[K]] {transpose_a = false, transpose_b = true}
func.func @attention_keys(%q: tensor<1x2x7x3xf32>, %k: tensor<1x7x2x3xf32>) -> tensor<1x2x7x7xf32> {
  %0 = nn.transpose %k {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x7x2x3xf32>) -> tensor<1x2x3x7xf32>
  %1 = nn.matmul %q, %0 {transpose_a = false, transpose_b = false} : (tensor<1x2x7x3xf32>, tensor<1x2x3x7xf32>) -> tensor<1x2x7x7xf32>
  return %1 : tensor<1x2x7x7xf32>
}

// -----

// CHECK-LABEL: @batch_norm_of_values
// CHECK: nn.rsqrt
// CHECK: nn.reshape %{{.*}} : tensor<3xf32> -> tensor<1x3x1xf32>
// CHECK: %[[C:.*]] = nn.sub %arg0
// CHECK: %[[M:.*]] = nn.mul %[[C]]
// CHECK: nn.add %[[M]]
func.func @batch_norm_of_values(%x: tensor<2x3x4xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v0: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %v = nn.abs %v0 : tensor<3xf32>
  %0 = nn.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-3 : f64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

// One channel of 2 x 3 taps: six results for each pixel, each put in its place.
// CHECK-LABEL: @sub_pixels
// CHECK-NEXT: %[[W:.*]] = nn.constant dense<{{.*}}> : tensor<6x2x1x1xf32>
// CHECK-NEXT: %[[C:.*]] = nn.conv %arg0, %[[W]] {{.*}} -> tensor<1x6x3x4xf32>
// CHECK-NEXT: %[[P:.*]] = nn.reshape %[[C]] : tensor<1x6x3x4xf32> -> tensor<1x1x2x3x3x4xf32>
// CHECK-NEXT: %[[T:.*]] = nn.transpose %[[P]] {permutation = array<i64: 0, 1, 4, 2, 5, 3>}
// CHECK-NEXT: nn.reshape %[[T]] : tensor<1x1x3x2x4x3xf32> -> tensor<1x1x6x12xf32>
func.func @sub_pixels(%x: tensor<1x2x3x4xf32>) -> tensor<1x1x6x12xf32> {
  %w = nn.constant dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]], [[[-1.0, 0.5, 7.0], [8.0, -9.0, 0.25]]]]> : tensor<2x1x2x3xf32>
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 2, 3>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x2x3x4xf32>, tensor<2x1x2x3xf32>) -> tensor<1x1x6x12xf32>
  return %0 : tensor<1x1x6x12xf32>
}

// -----

// Taps that overlap stay.
// CHECK-LABEL: @overlapping_taps
// CHECK: nn.conv_transpose
func.func @overlapping_taps(%x: tensor<1x2x3x4xf32>) -> tensor<1x1x6x12xf32> {
  %w = nn.constant dense<0.5> : tensor<2x1x2x4xf32>
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 2, 3>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 1>, output_padding = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x2x3x4xf32>, tensor<2x1x2x4xf32>) -> tensor<1x1x6x12xf32>
  return %0 : tensor<1x1x6x12xf32>
}

// -----

// The sum of convolutions of the slices at three taps, with the epilogue on it.
// CHECK-LABEL: @volume
// CHECK: %[[X:.*]] = nn.transpose %arg0 {permutation = array<i64: 2, 0, 1, 3, 4>}
// CHECK: %[[P:.*]] = nn.pad constant %[[X]]
// CHECK: nn.slice %[[P]] {{.*}}starts = array<i64: 0, 0, 0, 0, 0>
// CHECK: %[[A:.*]] = nn.conv {{.*}} (tensor<3x8x5x4xf32>, tensor<8x8x3x3xf32>) -> tensor<3x8x5x4xf32>
// CHECK: %[[B:.*]] = nn.conv
// CHECK: %[[AB:.*]] = nn.add %[[B]], %[[A]]
// CHECK: %[[C:.*]] = nn.conv
// CHECK: %[[ABC:.*]] = nn.add %[[C]], %[[AB]]
// CHECK: nn.relu %[[ABC]] : tensor<3x8x5x4xf32>
// CHECK: nn.transpose %{{.*}} {permutation = array<i64: 1, 2, 0, 3, 4>}
func.func @volume(%x: tensor<1x8x3x5x4xf32>, %w: tensor<8x8x3x3x3xf32>) -> tensor<1x8x3x5x4xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, pads = array<i64: 1, 1, 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x8x3x5x4xf32>, tensor<8x8x3x3x3xf32>) -> tensor<1x8x3x5x4xf32>
  %1 = nn.relu %0 : tensor<1x8x3x5x4xf32>
  return %1 : tensor<1x8x3x5x4xf32>
}

// -----

// Height and width are one axis where the window does not slide over them.
// CHECK-LABEL: @flat_volume
// CHECK: nn.conv {{.*}} (tensor<1x2x6x20xf32>, tensor<3x2x3x1xf32>) -> tensor<1x3x4x20xf32>
// CHECK-NOT: nn.transpose
func.func @flat_volume(%x: tensor<1x2x6x5x4xf32>, %w: tensor<3x2x3x1x1xf32>) -> tensor<1x3x4x5x4xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x2x6x5x4xf32>, tensor<3x2x3x1x1xf32>) -> tensor<1x3x4x5x4xf32>
  return %0 : tensor<1x3x4x5x4xf32>
}

// -----

// The depth is padded by the same negative number as the other axes.
// CHECK-LABEL: @padded_volume_of_bytes
// CHECK: nn.pad {{.*}}value = -2.700000e+01
// CHECK: nn.conv {{.*}}fill = -27
func.func @padded_volume_of_bytes(%x: tensor<1x2x3x4x4xi8>, %w: tensor<3x2x2x3x3xi8>) -> tensor<1x3x4x4x4xi32> {
  %0 = nn.conv %x, %w {accumulator = i32, strides = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, pads = array<i64: 1, 1, 1, 1, 1, 1>, fill = -27 : i64, groups = 1 : i64} : (tensor<1x2x3x4x4xi8>, tensor<3x2x2x3x3xi8>) -> tensor<1x3x4x4x4xi32>
  return %0 : tensor<1x3x4x4x4xi32>
}
