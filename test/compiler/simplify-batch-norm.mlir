// The statistics are made random, the function evaluated before and after.
// RUN: nnc-opt --nnc-test-equivalence=passes=nnc-simplify --split-input-file %s | FileCheck %s
// The weights are rounded anew: without any tolerance, the test must fail.
// RUN: not nnc-opt "--nnc-test-equivalence=passes=nnc-simplify tolerance=0" --split-input-file %s 2>&1 | FileCheck %s --check-prefix=EXACT
// EXACT: computes something else after nnc-simplify

// CHECK-LABEL: @conv
// CHECK-DAG: %[[B:.*]] = nn.constant dense_resource<{{.*}}> : tensor<1x24x1x1xf32>
// CHECK-DAG: %[[W:.*]] = nn.constant dense_resource<{{.*}}> : tensor<24x8x3x3xf32>
// CHECK-NEXT: %[[Y:.*]] = nn.conv %arg0, %[[W]]
// CHECK-NEXT: %[[Z:.*]] = nn.add %[[Y]], %[[B]]
// CHECK-NEXT: return %[[Z]]
func.func @conv(%x: tensor<1x8x5x5xf32>) -> tensor<1x24x5x5xf32> {
  %w = nn.constant dense<1.0> : tensor<24x8x3x3xf32>
  %s = nn.constant dense<1.5> : tensor<24xf32>
  %b = nn.constant dense<-2.0> : tensor<24xf32>
  %m = nn.constant dense<3.0> : tensor<24xf32>
  %v = nn.constant dense<2.0> : tensor<24xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x8x5x5xf32>, tensor<24x8x3x3xf32>) -> tensor<1x24x5x5xf32>
  %1 = nn.batch_norm %0, %s, %b, %m, %v {epsilon = 1.0e-5 : f64} : (tensor<1x24x5x5xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<1x24x5x5xf32>
  return %1 : tensor<1x24x5x5xf32>
}

// -----

// The convolution's own bias is part of the chain.
// CHECK-LABEL: @grouped_conv_with_bias
// CHECK-COUNT-2: nn.constant
// CHECK-NEXT: nn.conv
// CHECK-NEXT: nn.add
// CHECK-NEXT: return
func.func @grouped_conv_with_bias(%x: tensor<2x8x4x6xf32>) -> tensor<2x20x4x6xf32> {
  %w = nn.constant dense<1.0> : tensor<20x4x1x1xf32>
  %bias = nn.constant dense<1.5> : tensor<1x20x1x1xf32>
  %s = nn.constant dense<1.5> : tensor<20xf32>
  %b = nn.constant dense<-2.0> : tensor<20xf32>
  %m = nn.constant dense<3.0> : tensor<20xf32>
  %v = nn.constant dense<2.0> : tensor<20xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 2 : i64} : (tensor<2x8x4x6xf32>, tensor<20x4x1x1xf32>) -> tensor<2x20x4x6xf32>
  %1 = nn.add %0, %bias : tensor<2x20x4x6xf32>, tensor<1x20x1x1xf32>
  %2 = nn.batch_norm %1, %s, %b, %m, %v {epsilon = 1.0e-5 : f64} : (tensor<2x20x4x6xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>) -> tensor<2x20x4x6xf32>
  return %2 : tensor<2x20x4x6xf32>
}

// -----

// CHECK-LABEL: @grouped_conv_transpose
// CHECK-COUNT-2: nn.constant
// CHECK-NEXT: nn.conv_transpose
// CHECK-NEXT: nn.add
// CHECK-NEXT: return
func.func @grouped_conv_transpose(%x: tensor<1x6x4x4xf32>) -> tensor<1x20x8x8xf32> {
  %w = nn.constant dense<1.0> : tensor<6x10x2x2xf32>
  %s = nn.constant dense<1.5> : tensor<20xf32>
  %b = nn.constant dense<-2.0> : tensor<20xf32>
  %m = nn.constant dense<3.0> : tensor<20xf32>
  %v = nn.constant dense<2.0> : tensor<20xf32>
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, output_padding = array<i64: 0, 0>, groups = 2 : i64} : (tensor<1x6x4x4xf32>, tensor<6x10x2x2xf32>) -> tensor<1x20x8x8xf32>
  %1 = nn.batch_norm %0, %s, %b, %m, %v {epsilon = 1.0e-5 : f64} : (tensor<1x20x8x8xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>) -> tensor<1x20x8x8xf32>
  return %1 : tensor<1x20x8x8xf32>
}

// -----

