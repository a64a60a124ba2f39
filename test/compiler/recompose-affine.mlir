// Constants are made random; the function is evaluated before and after.
// RUN: nnc-opt --nnc-test-equivalence=passes=nnc-recompose --split-input-file %s | FileCheck %s

// As the training of PP-LCNet leaves it: a learned scale and shift of all
// channels behind the bias.
// CHECK-LABEL: @behind_conv
// CHECK-DAG: %[[B:.*]] = nn.constant {{.*}} : tensor<1x24x1x1xf32>
// CHECK-DAG: %[[W:.*]] = nn.constant {{.*}} : tensor<24x8x3x3xf32>
// CHECK-NEXT: %[[Y:.*]] = nn.conv %arg0, %[[W]]
// CHECK-NEXT: %[[Z:.*]] = nn.add %[[Y]], %[[B]]
// CHECK-NEXT: nn.relu %[[Z]]
func.func @behind_conv(%x: tensor<1x8x5x5xf32>) -> tensor<1x24x5x5xf32> {
  %w = nn.constant dense<1.0> : tensor<24x8x3x3xf32>
  %b = nn.constant dense<-2.0> : tensor<1x24x1x1xf32>
  %s = nn.constant dense<1.3841065> : tensor<1xf32>
  %t = nn.constant dense<0.58607715> : tensor<1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x8x5x5xf32>, tensor<24x8x3x3xf32>) -> tensor<1x24x5x5xf32>
  %1 = nn.add %0, %b : tensor<1x24x5x5xf32>, tensor<1x24x1x1xf32>
  %2 = nn.mul %s, %1 : tensor<1xf32>, tensor<1x24x5x5xf32>
  %3 = nn.add %2, %t : tensor<1x24x5x5xf32>, tensor<1xf32>
  %4 = nn.relu %3 : tensor<1x24x5x5xf32>
  return %4 : tensor<1x24x5x5xf32>
}

// -----

// Without padding, a scale and a shift in front go through.
// CHECK-LABEL: @before_conv
// CHECK-DAG: %[[B:.*]] = nn.constant {{.*}} : tensor<1x24x1x1xf32>
// CHECK-DAG: %[[W:.*]] = nn.constant {{.*}} : tensor<24x4x2x3xf32>
// CHECK-NEXT: %[[R:.*]] = nn.tanh %arg0
// CHECK-NEXT: %[[Y:.*]] = nn.conv %[[R]], %[[W]]
// CHECK-NEXT: nn.add %[[Y]], %[[B]]
// CHECK-NEXT: return
func.func @before_conv(%x: tensor<1x8x5x5xf32>) -> tensor<1x24x4x3xf32> {
  %w = nn.constant dense<1.0> : tensor<24x4x2x3xf32>
  %s = nn.constant dense<[[[[1.0]], [[2.0]], [[3.0]], [[4.0]], [[5.0]], [[6.0]], [[7.0]], [[8.0]]]]> : tensor<1x8x1x1xf32>
  %t = nn.constant dense<[[[[1.0]], [[-2.0]], [[3.0]], [[4.0]], [[-5.0]], [[6.0]], [[-7.0]], [[8.0]]]]> : tensor<1x8x1x1xf32>
  %b = nn.constant dense<-2.0> : tensor<1x24x1x1xf32>
  %0 = nn.tanh %x : tensor<1x8x5x5xf32>
  %1 = nn.mul %0, %s : tensor<1x8x5x5xf32>, tensor<1x8x1x1xf32>
  %2 = nn.sub %1, %t : tensor<1x8x5x5xf32>, tensor<1x8x1x1xf32>
  %3 = nn.conv %2, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 2 : i64} : (tensor<1x8x5x5xf32>, tensor<24x4x2x3xf32>) -> tensor<1x24x4x3xf32>
  %4 = nn.add %3, %b : tensor<1x24x4x3xf32>, tensor<1x24x1x1xf32>
  return %4 : tensor<1x24x4x3xf32>
}

