// RUN: nnc-opt --nnc-qnn-fuse=target=portable --split-input-file %s | FileCheck %s
// RUN: nnc-opt --nnc-qnn-fuse=target=aarch64 --split-input-file %s | FileCheck %s

!x = tensor<1x32769x!quant.uniform<u8:f32, 5.0e-01:3>>

// The squares of more integers might not fit in 64 bits.
// CHECK-LABEL: @long_layer_norm
// CHECK: %[[R:.*]] = qnn.dequantize %arg0
// CHECK: nn.layer_norm %[[R]]
func.func @long_layer_norm(%x: !x, %s: tensor<32769xf32>) -> tensor<1x32769xf32> {
  %0 = qnn.dequantize %x : !x -> tensor<1x32769xf32>
  %1 = nn.layer_norm %0, %s, %s {axis = 1 : i64, epsilon = 1.0e-3 : f64} : (tensor<1x32769xf32>, tensor<32769xf32>, tensor<32769xf32>) -> tensor<1x32769xf32>
  return %1 : tensor<1x32769xf32>
}

// -----

!x = tensor<1x1x2x2x!quant.uniform<u8:f32, 5.0e-01:3>>
!w = tensor<2x1x1x1x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
!y = tensor<1x2x2x2x!quant.uniform<u8:f32, 2.5e-01:0>>

// The bias is in units of the sums, 0.5 and 1; relu is what saturating does.
// CHECK-LABEL: @conv
// CHECK-DAG: %[[B:.*]] = nn.constant dense<[6, -4]> : tensor<2xi32>
// CHECK: %[[S:.*]] = qnn.conv %{{.*}}, %{{.*}}, %[[B]] {{.*}} -> tensor<1x2x2x2x!quant.uniform<i32:f32:1, {5.000000e-01,1.000000e+00}>>
// CHECK-NEXT: qnn.requantize real %[[S]]
// CHECK-NOT: nn.relu
func.func @conv(%x: tensor<1x1x2x2xui8>) -> tensor<1x2x2x2xui8> {
  %w = nn.constant dense<[[[[3]]], [[[-2]]]]> : tensor<2x1x1x1xi8>
  %b = nn.constant dense<[[[3.0]], [[-4.0]]]> : tensor<2x1x1xf32>
  %0 = qnn.reinterpret %x : tensor<1x1x2x2xui8> -> !x
  %1 = qnn.dequantize %0 : !x -> tensor<1x1x2x2xf32>
  %2 = qnn.reinterpret %w : tensor<2x1x1x1xi8> -> !w
  %3 = qnn.dequantize %2 : !w -> tensor<2x1x1x1xf32>
  %4 = nn.conv %1, %3 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %5 = nn.add %4, %b : tensor<1x2x2x2xf32>, tensor<2x1x1xf32>
  %6 = nn.relu %5 : tensor<1x2x2x2xf32>
  %7 = qnn.quantize half_even %6 : tensor<1x2x2x2xf32> -> !y
  %8 = qnn.reinterpret %7 : !y -> tensor<1x2x2x2xui8>
  return %8 : tensor<1x2x2x2xui8>
}

// -----

!x = tensor<1x64x56x56x!quant.uniform<u8:f32, 5.0e-01:3>>
!w = tensor<64x64x3x3x!quant.uniform<i8:f32, 1.0>>

// NEON without dot products multiplies pairs of integers no faster than floats,
// of which Winograd's method needs few. The search of routines decides on that;
// it may take floats because the model has them.
// CHECK-LABEL: @floats_may_be_faster
// CHECK: qnn.conv {{.*}}qnn.of_floats
func.func @floats_may_be_faster(%x: !x) -> !x {
  %c = nn.constant dense<3> : tensor<64x64x3x3xi8>
  %w = qnn.reinterpret %c : tensor<64x64x3x3xi8> -> !w
  %1 = qnn.dequantize %x : !x -> tensor<1x64x56x56xf32>
  %3 = qnn.dequantize %w : !w -> tensor<64x64x3x3xf32>
  %4 = nn.conv %1, %3 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  %7 = qnn.quantize half_even %4 : tensor<1x64x56x56xf32> -> !x
  return %7 : !x
}