// CHECK-LABEL: @conv_1d
// CHECK-DAG: nn.constant {{.*}} : tensor<1x20x1xf32>
// CHECK: nn.conv
// CHECK-NEXT: nn.add
// CHECK-NEXT: return
func.func @conv_1d(%x: tensor<1x3x9xf32>) -> tensor<1x20x9xf32> {
  %w = nn.constant dense<1.0> : tensor<20x3x3xf32>
  %s = nn.constant dense<1.5> : tensor<20xf32>
  %b = nn.constant dense<-2.0> : tensor<20xf32>
  %m = nn.constant dense<3.0> : tensor<20xf32>
  %v = nn.constant dense<2.0> : tensor<20xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x9xf32>, tensor<20x3x3xf32>) -> tensor<1x20x9xf32>
  %1 = nn.batch_norm %0, %s, %b, %m, %v {epsilon = 1.0e-5 : f64} : (tensor<1x20x9xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>) -> tensor<1x20x9xf32>
  return %1 : tensor<1x20x9xf32>
}

// -----

// CHECK-LABEL: @matmul
// CHECK-DAG: nn.constant {{.*}} : tensor<20xf32>
// CHECK: nn.matmul
// CHECK-NEXT: nn.add
// CHECK-NEXT: return
func.func @matmul(%x: tensor<5x12xf32>) -> tensor<5x20xf32> {
  %w = nn.constant dense<1.0> : tensor<20x12xf32>
  %s = nn.constant dense<1.5> : tensor<20xf32>
  %b = nn.constant dense<-2.0> : tensor<20xf32>
  %m = nn.constant dense<3.0> : tensor<20xf32>
  %v = nn.constant dense<2.0> : tensor<20xf32>
  %0 = nn.matmul %x, %w {transpose_a = false, transpose_b = true} : (tensor<5x12xf32>, tensor<20x12xf32>) -> tensor<5x20xf32>
  %1 = nn.batch_norm %0, %s, %b, %m, %v {epsilon = 1.0e-5 : f64} : (tensor<5x20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>) -> tensor<5x20xf32>
  return %1 : tensor<5x20xf32>
}

// -----

// Nothing to fold into: a multiply and an add. Axis 1 of a product of rank 3
// is not its channels.
// CHECK-LABEL: @no_weights
// CHECK: %[[E:.*]] = nn.tanh %arg0
// CHECK-NEXT: nn.mul %[[E]], %{{.*}} : tensor<2x20x3xf32>, tensor<1x20x1xf32>
// CHECK-NEXT: nn.add
// CHECK: nn.matmul
// CHECK-NEXT: nn.mul %{{.*}} : tensor<2x20x30xf32>, tensor<1x20x1xf32>
// CHECK-NEXT: nn.add
func.func @no_weights(%x: tensor<2x20x3xf32>) -> tensor<2x20x30xf32> {
  %w = nn.constant dense<1.0> : tensor<3x30xf32>
  %s = nn.constant dense<1.5> : tensor<20xf32>
  %b = nn.constant dense<-2.0> : tensor<20xf32>
  %m = nn.constant dense<3.0> : tensor<20xf32>
  %v = nn.constant dense<2.0> : tensor<20xf32>
  %e = nn.tanh %x : tensor<2x20x3xf32>
  %0 = nn.batch_norm %e, %s, %b, %m, %v {epsilon = 1.0e-5 : f64} : (tensor<2x20x3xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>) -> tensor<2x20x3xf32>
  %1 = nn.matmul %0, %w {transpose_a = false, transpose_b = false} : (tensor<2x20x3xf32>, tensor<3x30xf32>) -> tensor<2x20x30xf32>
  %2 = nn.batch_norm %1, %s, %b, %m, %v {epsilon = 1.0e-5 : f64} : (tensor<2x20x30xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>) -> tensor<2x20x30xf32>
  return %2 : tensor<2x20x30xf32>
}

// -----

// An input has no error of its own: the difference to the mean stays one,
// unless the means are 0.
// CHECK-LABEL: @exact_input
// CHECK: nn.batch_norm %arg0
// CHECK: nn.mul %arg0
// CHECK-NEXT: nn.add
func.func @exact_input(%x: tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x4x3xf32>) {
  %s = nn.constant dense<1.5> : tensor<4xf32>
  %b = nn.constant dense<-2.0> : tensor<4xf32>
  %m = nn.constant dense<[3.0, 1.0e5, 0.0, -1.0]> : tensor<4xf32>
  %zero = nn.constant dense<0.0> : tensor<4xf32>
  %v = nn.constant dense<2.0> : tensor<4xf32>
  %0 = nn.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64} : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
  %1 = nn.batch_norm %x, %s, %b, %zero, %v {epsilon = 1.0e-5 : f64} : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
  return %0, %1 : tensor<2x4x3xf32>, tensor<2x4x3xf32>
}

