// RUN: nnc-opt %s --nnc-form-layers --split-input-file | FileCheck %s

// Bias and activation become the epilogue; the layer is called what the model
// calls the convolution.

// CHECK-LABEL: func.func @bias_relu
// CHECK: %[[W:.*]] = nn.constant dense<1.0{{.*}}> : tensor<8x8x1x1xf32>
// CHECK: %[[B:.*]] = nn.constant dense<{{.*}}> : tensor<1x8x1x1xf32>
// CHECK: %[[Y:.*]] = nn.layer "conv1_out" inputs(%arg0, %[[W]] : {{.*}}) extras(%[[B]] : tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32> anchor {
// CHECK-NEXT: ^bb0(%[[AX:.*]]: tensor<1x8x4x4xf32>, %[[AW:.*]]: tensor<8x8x1x1xf32>):
// CHECK-NEXT: %[[C:.*]] = nn.conv %[[AX]], %[[AW]]
// CHECK-NEXT: nn.yield %[[C]]
// CHECK: epilogue {
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %[[EB:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = nn.add %[[E]], %[[EB]] : f32, f32
// CHECK-NEXT: %[[R:.*]] = nn.relu %[[S]] : f32
// CHECK-NEXT: nn.yield %[[R]] : f32
// CHECK: return %[[Y]]
func.func @bias_relu(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %w = nn.constant dense<1.0> : tensor<8x8x1x1xf32>
  %b = nn.constant dense<[[[0.0]], [[1.0]], [[2.0]], [[3.0]], [[4.0]], [[5.0]], [[6.0]], [[7.0]]]> : tensor<8x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32> loc("/conv1/out")
  %1 = nn.add %0, %b : tensor<1x8x4x4xf32>, tensor<8x1x1xf32>
  %2 = nn.relu %1 : tensor<1x8x4x4xf32>
  return %2 : tensor<1x8x4x4xf32>
}

// -----

// An expression may use a value twice; constants of one value are literals.

// CHECK-LABEL: func.func @diamond
// CHECK: nn.layer "matmul" inputs(%arg0, %arg1 : {{.*}}) -> tensor<4x6xf32> anchor
// CHECK: ^bb0(%[[E:.*]]: f32):
// CHECK-NEXT: %[[THREE:.*]] = arith.constant 3.0{{.*}} : f32
// CHECK-NEXT: %[[S:.*]] = nn.add %[[E]], %[[THREE]]
// CHECK-NEXT: %[[C:.*]] = nn.clip %[[S]]
// CHECK-NEXT: %[[M:.*]] = nn.mul %[[C]], %[[E]]
// CHECK-NEXT: nn.yield %[[M]]
// CHECK-NOT: nn.layer
func.func @diamond(%x: tensor<4x5xf32>, %w: tensor<5x6xf32>) -> tensor<4x6xf32> {
  %three = nn.constant dense<3.0> : tensor<f32>
  %0 = nn.matmul %x, %w {transpose_a = false, transpose_b = false} : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %1 = nn.add %0, %three : tensor<4x6xf32>, tensor<f32>
  %2 = nn.clip %1 {min = 0.0 : f64, max = 6.0 : f64} : tensor<4x6xf32>
  %3 = nn.mul %2, %0 : tensor<4x6xf32>, tensor<4x6xf32>
  return %3 : tensor<4x6xf32>
}

// -----

// The later of two anchors takes the residual add, and the relu behind it. The
// earlier keeps its own activation.

// CHECK-LABEL: func.func @residual
// CHECK: %[[A:.*]] = nn.layer "a" inputs(%arg0 : {{.*}}) -> tensor<1x8x4x4xf32>
// CHECK: nn.hard_swish
// CHECK: %[[B:.*]] = nn.layer "b" inputs(%arg0 : {{.*}}) extras(%[[A]] : tensor<1x8x4x4xf32>)
// CHECK: ^bb0(%[[E:.*]]: f32, %[[EX:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = nn.add %[[EX]], %[[E]]
// CHECK-NEXT: nn.relu %[[S]]
// CHECK: return %[[B]]
func.func @residual(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %0 = nn.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> loc("a")
  %1 = nn.hard_swish %0 : tensor<1x8x4x4xf32>
  %2 = nn.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> loc("b")
  %3 = nn.add %1, %2 : tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>
  %4 = nn.relu %3 : tensor<1x8x4x4xf32>
  return %4 : tensor<1x8x4x4xf32>
}

// -----

// A value with other users ends the group: squeeze-and-excite's scale cannot
// join the pool (another shape) nor the convolution (the pool reads it too).

// CHECK-LABEL: func.func @squeeze_excite
// CHECK: %[[Y:.*]] = nn.layer "conv"
// CHECK: nn.relu
// CHECK: %[[P:.*]] = nn.layer "avg_pool" inputs(%[[Y]] : {{.*}}) -> tensor<1x8x1x1xf32>
// CHECK: nn.sigmoid
// CHECK: nn.layer "mul" extras(%[[Y]], %[[P]] : tensor<1x8x4x4xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32> epilogue {
func.func @squeeze_excite(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %1 = nn.relu %0 : tensor<1x8x4x4xf32>
  %2 = nn.avg_pool %1 {kernel = array<i64: 4, 4>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false, count_include_pad = false} : (tensor<1x8x4x4xf32>) -> tensor<1x8x1x1xf32>
  %3 = nn.sigmoid %2 : tensor<1x8x1x1xf32>
  %4 = nn.mul %1, %3 : tensor<1x8x4x4xf32>, tensor<1x8x1x1xf32>
  return %4 : tensor<1x8x4x4xf32>
}

// -----

// One value a channel, made at run time, is an extra too.

// CHECK-LABEL: func.func @channel_scale
// CHECK: nn.layer "conv" inputs({{.*}}) extras(%arg2 : tensor<1x8x1x1xf32>)
// CHECK: nn.mul
// CHECK-NOT: nn.layer
func.func @channel_scale(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>, %s: tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %1 = nn.mul %0, %s : tensor<1x8x4x4xf32>, tensor<1x8x1x1xf32>
  return %1 : tensor<1x8x4x4xf32>
}

// -----

// An operand that is neither full nor along the channels stays outside.

// CHECK-LABEL: func.func @mask
// CHECK: nn.layer "matmul" {{.*}} anchor
// CHECK: nn.layer "add" extras(%{{.*}}, %{{.*}} : tensor<2x4x6xf32>, tensor<1x4x1xf32>)
func.func @mask(%x: tensor<2x4x5xf32>, %w: tensor<5x6xf32>, %m: tensor<4x1xf32>) -> tensor<2x4x6xf32> {
  %0 = nn.matmul %x, %w {transpose_a = false, transpose_b = false} : (tensor<2x4x5xf32>, tensor<5x6xf32>) -> tensor<2x4x6xf32>
  %1 = nn.add %0, %m : tensor<2x4x6xf32>, tensor<4x1xf32>
  return %1 : tensor<2x4x6xf32>
}

// -----

// Elementwise ops without an anchor: one layer for a tree of them, with what
// only it reads. Ops that change the element type stand alone.

// CHECK-LABEL: func.func @chain
// CHECK: %[[C:.*]] = nn.layer "cast" extras(%arg1 : tensor<2x3xi64>)
// CHECK: nn.cast %{{.*}} : i64 to f32
// CHECK: nn.layer "relu" extras(%arg0, %[[C]] : tensor<2x3xf32>, tensor<2x3xf32>)
// CHECK: nn.relu
// CHECK: nn.neg
// CHECK: nn.sub
// CHECK-NOT: nn.layer
func.func @chain(%x: tensor<2x3xf32>, %i: tensor<2x3xi64>) -> tensor<2x3xf32> {
  %0 = nn.relu %x : tensor<2x3xf32> loc("relu")
  %1 = nn.cast %i : tensor<2x3xi64> to tensor<2x3xf32>
  %2 = nn.neg %1 : tensor<2x3xf32>
  %3 = nn.sub %0, %2 : tensor<2x3xf32>, tensor<2x3xf32> loc("relu")
  return %3 : tensor<2x3xf32>
}

// -----

// Ops that take no epilogue are layers too; names are unique C identifiers.

// CHECK-LABEL: func.func @names
// CHECK: nn.layer "layer_2nd_op"
// CHECK: nn.layer "layer_2nd_op_2"
// CHECK: nn.reshape
func.func @names(%x: tensor<4x5xf32>) -> tensor<20xf32> {
  %0 = nn.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x5xf32>) -> tensor<5x4xf32> loc("2nd.op")
  %1 = nn.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<5x4xf32>) -> tensor<4x5xf32> loc("2nd:op")
  %2 = nn.reshape %1 : tensor<4x5xf32> -> tensor<20xf32>
  return %2 : tensor<20xf32>
}