// -----

!x = tensor<1x1x2x2x!quant.uniform<u8:f32, 5.0e-01:3>>
!w = tensor<1x1x1x1x!quant.uniform<i8:f32, 1.0>>
!y = tensor<1x1x2x2x!quant.uniform<u8:f32, 2.5e-01:7>>

// Numbers below zero have codes, which the relu removes: it is not implied. The
// sums are integers all the same.
// CHECK-LABEL: @relu_stays
// CHECK: qnn.conv
// CHECK: %[[R:.*]] = qnn.dequantize %{{.*}} : tensor<1x1x2x2x!quant.uniform<i32:f32, 5.000000e-01>>
// CHECK-NEXT: %[[P:.*]] = nn.relu %[[R]]
// CHECK-NEXT: qnn.quantize half_even %[[P]]
func.func @relu_stays(%x: !x) -> !y {
  %w = nn.constant dense<3> : tensor<1x1x1x1xi8>
  %0 = qnn.reinterpret %w : tensor<1x1x1x1xi8> -> !w
  %1 = qnn.dequantize %x : !x -> tensor<1x1x2x2xf32>
  %3 = qnn.dequantize %0 : !w -> tensor<1x1x1x1xf32>
  %4 = nn.conv %1, %3 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %6 = nn.relu %4 : tensor<1x1x2x2xf32>
  %7 = qnn.quantize half_even %6 : tensor<1x1x2x2xf32> -> !y
  return %7 : !y
}

// -----

!x = tensor<1x1x2x2x!quant.uniform<u8:f32, 5.0e-01:3>>
!w = tensor<1x1x1x1x!quant.uniform<i8:f32, 1.0>>

// Weights that are computed at run time have no sums that are known.
// CHECK-LABEL: @weights_at_run_time
// CHECK-NOT: qnn.conv
func.func @weights_at_run_time(%x: !x, %w: !w) -> tensor<1x1x2x2xf32> {
  %1 = qnn.dequantize %x : !x -> tensor<1x1x2x2xf32>
  %3 = qnn.dequantize %w : !w -> tensor<1x1x1x1xf32>
  %4 = nn.conv %1, %3 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  return %4 : tensor<1x1x2x2xf32>
}

// -----

!a = tensor<2x3x4x!quant.uniform<u8:f32, 5.0e-01:3>>
!b = tensor<2x5x4x!quant.uniform<u8:f32, 2.5e-01:128>>

// Both sides are computed at run time; the second is transposed as integers.
// CHECK-LABEL: @attention_scores
// CHECK: %[[T:.*]] = nn.transpose %{{.*}} {permutation = array<i64: 0, 2, 1>} : (tensor<2x5x4xui8>) -> tensor<2x4x5xui8>
// CHECK: qnn.matmul %arg0, %{{.*}} -> tensor<2x3x5x!quant.uniform<i32:f32, 1.250000e-01>>
func.func @attention_scores(%a: !a, %b: !b) -> tensor<2x3x5xf32> {
  %0 = qnn.dequantize %a : !a -> tensor<2x3x4xf32>
  %1 = qnn.dequantize %b : !b -> tensor<2x5x4xf32>
  %2 = nn.matmul %0, %1 {transpose_a = false, transpose_b = true} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return %2 : tensor<2x3x5xf32>
}

// -----

!a = tensor<1x2x!quant.uniform<i8:f32, 5.0e-01:-5>>
!b = tensor<3x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 4.0}>>
!c = tensor<1x3x!quant.uniform<i8:f32, 2.5e-01:1>>