// -----

// As in a DenseNet: every part of the concat is a convolution's.
// CHECK-LABEL: @concat_of_convs
// CHECK: %[[C:.*]] = nn.concat
// CHECK-NEXT: nn.mul %[[C]]
// CHECK-NEXT: nn.add
func.func @concat_of_convs(%x: tensor<1x8x5x5xf32>) -> tensor<1x40x5x5xf32> {
  %w = nn.constant dense<1.0> : tensor<20x8x1x1xf32>
  %s = nn.constant dense<1.5> : tensor<40xf32>
  %v = nn.constant dense<2.0> : tensor<40xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x8x5x5xf32>, tensor<20x8x1x1xf32>) -> tensor<1x20x5x5xf32>
  %1 = nn.relu %0 : tensor<1x20x5x5xf32>
  %2 = nn.concat %0, %1 {axis = 1 : i64} : (tensor<1x20x5x5xf32>, tensor<1x20x5x5xf32>) -> tensor<1x40x5x5xf32>
  %3 = nn.batch_norm %2, %s, %s, %s, %v {epsilon = 1.0e-5 : f64} : (tensor<1x40x5x5xf32>, tensor<40xf32>, tensor<40xf32>, tensor<40xf32>, tensor<40xf32>) -> tensor<1x40x5x5xf32>
  return %3 : tensor<1x40x5x5xf32>
}

// -----

// Someone else sees the convolution's result: its weights stay.
// CHECK-LABEL: @conv_with_two_users
// CHECK: nn.conv
// CHECK-NEXT: nn.mul
// CHECK-NEXT: nn.add
func.func @conv_with_two_users(%x: tensor<1x8x5x5xf32>) -> (tensor<1x24x5x5xf32>, tensor<1x24x5x5xf32>) {
  %w = nn.constant dense<1.0> : tensor<24x8x1x1xf32>
  %s = nn.constant dense<1.5> : tensor<24xf32>
  %b = nn.constant dense<-2.0> : tensor<24xf32>
  %m = nn.constant dense<3.0> : tensor<24xf32>
  %v = nn.constant dense<2.0> : tensor<24xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x8x5x5xf32>, tensor<24x8x1x1xf32>) -> tensor<1x24x5x5xf32>
  %1 = nn.batch_norm %0, %s, %b, %m, %v {epsilon = 1.0e-5 : f64} : (tensor<1x24x5x5xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<1x24x5x5xf32>
  return %0, %1 : tensor<1x24x5x5xf32>, tensor<1x24x5x5xf32>
}

// -----

// The + 3 belongs to a hard-swish that nnc-recompose will find.
// CHECK-LABEL: @what_follows_stays
// CHECK: nn.conv
// CHECK-NEXT: nn.add
// CHECK-NEXT: nn.add
// CHECK-NEXT: nn.clip
func.func @what_follows_stays(%x: tensor<1x8x5x5xf32>) -> tensor<1x24x5x5xf32> {
  %w = nn.constant dense<1.0> : tensor<24x8x1x1xf32>
  %s = nn.constant dense<1.5> : tensor<24xf32>
  %b = nn.constant dense<-2.0> : tensor<24xf32>
  %m = nn.constant dense<3.0> : tensor<24xf32>
  %v = nn.constant dense<2.0> : tensor<24xf32>
  %three = nn.constant dense<3.0> : tensor<f32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x8x5x5xf32>, tensor<24x8x1x1xf32>) -> tensor<1x24x5x5xf32>
  %1 = nn.batch_norm %0, %s, %b, %m, %v {epsilon = 1.0e-5 : f64} : (tensor<1x24x5x5xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<1x24x5x5xf32>
  %2 = nn.add %1, %three : tensor<1x24x5x5xf32>, tensor<f32>
  %3 = nn.clip %2 {min = 0.0 : f64, max = 6.0 : f64} : tensor<1x24x5x5xf32>
  return %3 : tensor<1x24x5x5xf32>
}

// -----

// 1 / 0 has no place in weights.
// CHECK-LABEL: @no_variance
// CHECK: nn.batch_norm
func.func @no_variance(%x: tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32> {
  %s = nn.constant dense<1.5> : tensor<2xf32>
  %v = nn.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %1 = nn.batch_norm %x, %s, %s, %s, %v {epsilon = 0.0 : f64} : (tensor<1x2x5x5xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x5xf32>
  return %1 : tensor<1x2x5x5xf32>
}