// -----

// The padding is zeros, not shifted zeros: only a scale goes through.
// CHECK-LABEL: @before_padded_conv
// CHECK: %[[A:.*]] = nn.add
// CHECK-NEXT: nn.conv %[[A]]
// CHECK-NEXT: return
func.func @before_padded_conv(%x: tensor<1x2x5x5xf32>) -> tensor<1x3x5x5xf32> {
  %w = nn.constant dense<1.0> : tensor<3x2x3x3xf32>
  %s = nn.constant dense<2.5> : tensor<f32>
  %t = nn.constant dense<1.5> : tensor<f32>
  %0 = nn.relu %x : tensor<1x2x5x5xf32>
  %1 = nn.add %0, %t : tensor<1x2x5x5xf32>, tensor<f32>
  %2 = nn.mul %1, %s : tensor<1x2x5x5xf32>, tensor<f32>
  %3 = nn.conv %2, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x5x5xf32>
  return %3 : tensor<1x3x5x5xf32>
}

// -----

// CHECK-LABEL: @before_conv_transpose
// CHECK: %[[A:.*]] = nn.relu
// CHECK-NEXT: nn.conv_transpose %[[A]]
// CHECK-NEXT: return
func.func @before_conv_transpose(%x: tensor<1x6x4x4xf32>) -> tensor<1x20x8x8xf32> {
  %w = nn.constant dense<1.0> : tensor<6x10x2x2xf32>
  %s = nn.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]], [[5.0]], [[6.0]]]> : tensor<6x1x1xf32>
  %0 = nn.relu %x : tensor<1x6x4x4xf32>
  %1 = nn.div %0, %s : tensor<1x6x4x4xf32>, tensor<6x1x1xf32>
  %2 = nn.conv_transpose %1, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, output_padding = array<i64: 0, 0>, groups = 2 : i64} : (tensor<1x6x4x4xf32>, tensor<6x10x2x2xf32>) -> tensor<1x20x8x8xf32>
  return %2 : tensor<1x20x8x8xf32>
}

// -----

// CHECK-LABEL: @around_matmul
// CHECK: %[[A:.*]] = nn.tanh
// CHECK-NEXT: %[[Y:.*]] = nn.matmul %[[A]]
// CHECK-NEXT: nn.add %[[Y]], %{{.*}} : tensor<5x20xf32>, tensor<20xf32>
// CHECK-NEXT: return
func.func @around_matmul(%x: tensor<5x4xf32>) -> tensor<5x20xf32> {
  %w = nn.constant dense<1.0> : tensor<20x4xf32>
  %s = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %t = nn.constant dense<[0.5, 2.0, 1.0, -4.0]> : tensor<4xf32>
  %u = nn.constant dense<2.0> : tensor<20xf32>
  %0 = nn.tanh %x : tensor<5x4xf32>
  %1 = nn.mul %0, %s : tensor<5x4xf32>, tensor<4xf32>
  %2 = nn.add %1, %t : tensor<5x4xf32>, tensor<4xf32>
  %3 = nn.matmul %2, %w {transpose_a = false, transpose_b = true} : (tensor<5x4xf32>, tensor<20x4xf32>) -> tensor<5x20xf32>
  %4 = nn.mul %3, %u : tensor<5x20xf32>, tensor<20xf32>
  return %4 : tensor<5x20xf32>
}

// -----