// -----

// A value that the anchor reads and its epilogue reads again is computed before
// the layer: relu(x) of a pre-activation block, and an average subtracted from
// what it was taken of.

// CHECK-LABEL: func.func @anchor_and_epilogue_read_one_value
// CHECK: %[[R:.*]] = nn.layer "relu"
// CHECK: nn.layer "max_pool" inputs(%[[R]] : {{.*}}) extras(%[[R]] : tensor<1x8x4x4xf32>)
func.func @anchor_and_epilogue_read_one_value(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %0 = nn.relu %x : tensor<1x8x4x4xf32>
  %1 = nn.max_pool %0 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, ceil_mode = false} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %2 = nn.sub %1, %0 : tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>
  return %2 : tensor<1x8x4x4xf32>
}

// -----

// The same through a chain: what only the chain reads goes into its layer.

// CHECK-LABEL: func.func @anchor_reads_the_middle_of_a_chain
// CHECK: %[[S:.*]] = nn.layer "sigmoid"
// CHECK: %[[Y:.*]] = nn.layer "matmul" inputs(%[[S]], %{{.*}}) extras(%[[S]] : tensor<4x4xf32>)
// CHECK: nn.tanh
// CHECK: nn.add
// CHECK: return %[[Y]]
func.func @anchor_reads_the_middle_of_a_chain(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.sigmoid %x : tensor<4x4xf32>
  %1 = nn.tanh %0 : tensor<4x4xf32>
  %2 = nn.matmul %0, %w {transpose_a = false, transpose_b = false} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = nn.add %2, %1 : tensor<4x4xf32>, tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// A constant of an unsigned type is an operand: literals have none.

// CHECK-LABEL: func.func @unsigned
// CHECK: %[[K:.*]] = nn.constant dense<200> : tensor<1xui8>
// CHECK: nn.layer "max" extras(%arg0, %[[K]] : tensor<6xui8>, tensor<1xui8>) -> tensor<6xui8>
// CHECK: nn.max %{{.*}}, %{{.*}} : ui8, ui8
// CHECK-LABEL: func.func @signed
// CHECK: nn.layer "max" extras(%arg0 : tensor<6xi64>) -> tensor<6xi64>
// CHECK: arith.constant -9223372036854775808 : i64
func.func @unsigned(%x: tensor<6xui8>) -> tensor<6xui8> {
  %k = nn.constant dense<200> : tensor<ui8>
  %0 = nn.max %x, %k : tensor<6xui8>, tensor<ui8>
  return %0 : tensor<6xui8>
}
func.func @signed(%x: tensor<6xi64>) -> tensor<6xi64> {
  %k = nn.constant dense<-9223372036854775808> : tensor<i64>
  %0 = nn.max %x, %k : tensor<6xi64>, tensor<i64>
  return %0 : tensor<6xi64>
}

// -----

// A layer without an anchor reads eight tensors at most; literals are none.

// CHECK-LABEL: func.func @ten_operands
// CHECK: %[[A:.*]] = nn.layer "add" extras(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7 :
// CHECK: nn.layer "mul" extras(%[[A]], %arg8, %arg9 :
// CHECK: arith.constant 2.0{{.*}} : f32
// CHECK-NOT: nn.layer
func.func @ten_operands(%0: tensor<4xf32>, %1: tensor<4xf32>, %2: tensor<4xf32>,
    %3: tensor<4xf32>, %4: tensor<4xf32>, %5: tensor<4xf32>, %6: tensor<4xf32>,
    %7: tensor<4xf32>, %8: tensor<4xf32>, %9: tensor<4xf32>) -> tensor<4xf32> {
  %two = nn.constant dense<2.0> : tensor<f32>
  %a = nn.add %0, %1 : tensor<4xf32>, tensor<4xf32>
  %b = nn.add %a, %2 : tensor<4xf32>, tensor<4xf32>
  %c = nn.add %b, %3 : tensor<4xf32>, tensor<4xf32>
  %d = nn.add %c, %4 : tensor<4xf32>, tensor<4xf32>
  %e = nn.add %d, %5 : tensor<4xf32>, tensor<4xf32>
  %f = nn.add %e, %6 : tensor<4xf32>, tensor<4xf32>
  %g = nn.add %f, %7 : tensor<4xf32>, tensor<4xf32>
  %h = nn.add %g, %8 : tensor<4xf32>, tensor<4xf32>
  %i = nn.add %h, %9 : tensor<4xf32>, tensor<4xf32>
  %j = nn.mul %i, %two : tensor<4xf32>, tensor<f32>
  return %j : tensor<4xf32>
}

// -----

// Quantized numbers are read, computed with as floats, and stored in one layer.
// What makes floats of %x is in the layer of each reader, so that no floats are
// stored.

// CHECK-LABEL: func.func @quantized
// CHECK: %[[Y:.*]] = nn.layer "{{.*}}" extras(%arg1, %arg0 : tensor<4xi8>, tensor<4xui8>) -> tensor<4xui8>
// CHECK-COUNT-2: nn.cast %{{.*}} to f32
// CHECK: nn.add
// CHECK: nn.cast %{{.*}} : f32 to ui8
// CHECK: %[[Z:.*]] = nn.layer "{{.*}}" extras(%arg0 : tensor<4xui8>) -> tensor<4xi8>
// CHECK: nn.cast %{{.*}} : ui8 to f32
// CHECK: nn.relu
// CHECK: nn.cast %{{.*}} : f32 to i8
// CHECK-NOT: nn.layer
// CHECK: return %[[Y]], %[[Z]]
func.func @quantized(%x: tensor<4xui8>, %y: tensor<4xi8>) -> (tensor<4xui8>, tensor<4xi8>) {
  %s = nn.constant dense<2.0> : tensor<f32>
  %0 = nn.cast %x : tensor<4xui8> to tensor<4xf32>
  %1 = nn.mul %0, %s : tensor<4xf32>, tensor<f32>
  %2 = nn.cast %y : tensor<4xi8> to tensor<4xf32>
  %3 = nn.add %1, %2 : tensor<4xf32>, tensor<4xf32>
  %4 = nn.cast %3 : tensor<4xf32> to tensor<4xui8>
  %5 = nn.relu %1 : tensor<4xf32>
  %6 = nn.cast %5 : tensor<4xf32> to tensor<4xi8>
  return %4, %6 : tensor<4xui8>, tensor<4xi8>
}

// -----

// A layer of integers of 64 bits, or of bools, stays apart from one of floats.

// CHECK-LABEL: func.func @apart
// CHECK: nn.layer "{{.*}}" extras(%arg0 : tensor<4xi64>) -> tensor<4xf32>
// CHECK: nn.layer "{{.*}}" extras(%{{.*}} : tensor<4xf32>) -> tensor<4xf32>
// CHECK: nn.layer "{{.*}}" extras(%{{.*}} : tensor<4xf32>) -> tensor<4xi1>
func.func @apart(%x: tensor<4xi64>) -> tensor<4xi1> {
  %s = nn.constant dense<2.0> : tensor<f32>
  %0 = nn.cast %x : tensor<4xi64> to tensor<4xf32>
  %1 = nn.mul %0, %s : tensor<4xf32>, tensor<f32>
  %2 = nn.greater %1, %s : tensor<4xf32>, tensor<f32>
  return %2 : tensor<4xi1>
}

// -----

// Means of integers are floats: the epilogue reads floats and stores integers.

// CHECK-LABEL: func.func @mean
// CHECK: nn.layer "avg_pool" inputs(%arg0 : tensor<1x2x4x4xui8>) -> tensor<1x2x1x1xi8>
// CHECK: nn.mul
// CHECK: nn.cast %{{.*}} : f32 to i8
func.func @mean(%x: tensor<1x2x4x4xui8>) -> tensor<1x2x1x1xi8> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.avg_pool %x {kernel = array<i64: 4, 4>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false, count_include_pad = false, accumulator = f32} : (tensor<1x2x4x4xui8>) -> tensor<1x2x1x1xf32>
  %1 = nn.mul %0, %s : tensor<1x2x1x1xf32>, tensor<f32>
  %2 = nn.cast %1 : tensor<1x2x1x1xf32> to tensor<1x2x1x1xi8>
  return %2 : tensor<1x2x1x1xi8>
}

