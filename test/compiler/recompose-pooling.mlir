// Constants are made random; the function is evaluated before and after.
// RUN: nnc-opt --nnc-test-equivalence=passes=nnc-recompose --split-input-file %s | FileCheck %s

// As between two blocks of a DenseNet: a quarter of the products is left.
// CHECK-LABEL: @before_pointwise
// CHECK: %[[P:.*]] = nn.avg_pool %arg0
// CHECK-SAME: -> tensor<1x32x4x3xf32>
// CHECK-NEXT: %[[Y:.*]] = nn.conv %[[P]]
// CHECK-NEXT: return %[[Y]]
func.func @before_pointwise(%x: tensor<1x32x8x6xf32>) -> tensor<1x16x4x3xf32> {
  %w = nn.constant dense<1.0> : tensor<16x32x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x32x8x6xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x8x6xf32>
  %1 = nn.avg_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false, count_include_pad = false} : (tensor<1x16x8x6xf32>) -> tensor<1x16x4x3xf32>
  return %1 : tensor<1x16x4x3xf32>
}

// -----

// A bias stays behind; of windows with padding, what is outside does not count.
// CHECK-LABEL: @bias
// CHECK: %[[P:.*]] = nn.avg_pool %arg0
// CHECK-SAME: -> tensor<2x16x4x4xf32>
// CHECK-NEXT: %[[Y:.*]] = nn.conv %[[P]]
// CHECK-NEXT: nn.add %[[Y]], %{{.*}} : tensor<2x16x4x4xf32>, tensor<1x16x1x1xf32>
func.func @bias(%x: tensor<2x16x8x7xf32>) -> tensor<2x16x4x4xf32> {
  %w = nn.constant dense<1.0> : tensor<16x8x1x1xf32>
  %b = nn.constant dense<1.0> : tensor<1x16x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 2 : i64} : (tensor<2x16x8x7xf32>, tensor<16x8x1x1xf32>) -> tensor<2x16x8x7xf32>
  %1 = nn.add %0, %b : tensor<2x16x8x7xf32>, tensor<1x16x1x1xf32>
  %2 = nn.avg_pool %1 {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 0>, ceil_mode = true, count_include_pad = false} : (tensor<2x16x8x7xf32>) -> tensor<2x16x4x4xf32>
  return %2 : tensor<2x16x4x4xf32>
}

// -----

// Zeros that count would make less of a bias.
// CHECK-LABEL: @counted_padding
// CHECK: nn.conv %arg0
// CHECK: nn.avg_pool
func.func @counted_padding(%x: tensor<1x32x8x8xf32>) -> tensor<1x16x4x4xf32> {
  %w = nn.constant dense<1.0> : tensor<16x32x1x1xf32>
  %b = nn.constant dense<1.0> : tensor<1x16x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x32x8x8xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x8x8xf32>
  %1 = nn.add %0, %b : tensor<1x16x8x8xf32>, tensor<1x16x1x1xf32>
  %2 = nn.avg_pool %1 {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 0>, ceil_mode = false, count_include_pad = true} : (tensor<1x16x8x8xf32>) -> tensor<1x16x4x4xf32>
  return %2 : tensor<1x16x4x4xf32>
}

// -----

// Something else reads the convolution's result, which is computed in any case.
// CHECK-LABEL: @read_twice
// CHECK: nn.conv %arg0
// CHECK: nn.avg_pool
func.func @read_twice(%x: tensor<1x32x8x6xf32>) -> (tensor<1x16x8x6xf32>, tensor<1x16x4x3xf32>) {
  %w = nn.constant dense<1.0> : tensor<16x32x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x32x8x6xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x8x6xf32>
  %1 = nn.avg_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false, count_include_pad = false} : (tensor<1x16x8x6xf32>) -> tensor<1x16x4x3xf32>
  return %0, %1 : tensor<1x16x8x6xf32>, tensor<1x16x4x3xf32>
}

// -----

// Sums over several pixels, or of pixels apart.
// CHECK-LABEL: @not_pointwise
// CHECK: nn.conv %arg0
// CHECK: nn.avg_pool
// CHECK: nn.conv %arg0
// CHECK: nn.avg_pool
func.func @not_pointwise(%x: tensor<1x32x8x8xf32>) -> (tensor<1x16x4x4xf32>, tensor<1x16x2x2xf32>) {
  %w = nn.constant dense<1.0> : tensor<16x32x3x3xf32>
  %v = nn.constant dense<1.0> : tensor<16x32x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x32x8x8xf32>, tensor<16x32x3x3xf32>) -> tensor<1x16x8x8xf32>
  %1 = nn.avg_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false, count_include_pad = false} : (tensor<1x16x8x8xf32>) -> tensor<1x16x4x4xf32>
  %2 = nn.conv %x, %v {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x32x8x8xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x4x4xf32>
  %3 = nn.avg_pool %2 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false, count_include_pad = false} : (tensor<1x16x4x4xf32>) -> tensor<1x16x2x2xf32>
  return %1, %3 : tensor<1x16x4x4xf32>, tensor<1x16x2x2xf32>
}

// -----

// An activation in between, and a shift of each pixel.
// CHECK-LABEL: @not_linear
// CHECK: nn.conv %arg0
// CHECK: nn.avg_pool
// CHECK: nn.conv %arg0
// CHECK: nn.avg_pool
func.func @not_linear(%x: tensor<1x32x8x8xf32>) -> (tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>) {
  %w = nn.constant dense<1.0> : tensor<16x32x1x1xf32>
  %v = nn.constant dense<2.0> : tensor<16x32x1x1xf32>
  %b = nn.constant dense<[[[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]]]]> : tensor<1x1x8x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x32x8x8xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x8x8xf32>
  %1 = nn.relu %0 : tensor<1x16x8x8xf32>
  %2 = nn.avg_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false, count_include_pad = false} : (tensor<1x16x8x8xf32>) -> tensor<1x16x4x4xf32>
  %3 = nn.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x32x8x8xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x8x8xf32>
  %4 = nn.add %3, %b : tensor<1x16x8x8xf32>, tensor<1x1x8x1xf32>
  %5 = nn.avg_pool %4 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false, count_include_pad = false} : (tensor<1x16x8x8xf32>) -> tensor<1x16x4x4xf32>
  return %2, %5 : tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>
}

// -----

// More means than there are products to save: many channels become few, and as
// many pixels stay.
// CHECK-LABEL: @not_worthwhile
// CHECK: nn.conv %arg0
// CHECK: nn.avg_pool
func.func @not_worthwhile(%x: tensor<1x64x8x8xf32>) -> tensor<1x4x6x6xf32> {
  %w = nn.constant dense<1.0> : tensor<4x64x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x64x8x8xf32>, tensor<4x64x1x1xf32>) -> tensor<1x4x8x8xf32>
  %1 = nn.avg_pool %0 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false, count_include_pad = false} : (tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32>
  return %1 : tensor<1x4x6x6xf32>
}