// The scale of attention: behind the product it is part of the epilogue.
// CHECK-LABEL: @scale_between_values
// CHECK-NEXT: %[[S:.*]] = nn.constant dense<2.500000e-01>
// CHECK-NEXT: %[[Y:.*]] = nn.matmul %arg0, %arg1
// CHECK-NEXT: nn.mul %[[Y]], %[[S]]
func.func @scale_between_values(%q: tensor<2x5x4xf32>, %k: tensor<2x4x5xf32>) -> tensor<2x5x5xf32> {
  %two = nn.constant dense<2.0> : tensor<f32>
  %0 = nn.div %q, %two : tensor<2x5x4xf32>, tensor<f32>
  %1 = nn.div %k, %two : tensor<2x4x5xf32>, tensor<f32>
  %2 = nn.matmul %0, %1 {transpose_a = false, transpose_b = false} : (tensor<2x5x4xf32>, tensor<2x4x5xf32>) -> tensor<2x5x5xf32>
  return %2 : tensor<2x5x5xf32>
}

// -----

// Adding and taking away 1.5 * 2^23 rounds to whole numbers: not a chain.
// CHECK-LABEL: @rounding_in_disguise
// CHECK: nn.add
// CHECK-NEXT: nn.sub
func.func @rounding_in_disguise(%x: tensor<9xf32>) -> tensor<9xf32> {
  %c = nn.constant dense<12582912.0> : tensor<f32>
  %0 = nn.add %x, %c : tensor<9xf32>, tensor<f32>
  %1 = nn.sub %0, %c : tensor<9xf32>, tensor<f32>
  return %1 : tensor<9xf32>
}

// -----

// Whole numbers wrap and cut: left alone.
// CHECK-LABEL: @integers
// CHECK: nn.mul
// CHECK-NEXT: nn.div
func.func @integers(%x: tensor<9xi32>) -> tensor<9xi32> {
  %c = nn.constant dense<7> : tensor<i32>
  %0 = nn.mul %x, %c : tensor<9xi32>, tensor<i32>
  %1 = nn.div %0, %c : tensor<9xi32>, tensor<i32>
  return %1 : tensor<9xi32>
}

// -----

// A weight of two convolutions that is not small: scaled behind them.
// CHECK-LABEL: @shared_weight
// CHECK: nn.constant {{.*}} : tensor<64x64x3x3xf32>
// CHECK-NOT: tensor<64x64x3x3xf32>{{$}}
// CHECK: nn.conv
// CHECK-NEXT: nn.mul
// CHECK-NEXT: nn.conv
// CHECK-NEXT: nn.mul
func.func @shared_weight(%x: tensor<1x64x3x3xf32>, %y: tensor<1x64x3x3xf32>) -> (tensor<1x64x1x1xf32>, tensor<1x64x1x1xf32>) {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
  %s = nn.constant dense<2.0> : tensor<1x64x1x1xf32>
  %t = nn.constant dense<3.0> : tensor<1x64x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x64x3x3xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x1x1xf32>
  %1 = nn.mul %0, %s : tensor<1x64x1x1xf32>, tensor<1x64x1x1xf32>
  %2 = nn.conv %y, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x64x3x3xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x1x1xf32>
  %3 = nn.mul %2, %t : tensor<1x64x1x1xf32>, tensor<1x64x1x1xf32>
  return %1, %3 : tensor<1x64x1x1xf32>, tensor<1x64x1x1xf32>
}

// -----