// The transposed weight is turned, and its scales with it.
// CHECK-LABEL: @matmul
// CHECK: nn.constant dense<{{\[}}[3, -2, 7], [1, 0, 8]]> : tensor<2x3xi8>
// CHECK: qnn.matmul %{{.*}}, %{{.*}} : (tensor<1x2x!quant.uniform<i8:f32, 5.000000e-01:-5>>, tensor<2x3x!quant.uniform<i8:f32:1, {1.000000e+00,2.000000e+00,4.000000e+00}>>) -> tensor<1x3x!quant.uniform<i32:f32:1, {5.000000e-01,1.000000e+00,2.000000e+00}>>
// CHECK: nn.add %{{.*}}, %{{.*}} : tensor<1x3xi32>, tensor<3xi32>
func.func @matmul(%x: tensor<1x2xi8>) -> tensor<1x3xi8> {
  %w = nn.constant dense<[[3, 1], [-2, 0], [7, 8]]> : tensor<3x2xi8>
  %b = nn.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %0 = qnn.reinterpret %x : tensor<1x2xi8> -> !a
  %1 = qnn.dequantize %0 : !a -> tensor<1x2xf32>
  %2 = qnn.reinterpret %w : tensor<3x2xi8> -> !b
  %3 = qnn.dequantize %2 : !b -> tensor<3x2xf32>
  %4 = nn.matmul %1, %3 {transpose_a = false, transpose_b = true} : (tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<1x3xf32>
  %5 = nn.add %4, %b : tensor<1x3xf32>, tensor<3xf32>
  %7 = qnn.quantize half_even %5 : tensor<1x3xf32> -> !c
  %8 = qnn.reinterpret %7 : !c -> tensor<1x3xi8>
  return %8 : tensor<1x3xi8>
}

// -----

!x = tensor<1x1x4x4x!quant.uniform<u8:f32, 5.0e-01:3>>
!y = tensor<1x1x2x2x!quant.uniform<u8:f32, 5.0e-01:3>>

// CHECK-LABEL: @pool
// CHECK: nn.max_pool %{{.*}} : (tensor<1x1x4x4xui8>) -> tensor<1x1x2x2xui8>
func.func @pool(%x: !x) -> !y {
  %0 = qnn.dequantize %x : !x -> tensor<1x1x4x4xf32>
  %1 = nn.max_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false} : (tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32>
  %2 = qnn.quantize half_even %1 : tensor<1x1x2x2xf32> -> !y
  return %2 : !y
}

// -----

!a = tensor<1x40000x!quant.uniform<u8:f32, 5.0e-01:0>>
!b = tensor<40000x1x!quant.uniform<u8:f32, 1.0:0>>
!c = tensor<1x1x!quant.uniform<u8:f32, 1.0e+07>>

// 40000 products of 255 and 255 do not fit in 32 bits.
// CHECK-LABEL: @too_long
// CHECK-NOT: qnn.matmul
func.func @too_long(%x: !a) -> !c {
  %w = nn.constant dense<255> : tensor<40000x1xui8>
  %1 = qnn.dequantize %x : !a -> tensor<1x40000xf32>
  %2 = qnn.reinterpret %w : tensor<40000x1xui8> -> !b
  %3 = qnn.dequantize %2 : !b -> tensor<40000x1xf32>
  %4 = nn.matmul %1, %3 {transpose_a = false, transpose_b = false} : (tensor<1x40000xf32>, tensor<40000x1xf32>) -> tensor<1x1xf32>
  %5 = qnn.quantize half_even %4 : tensor<1x1xf32> -> !c
  return %5 : !c
}

// -----

!x = tensor<2x4x!quant.uniform<u8:f32, 5.0e-01:3>>
!y = tensor<4x2x!quant.uniform<u8:f32, 2.5e-01:7>>
!z = tensor<2x8x!quant.uniform<u8:f32, 2.5e-01:7>>

// A dequantization moves behind what only moves elements.
// CHECK-LABEL: @sink
// CHECK: %[[T:.*]] = nn.transpose %{{.*}} : (tensor<2x4xui8>) -> tensor<4x2xui8>
// CHECK: %[[P:.*]] = nn.pad constant %[[T]] {pads = array<i64: 0, 1, 0, 0>, value = 3.000000e+00 : f64}
// CHECK: %[[Q:.*]] = qnn.reinterpret %[[P]]
// CHECK: %[[R:.*]] = qnn.dequantize %[[Q]]
// CHECK: return %[[R]]
func.func @sink(%x: !x) -> tensor<4x3xf32> {
  %0 = qnn.dequantize %x : !x -> tensor<2x4xf32>
  %1 = nn.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %2 = nn.pad constant %1 {pads = array<i64: 0, 1, 0, 0>, value = 0.0 : f64} : (tensor<4x2xf32>) -> tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// No integer stands for 0.3.
// CHECK-LABEL: @sink_pad
// CHECK: nn.pad constant %{{.*}} : (tensor<2x4xf32>) -> tensor<2x5xf32>
func.func @sink_pad(%x: !x) -> tensor<2x5xf32> {
  %0 = qnn.dequantize %x : !x -> tensor<2x4xf32>
  %1 = nn.pad constant %0 {pads = array<i64: 0, 0, 0, 1>, value = 0.3 : f64} : (tensor<2x4xf32>) -> tensor<2x5xf32>
  return %1 : tensor<2x5xf32>
}

// Quantizing moves in front of what only moves elements: 0.3 becomes 1 + 7.
// CHECK-LABEL: @raise
// CHECK: %[[Q:.*]] = qnn.quantize half_even %arg0 : tensor<2x4xf32>
// CHECK: %[[I:.*]] = qnn.reinterpret %[[Q]]
// CHECK: %[[P:.*]] = nn.pad constant %[[I]] {pads = array<i64: 0, 0, 0, 4>, value = 8.000000e+00 : f64} : (tensor<2x4xui8>) -> tensor<2x8xui8>
// CHECK: %[[R:.*]] = qnn.reinterpret %[[P]]
// CHECK: return %[[R]]
func.func @raise(%x: tensor<2x4xf32>) -> !z {
  %1 = nn.pad constant %x {pads = array<i64: 0, 0, 0, 4>, value = 0.3 : f64} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  %2 = qnn.quantize half_even %1 : tensor<2x8xf32> -> !z
  return %2 : !z
}

// Parts of a concat with other parameters are quantized to those of the whole.
// CHECK-LABEL: @concat
// CHECK: %[[D:.*]] = qnn.dequantize %arg0
// CHECK: %[[Q:.*]] = qnn.quantize half_even %[[D]] : tensor<2x4xf32> -> tensor<2x4x!quant.uniform<u8:f32, 2.500000e-01:7>>
// CHECK: nn.concat %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<2x4xui8>, tensor<2x4xui8>) -> tensor<2x8xui8>
func.func @concat(%x: !x, %y: tensor<2x4xui8>) -> !z {
  %0 = qnn.dequantize %x : !x -> tensor<2x4xf32>
  %1 = qnn.reinterpret %y : tensor<2x4xui8> -> tensor<2x4x!quant.uniform<u8:f32, 2.5e-01:7>>
  %2 = qnn.dequantize %1 : tensor<2x4x!quant.uniform<u8:f32, 2.5e-01:7>> -> tensor<2x4xf32>
  %3 = nn.concat %0, %2 {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %4 = qnn.quantize half_even %3 : tensor<2x8xf32> -> !z
  return %4 : !z
}

// -----

!x = tensor<1x2x4x4x!quant.uniform<u8:f32, 5.0e-01:3>>

// Padding that counts is the number 0, whose integer is the zero point.
// CHECK-LABEL: @mean
// CHECK: %[[P:.*]] = nn.pad constant %{{.*}} {pads = array<i64: 0, 0, 1, 1, 0, 0, 1, 1>, value = 3.000000e+00 : f64}
// CHECK: %[[M:.*]] = nn.avg_pool %[[P]] {accumulator = f32, {{.*}} pads = array<i64: 0, 0, 0, 0>, {{.*}}} : (tensor<1x2x6x6xui8>) -> tensor<1x2x2x2xf32>
// CHECK: %[[C:.*]] = nn.sub %[[M]], %{{.*}}
// CHECK: nn.mul %[[C]], %{{.*}}
func.func @mean(%x: !x) -> tensor<1x2x2x2xf32> {
  %0 = qnn.dequantize %x : !x -> tensor<1x2x4x4xf32>
  %1 = nn.avg_pool %0 {kernel = array<i64: 3, 3>, strides = array<i64: 3, 3>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, ceil_mode = false, count_include_pad = true} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  return %1 : tensor<1x2x2x2xf32>
}

// CHECK-LABEL: @mean_of_axes
// CHECK: %[[I:.*]] = nn.reshape %{{.*}} : tensor<1x2x4x4xui8> -> tensor<1x2x16x1xui8>
// CHECK: nn.avg_pool %[[I]] {{.*}} -> tensor<1x2x1x1xf32>
// CHECK-LABEL: @mean_of_outer_axes
// CHECK: %[[I:.*]] = nn.reshape %{{.*}} : tensor<1x2x4x4xui8> -> tensor<1x1x2x16xui8>
// CHECK: nn.avg_pool %[[I]] {{.*}} -> tensor<1x1x1x16xf32>
func.func @mean_of_axes(%x: !x) -> tensor<1x2xf32> {
  %0 = qnn.dequantize %x : !x -> tensor<1x2x4x4xf32>
  %1 = nn.reduce mean %0 {axes = array<i64: 2, 3>, keepdims = false} : (tensor<1x2x4x4xf32>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}
func.func @mean_of_outer_axes(%x: !x) -> tensor<1x1x4x4xf32> {
  %0 = qnn.dequantize %x : !x -> tensor<1x2x4x4xf32>
  %1 = nn.reduce mean %0 {axes = array<i64: 1>, keepdims = true} : (tensor<1x2x4x4xf32>) -> tensor<1x1x4x4xf32>
  return %1 : tensor<1x1x4x4xf32>
}

// -----

!x = tensor<2x4x!quant.uniform<u8:f32, 5.0e-01:3>>

// Neither the zero point nor the scale matters, apart from epsilon.
// CHECK-LABEL: @layer_norm
// CHECK: %[[I:.*]] = qnn.reinterpret %arg0
// CHECK: nn.layer_norm %[[I]], %arg1, %arg2 {accumulator = f32, axis = 1 : i64, epsilon = 4.000000e-03 : f64} : (tensor<2x4xui8>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
// CHECK: nn.softmax %{{.*}} {{.*}}qnn.stays_float = "there is no integer form of softmax"
func.func @layer_norm(%x: !x, %s: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = qnn.dequantize %x : !x -> tensor<2x4xf32>
  %1 = nn.layer_norm %0, %s, %b {axis = 1 : i64, epsilon = 1.0e-3 : f64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %2 = nn.softmax %0 {axis = 1 : i64, log = false} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

!x = tensor<1x1x2x2x!quant.uniform<u8:f32, 5.0e-01:3>>
!w = tensor<2x1x1x1x!quant.uniform<i8:f32, 1.0>>
!y = tensor<1x2x1x1x!quant.uniform<u8:f32, 2.5e-01:0>>

// The sums are quantized before the largest is chosen: they are not stored.
// CHECK-LABEL: @sums_stay
// CHECK: %[[S:.*]] = qnn.conv
// CHECK-NEXT: %[[Q:.*]] = qnn.requantize real %[[S]]
// CHECK: nn.max_pool %{{.*}} : (tensor<1x2x2x2xui8>) -> tensor<1x2x1x1xui8>
func.func @sums_stay(%x: !x) -> !y {
  %w = nn.constant dense<[[[[3]]], [[[-2]]]]> : tensor<2x1x1x1xi8>
  %1 = qnn.dequantize %x : !x -> tensor<1x1x2x2xf32>
  %2 = qnn.reinterpret %w : tensor<2x1x1x1xi8> -> !w
  %3 = qnn.dequantize %2 : !w -> tensor<2x1x1x1xf32>
  %4 = nn.conv %1, %3 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %5 = nn.max_pool %4 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false} : (tensor<1x2x2x2xf32>) -> tensor<1x2x1x1xf32>
  %6 = qnn.quantize half_even %5 : tensor<1x2x1x1xf32> -> !y
  return %6 : !y
}

// -----

!a = tensor<1x2x!quant.uniform<i8:f32, 5.0e-01:-5>>
!b = tensor<2x3x!quant.uniform<i8:f32, 1.0>>
!c = tensor<1x3x!quant.uniform<i8:f32, 2.5e-01:1>>
!k = tensor<3x!quant.uniform<i8:f32, 7.5e-01:1>>

// A bias that is no multiple of the scale of the sums, 0.5, is not rounded to
// one: it is added when the sums are requantized. So is one that is dequantized
// with a scale of its own.
// CHECK-LABEL: @bias_between_multiples
// CHECK: %[[B:.*]] = nn.constant dense<[1.000000e+00, 2.250000e+00, -3.100000e+00]> : tensor<3xf32>
// CHECK: %[[S:.*]] = qnn.matmul
// CHECK-NEXT: qnn.requantize real %[[S]], %[[B]] : tensor<1x3x!quant.uniform<i32:f32, 5.000000e-01>>, tensor<3xf32>
// CHECK-LABEL: @bias_of_other_scale
// CHECK: %[[B:.*]] = nn.constant dense<[0.000000e+00, 1.500000e+00, -2.250000e+00]> : tensor<3xf32>
// CHECK: qnn.requantize real %{{.*}}, %[[B]]
func.func @bias_between_multiples(%x: !a) -> !c {
  %w = nn.constant dense<[[3, 1, -2], [0, 7, 8]]> : tensor<2x3xi8>
  %b = nn.constant dense<[1.0, 2.25, -3.1]> : tensor<3xf32>
  %1 = qnn.dequantize %x : !a -> tensor<1x2xf32>
  %2 = qnn.reinterpret %w : tensor<2x3xi8> -> !b
  %3 = qnn.dequantize %2 : !b -> tensor<2x3xf32>
  %4 = nn.matmul %1, %3 {transpose_a = false, transpose_b = false} : (tensor<1x2xf32>, tensor<2x3xf32>) -> tensor<1x3xf32>
  %5 = nn.add %4, %b : tensor<1x3xf32>, tensor<3xf32>
  %7 = qnn.quantize half_even %5 : tensor<1x3xf32> -> !c
  return %7 : !c
}
func.func @bias_of_other_scale(%x: !a) -> !c {
  %w = nn.constant dense<[[3, 1, -2], [0, 7, 8]]> : tensor<2x3xi8>
  %k = nn.constant dense<[1, 3, -2]> : tensor<3xi8>
  %0 = qnn.reinterpret %k : tensor<3xi8> -> !k
  %b = qnn.dequantize %0 : !k -> tensor<3xf32>
  %1 = qnn.dequantize %x : !a -> tensor<1x2xf32>
  %2 = qnn.reinterpret %w : tensor<2x3xi8> -> !b
  %3 = qnn.dequantize %2 : !b -> tensor<2x3xf32>
  %4 = nn.matmul %1, %3 {transpose_a = false, transpose_b = false} : (tensor<1x2xf32>, tensor<2x3xf32>) -> tensor<1x3xf32>
  %5 = nn.add %b, %4 : tensor<3xf32>, tensor<1x3xf32>
  %7 = qnn.quantize half_even %5 : tensor<1x3xf32> -> !c
  return %7 : !c
}

// -----

!a = tensor<1x2x!quant.uniform<i8:f32, 5.0e-01:-5>>
!b = tensor<2x3x!quant.uniform<i8:f32, 1.0>>
!c = tensor<1x3x!quant.uniform<i8:f32, 2.5e-01:1>>

// The product of the scales and the scale of the bias differ as floats do.
// CHECK-LABEL: @bias_of_rounded_scale
// CHECK: nn.constant dense<[2, 4, -1000]> : tensor<3xi32>
// CHECK: nn.add %{{.*}}, %{{.*}} : tensor<1x3xi32>, tensor<3xi32>
// CHECK: qnn.requantize real %{{[^,]*}} :
func.func @bias_of_rounded_scale(%x: !a) -> !c {
  %w = nn.constant dense<[[3, 1, -2], [0, 7, 8]]> : tensor<2x3xi8>
  %b = nn.constant dense<[1.0, 2.0000002, -499.99997]> : tensor<3xf32>
  %1 = qnn.dequantize %x : !a -> tensor<1x2xf32>
  %2 = qnn.reinterpret %w : tensor<2x3xi8> -> !b
  %3 = qnn.dequantize %2 : !b -> tensor<2x3xf32>
  %4 = nn.matmul %1, %3 {transpose_a = false, transpose_b = false} : (tensor<1x2xf32>, tensor<2x3xf32>) -> tensor<1x3xf32>
  %5 = nn.add %4, %b : tensor<1x3xf32>, tensor<3xf32>
  %7 = qnn.quantize half_even %5 : tensor<1x3xf32> -> !c
  return %7 : !c
}

// -----

!x = tensor<1x1x4x4x!quant.uniform<u8:f32, 5.0e-01:3>>
!w = tensor<2x1x3x3x!quant.uniform<i8:f32, 1.0>>

// A padding with the zero point is part of the convolution's; one with another
// number, here 1.0, is not.
// CHECK-LABEL: @pad_into_conv
// CHECK-NOT: nn.pad
// CHECK: qnn.conv %{{.*}} {{.*}}pads = array<i64: 0, 1, 1, 2>, {{.*}} : (tensor<1x1x4x4x!quant
// CHECK-LABEL: @pad_with_one
// CHECK: nn.pad {{.*}}value = 5.000000e+00
// CHECK: qnn.conv {{.*}}pads = array<i64: 0, 0, 0, 0>, {{.*}} : (tensor<1x1x5x7x!quant
func.func @pad_into_conv(%x: !x) -> tensor<1x2x3x5xf32> {
  %0 = qnn.dequantize %x : !x -> tensor<1x1x4x4xf32>
  %1 = nn.pad constant %0 {pads = array<i64: 0, 0, 0, 1, 0, 0, 1, 1>, value = 0.0 : f64} : (tensor<1x1x4x4xf32>) -> tensor<1x1x5x6xf32>
  %k = nn.constant dense<3> : tensor<2x1x3x3xi8>
  %wq = qnn.reinterpret %k : tensor<2x1x3x3xi8> -> !w
  %wf = qnn.dequantize %wq : !w -> tensor<2x1x3x3xf32>
  %2 = nn.conv %1, %wf {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 1>, groups = 1 : i64} : (tensor<1x1x5x6xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x3x5xf32>
  return %2 : tensor<1x2x3x5xf32>
}
func.func @pad_with_one(%x: !x) -> tensor<1x2x3x5xf32> {
  %0 = qnn.dequantize %x : !x -> tensor<1x1x4x4xf32>
  %1 = nn.pad constant %0 {pads = array<i64: 0, 0, 0, 1, 0, 0, 1, 2>, value = 1.0 : f64} : (tensor<1x1x4x4xf32>) -> tensor<1x1x5x7xf32>
  %k = nn.constant dense<3> : tensor<2x1x3x3xi8>
  %wq = qnn.reinterpret %k : tensor<2x1x3x3xi8> -> !w
  %wf = qnn.dequantize %wq : !w -> tensor<2x1x3x3xf32>
  %2 = nn.conv %1, %wf {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x1x5x7xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x3x5xf32>
  return %2 : tensor<1x2x3x5xf32>
}