// -----

// A layer stores integers, rather than the floats that the next one makes of
// them: the sum is in the epilogue of the second product, which reads bytes.

// CHECK-LABEL: func.func @residual
// CHECK: %[[A:.*]] = nn.layer "matmul" inputs(%arg0, %arg1 : tensor<2x4xi8>, tensor<4x4xi8>) -> tensor<2x4xi8>
// CHECK: nn.layer "{{.*}}" inputs(%{{.*}}) extras(%[[A]] : tensor<2x4xi8>) -> tensor<2x4xi8>
func.func @residual(%x: tensor<2x4xi8>, %w: tensor<4x4xi8>) -> tensor<2x4xi8> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.matmul %x, %w {transpose_a = false, transpose_b = false, accumulator = i32} : (tensor<2x4xi8>, tensor<4x4xi8>) -> tensor<2x4xi32>
  %1 = nn.cast %0 : tensor<2x4xi32> to tensor<2x4xf32>
  %2 = nn.mul %1, %s : tensor<2x4xf32>, tensor<f32>
  %3 = nn.cast %2 : tensor<2x4xf32> to tensor<2x4xi8>
  %4 = nn.cast %3 : tensor<2x4xi8> to tensor<2x4xf32>
  %5 = nn.mul %4, %s : tensor<2x4xf32>, tensor<f32>
  %6 = nn.matmul %w, %x {transpose_a = false, transpose_b = true, accumulator = i32} : (tensor<4x4xi8>, tensor<2x4xi8>) -> tensor<4x2xi32>
  %7 = nn.cast %6 : tensor<4x2xi32> to tensor<4x2xi8>
  %8 = nn.matmul %x, %7 {transpose_a = false, transpose_b = false, accumulator = i32} : (tensor<2x4xi8>, tensor<4x2xi8>) -> tensor<2x2xi32>
  %9 = nn.cast %8 : tensor<2x2xi32> to tensor<2x2xi8>
  %10 = nn.matmul %9, %x {transpose_a = false, transpose_b = false, accumulator = i32} : (tensor<2x2xi8>, tensor<2x4xi8>) -> tensor<2x4xi32>
  %11 = nn.cast %10 : tensor<2x4xi32> to tensor<2x4xf32>
  %12 = nn.add %11, %5 : tensor<2x4xf32>, tensor<2x4xf32>
  %13 = nn.cast %12 : tensor<2x4xf32> to tensor<2x4xi8>
  return %13 : tensor<2x4xi8>
}