// (x - m) / s of an exact x is exact for x near m; x * (1 / s) - m / s is not.
// The division goes into weights behind it, the difference does not.
// CHECK-LABEL: @differences_stay
// CHECK: %[[D:.*]] = nn.add %arg0, %{{.*}} : tensor<5x4xf32>, tensor<4xf32>
// CHECK-NEXT: %[[Y:.*]] = nn.div %[[D]]
// CHECK: %[[E:.*]] = nn.add %arg0
// CHECK-NEXT: %[[P:.*]] = nn.matmul %[[E]]
// CHECK-NEXT: return %[[Y]], %[[P]]
func.func @differences_stay(%x: tensor<5x4xf32>) -> (tensor<5x4xf32>, tensor<5x20xf32>) {
  %w = nn.constant dense<1.0> : tensor<4x20xf32>
  %m = nn.constant dense<[1.0e5, 1.5, 3.0, 4.0e4]> : tensor<4xf32>
  %n = nn.constant dense<[1.0e4, 1.5, 3.0, 4.0e4]> : tensor<4xf32>
  %s = nn.constant dense<[9.7, 3.0, 3.0, 5.0]> : tensor<4xf32>
  %0 = nn.sub %x, %m : tensor<5x4xf32>, tensor<4xf32>
  %1 = nn.div %0, %s : tensor<5x4xf32>, tensor<4xf32>
  %2 = nn.sub %x, %n : tensor<5x4xf32>, tensor<4xf32>
  %3 = nn.div %2, %s : tensor<5x4xf32>, tensor<4xf32>
  %4 = nn.matmul %3, %w {transpose_a = false, transpose_b = false} : (tensor<5x4xf32>, tensor<4x20xf32>) -> tensor<5x20xf32>
  return %1, %4 : tensor<5x4xf32>, tensor<5x20xf32>
}

// -----

// A division alone stays one, unless the product is the same bit by bit.
// CHECK-LABEL: @division
// CHECK: nn.div %arg0
// CHECK: nn.mul %arg0
func.func @division(%x: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %three = nn.constant dense<3.0> : tensor<f32>
  %four = nn.constant dense<4.0> : tensor<f32>
  %0 = nn.div %x, %three : tensor<9xf32>, tensor<f32>
  %1 = nn.div %x, %four : tensor<9xf32>, tensor<f32>
  return %0, %1 : tensor<9xf32>, tensor<9xf32>
}

// -----

// What decides a comparison or a step further on keeps its bits; what an
// exponential has rounded in between does not.
// CHECK-LABEL: @steps
// CHECK: nn.mul %arg0
// CHECK-NEXT: nn.mul
// CHECK-NEXT: nn.relu
// CHECK-NEXT: nn.floor
// CHECK: %[[A:.*]] = nn.mul %arg0
// CHECK-NEXT: nn.exp %[[A]]
// CHECK-NEXT: nn.floor
func.func @steps(%x: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %a = nn.constant dense<0.3> : tensor<f32>
  %b = nn.constant dense<200.1> : tensor<f32>
  %c = nn.constant dense<0.7> : tensor<f32>
  %0 = nn.mul %x, %a : tensor<9xf32>, tensor<f32>
  %1 = nn.mul %0, %b : tensor<9xf32>, tensor<f32>
  %2 = nn.relu %1 : tensor<9xf32>
  %3 = nn.floor %2 : tensor<9xf32>
  %4 = nn.mul %x, %c : tensor<9xf32>, tensor<f32>
  %5 = nn.mul %4, %b : tensor<9xf32>, tensor<f32>
  %6 = nn.exp %5 : tensor<9xf32>
  %7 = nn.floor %6 : tensor<9xf32>
  return %3, %7 : tensor<9xf32>, tensor<9xf32>
}

// -----

// Two scales along axes of different sizes are no chain.
// CHECK-LABEL: @scales_along_two_axes
// CHECK: nn.mul
// CHECK: nn.mul
func.func @scales_along_two_axes(%x: tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> {
  %a = nn.constant dense<[[[1.5]], [[2.5]], [[0.3]]]> : tensor<3x1x1xf32>
  %b = nn.constant dense<[[1.1], [0.7]]> : tensor<2x1xf32>
  %c = nn.constant dense<[1.3, 0.9, 2.1, 0.4]> : tensor<4xf32>
  %0 = nn.mul %x, %a : tensor<1x3x2x4xf32>, tensor<3x1x1xf32>
  %1 = nn.mul %0, %b : tensor<1x3x2x4xf32>, tensor<2x1xf32>
  %2 = nn.mul %1, %c : tensor<1x3x2x4xf32>, tensor<4xf32>
  return %2 : tensor<1x3x2x4xf32>
}
