// RUN: nnc-opt --nnc-simplify --split-input-file %s | FileCheck %s
// RUN: nnc-opt --nnc-test-equivalence=passes=nnc-simplify --split-input-file %s

// CHECK-LABEL: @cancel_adapts
// CHECK-NEXT: return %arg0
func.func @cancel_adapts(%x: tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32> {
  %0 = nn.adapt %x : tensor<1x32x4x4xf32> -> tensor<1x32x4x4xf32, #nn.layout<NCHW16c>>
  %1 = nn.adapt %0 : tensor<1x32x4x4xf32, #nn.layout<NCHW16c>> -> tensor<1x32x4x4xf32>
  return %1 : tensor<1x32x4x4xf32>
}

// -----

// CHECK-LABEL: @dead_code
// CHECK-NEXT: return %arg0
func.func @dead_code(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  %1 = nn.sqrt %0 : tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

// CHECK-LABEL: @neutral_operands
// CHECK-NEXT: return %arg0
func.func @neutral_operands(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %zeros = nn.constant dense<0.0> : tensor<2x1xf32>
  %one = nn.constant dense<1.0> : tensor<1xf32>
  %0 = nn.add %zero, %x : tensor<f32>, tensor<2x3xf32>
  %1 = nn.mul %0, %one : tensor<2x3xf32>, tensor<1xf32>
  %2 = nn.sub %1, %zeros : tensor<2x3xf32>, tensor<2x1xf32>
  %3 = nn.div %2, %one : tensor<2x3xf32>, tensor<1xf32>
  %4 = nn.pow %3, %one : tensor<2x3xf32>, tensor<1xf32>
  return %4 : tensor<2x3xf32>
}

// -----

// A number that is neutral on one side only, and one that broadcasts.
// CHECK-LABEL: @not_neutral
// CHECK: nn.sub %cst
// CHECK: nn.add
func.func @not_neutral(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %zeros = nn.constant dense<0.0> : tensor<2x1xf32>
  %0 = nn.sub %zero, %x : tensor<f32>, tensor<3xf32>
  %1 = nn.add %0, %zeros : tensor<3xf32>, tensor<2x1xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: @shape_arithmetic
// CHECK-NEXT: %[[C:.*]] = nn.constant dense<[1, 480, -1]> : tensor<3xi64>
// CHECK-NEXT: return %[[C]]
func.func @shape_arithmetic() -> tensor<3xi64> {
  %shape = nn.constant dense<[1, 480, 12, 40]> : tensor<4xi32>
  %0 = nn.cast %shape : tensor<4xi32> to tensor<4xi64>
  %1 = nn.slice %0 {starts = array<i64: 0>, sizes = array<i64: 2>, steps = array<i64: 1>} : (tensor<4xi64>) -> tensor<2xi64>
  %m = nn.constant dense<-1> : tensor<1xi64>
  %2 = nn.concat %1, %m {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  return %2 : tensor<3xi64>
}

// -----

// A weight is transposed while compiling; one value is not made a large tensor.
// CHECK-LABEL: @folding_never_grows
// CHECK-DAG: nn.constant dense<2.000000e+00> : tensor<1x1xf32>
// CHECK-DAG: nn.constant dense<1.000000e+00> : tensor<40x30xf32>
// CHECK-NOT: nn.transpose
// CHECK: nn.expand
// CHECK: nn.matmul
func.func @folding_never_grows(%x: tensor<2x40xf32>) -> (tensor<200x200xf32>, tensor<2x30xf32>) {
  %one = nn.constant dense<2.0> : tensor<1x1xf32>
  %0 = nn.expand %one : tensor<1x1xf32> -> tensor<200x200xf32>
  %w = nn.constant dense<1.0> : tensor<30x40xf32>
  %1 = nn.transpose %w {permutation = array<i64: 1, 0>} : (tensor<30x40xf32>) -> tensor<40x30xf32>
  %2 = nn.matmul %x, %1 {transpose_a = false, transpose_b = false} : (tensor<2x40xf32>, tensor<40x30xf32>) -> tensor<2x30xf32>
  return %0, %2 : tensor<200x200xf32>, tensor<2x30xf32>
}

// -----

// CHECK-LABEL: @equal_values_are_one
// CHECK: %[[E:.*]] = nn.exp
// CHECK-NEXT: %[[A:.*]] = nn.add %[[E]], %[[E]]
func.func @equal_values_are_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  %1 = nn.exp %x : tensor<4xf32>
  %2 = nn.add %0, %1 : tensor<4xf32>, tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @moves
// CHECK-NEXT: %[[T:.*]] = nn.transpose %arg0 {permutation = array<i64: 2, 0, 1>}
// CHECK-NEXT: %[[R:.*]] = nn.reshape %[[T]] : tensor<4x2x3xf32> -> tensor<4x6xf32>
// CHECK-NEXT: return %[[R]]
func.func @moves(%x: tensor<2x3x4xf32>) -> tensor<4x6xf32> {
  %0 = nn.transpose %x {permutation = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = nn.transpose %0 {permutation = array<i64: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  %2 = nn.reshape %1 : tensor<4x2x3xf32> -> tensor<8x3xf32>
  %3 = nn.reshape %2 : tensor<8x3xf32> -> tensor<4x6xf32>
  %4 = nn.slice %3 {starts = array<i64: 0, 0>, sizes = array<i64: 4, 6>, steps = array<i64: 1, 1>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %5 = nn.pad reflect %4 {pads = array<i64: 0, 0, 0, 0>, value = 0.0 : f64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %6 = nn.concat %5 {axis = 1 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %7 = nn.cast %6 : tensor<4x6xf32> to tensor<4x6xf64>
  %8 = nn.cast %7 : tensor<4x6xf64> to tensor<4x6xf32>
  return %8 : tensor<4x6xf32>
}

// -----

// A transpose that only moves axes of size 1 is a view.
// CHECK-LABEL: @transpose_of_ones
// CHECK-NEXT: nn.reshape %arg0 : tensor<2x1x3x1xf32> -> tensor<1x2x1x3xf32>
// CHECK-NEXT: return
func.func @transpose_of_ones(%x: tensor<2x1x3x1xf32>) -> tensor<1x2x1x3xf32> {
  %0 = nn.transpose %x {permutation = array<i64: 3, 0, 1, 2>} : (tensor<2x1x3x1xf32>) -> tensor<1x2x1x3xf32>
  return %0 : tensor<1x2x1x3xf32>
}

// -----

// A value that a cast cannot hold is lost on purpose: the casts stay.
// CHECK-LABEL: @narrowing_casts
// CHECK: nn.cast
// CHECK: nn.cast
func.func @narrowing_casts(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.cast %x : tensor<4xf32> to tensor<4xi64>
  %1 = nn.cast %0 : tensor<4xi64> to tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @slices
// CHECK-NEXT: %[[S:.*]] = nn.slice %arg1 {sizes = array<i64: 2, 2>, starts = array<i64: 0, 3>, steps = array<i64: 1, -2>}
// CHECK-NEXT: return %[[S]]
func.func @slices(%x: tensor<2x3xf32>, %y: tensor<2x5xf32>) -> tensor<2x2xf32> {
  %0 = nn.concat %x, %y {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  %1 = nn.slice %0 {starts = array<i64: 0, 3>, sizes = array<i64: 2, 4>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %2 = nn.slice %1 {starts = array<i64: 0, 3>, sizes = array<i64: 2, 2>, steps = array<i64: 1, -2>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// -----

// CHECK-LABEL: @reversal_is_not_a_whole_slice
// CHECK: nn.slice
func.func @reversal_is_not_a_whole_slice(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = nn.slice %x {starts = array<i64: 4>, sizes = array<i64: 5>, steps = array<i64: -1>} : (tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// CHECK-LABEL: @concat_of_concat
// CHECK-NEXT: nn.concat %arg0, %arg1, %arg0 {axis = 0 : i64}
// CHECK-NEXT: return
func.func @concat_of_concat(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) -> tensor<5x3xf32> {
  %0 = nn.concat %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  %1 = nn.concat %0, %x {axis = 0 : i64} : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  return %1 : tensor<5x3xf32>
}

// -----

// CHECK-LABEL: @expand_into_elementwise
// CHECK-NEXT: nn.add %arg0, %arg1 : tensor<2x3xf32>, tensor<3xf32>
// CHECK-NEXT: return
func.func @expand_into_elementwise(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = nn.expand %y : tensor<3xf32> -> tensor<1x3xf32>
  %1 = nn.expand %0 : tensor<1x3xf32> -> tensor<2x3xf32>
  %2 = nn.add %x, %1 : tensor<2x3xf32>, tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: @pad_into_conv
// CHECK-NOT: nn.pad
// CHECK: nn.conv %arg0, %arg1 {{.*}}pads = array<i64: 2, 1, 3, 2>
func.func @pad_into_conv(%x: tensor<1x2x6x6xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x9x7xf32> {
  %0 = nn.pad constant %x {pads = array<i64: 0, 0, 1, 0, 0, 0, 2, 1>, value = 0.0 : f64} : (tensor<1x2x6x6xf32>) -> tensor<1x2x9x7xf32>
  %1 = nn.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x2x9x7xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x9x7xf32>
  return %1 : tensor<1x4x9x7xf32>
}

// -----

// CHECK-LABEL: @known_index
// CHECK-NEXT: %[[S:.*]] = nn.slice %arg0 {sizes = array<i64: 2, 1, 5>, starts = array<i64: 0, 2, 0>
// CHECK-NEXT: nn.reshape %[[S]] : tensor<2x1x5xf32> -> tensor<2x5xf32>
func.func @known_index(%x: tensor<2x3x5xf32>) -> tensor<2x5xf32> {
  %i = nn.constant dense<-1> : tensor<i64>
  %0 = nn.gather %x, %i {axis = 1 : i64} : (tensor<2x3x5xf32>, tensor<i64>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

// CHECK-LABEL: @nothing_to_reduce
// CHECK-NEXT: nn.reshape %arg0
// CHECK-NEXT: nn.reduce l1
func.func @nothing_to_reduce(%x: tensor<2x1x5xf32>) -> tensor<2x5xf32> {
  %0 = nn.reduce mean %x {axes = array<i64: 1>, keepdims = false} : (tensor<2x1x5xf32>) -> tensor<2x5xf32>
  %1 = nn.reduce l1 %0 {axes = array<i64>, keepdims = false} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  return %1 : tensor<2x5xf32>
}

// -----

// CHECK-LABEL: @pools_and_resizes_of_one_element
// CHECK-NEXT: return %arg0
func.func @pools_and_resizes_of_one_element(%x: tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %0 = nn.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false} : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %1 = nn.avg_pool %0 {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = false, count_include_pad = false} : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %2 = nn.resize linear half_pixel floor %1 {scales = array<f64: 1.0, 1.0>, cubic_a = -7.5e-01 : f64, exclude_outside = false} : tensor<1x2x3x3xf32> -> tensor<1x2x3x3xf32>
  return %2 : tensor<1x2x3x3xf32>
}

// -----

// A window that reaches beyond the padded input is cut to its size; along an axis
// with two windows, and where it fits, it stays as it is.
// CHECK-LABEL: @windows_of_whole_planes
// CHECK: nn.avg_pool {{.*}}kernel = array<i64: 7, 5>, {{.*}}strides = array<i64: 1, 1>{{.*}} -> tensor<1x2x1x1xf32>
// CHECK: nn.max_pool {{.*}}kernel = array<i64: 10, 3>, {{.*}}strides = array<i64: 1, 2>{{.*}} -> tensor<1x2x1x2xf32>
func.func @windows_of_whole_planes(%x: tensor<1x2x7x5xf32>) -> (tensor<1x2x1x1xf32>, tensor<1x2x1x2xf32>) {
  %0 = nn.avg_pool %x {kernel = array<i64: 1280, 6>, strides = array<i64: 1280, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, ceil_mode = true, count_include_pad = true} : (tensor<1x2x7x5xf32>) -> tensor<1x2x1x1xf32>
  %1 = nn.max_pool %x {kernel = array<i64: 12, 3>, strides = array<i64: 9, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 0, 2, 0>, ceil_mode = true} : (tensor<1x2x7x5xf32>) -> tensor<1x2x1x2xf32>
  return %0, %1 : tensor<1x2x1x1xf32>, tensor<1x2x1x2xf32>
}

// -----

// The mean of squares less the square of the mean loses all digits of a small
// variance around a large mean.
// CHECK-LABEL: @variance
// CHECK: %[[M:.*]] = nn.reduce mean %arg0
// CHECK-NEXT: %[[D:.*]] = nn.sub %arg0, %[[M]]
// CHECK-NEXT: %[[S:.*]] = nn.mul %[[D]], %[[D]]
// CHECK-NEXT: %[[V:.*]] = nn.reduce mean %[[S]] {axes = array<i64: 2, 3>, keepdims = true}
// CHECK-NEXT: return %[[V]], %[[D]]
func.func @variance(%x: tensor<2x4x3x5xf32>) -> (tensor<2x4x1x1xf32>, tensor<2x4x3x5xf32>) {
  %two = nn.constant dense<2.0> : tensor<f32>
  %0 = nn.mul %x, %x : tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>
  %1 = nn.reduce mean %0 {axes = array<i64: 2, 3>, keepdims = true} : (tensor<2x4x3x5xf32>) -> tensor<2x4x1x1xf32>
  %2 = nn.reduce mean %x {axes = array<i64: 2, 3>, keepdims = true} : (tensor<2x4x3x5xf32>) -> tensor<2x4x1x1xf32>
  %3 = nn.pow %2, %two : tensor<2x4x1x1xf32>, tensor<f32>
  %4 = nn.sub %1, %3 : tensor<2x4x1x1xf32>, tensor<2x4x1x1xf32>
  %5 = nn.sub %x, %2 : tensor<2x4x3x5xf32>, tensor<2x4x1x1xf32>
  return %4, %5 : tensor<2x4x1x1xf32>, tensor<2x4x3x5xf32>
}

// -----

// Over other axes it is none.
// CHECK-LABEL: @no_variance_of_one_axis
// CHECK: nn.sub
// CHECK-NEXT: return
func.func @no_variance_of_one_axis(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %0 = nn.mul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %1 = nn.reduce mean %0 {axes = array<i64: 0>, keepdims = false} : (tensor<4x4xf32>) -> tensor<4xf32>
  %2 = nn.reduce mean %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x4xf32>) -> tensor<4xf32>
  %3 = nn.mul %2, %2 : tensor<4xf32>, tensor<4xf32>
  %4 = nn.sub %1, %3 : tensor<4xf32>, tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// What has no elements is a constant, and so is what is made of none.

// CHECK-LABEL: @no_elements
// CHECK: nn.constant dense<{{.*}}> : tensor<2x0x3xf32>
// CHECK-NOT: nn.exp
func.func @no_elements(%x: tensor<2x0x3xf32>) -> tensor<2x0x3xf32> {
  %0 = nn.exp %x : tensor<2x0x3xf32>
  return %0 : tensor<2x0x3xf32>
}

// -----

// CHECK-LABEL: @sums_of_nothing
// CHECK-DAG: nn.constant dense<0.000000e+00> : tensor<2x3xf32>
// CHECK-DAG: nn.constant dense<0> : tensor<2x3xui8>
// CHECK-DAG: nn.constant dense<0x7FF8000000000000> : tensor<2x1xf64>
// CHECK-DAG: nn.constant dense<-9223372036854775808> : tensor<2x1xi64>
// CHECK-DAG: nn.constant dense<18446744073709551615> : tensor<2x1xui64>
// CHECK-NOT: nn.matmul
// CHECK-NOT: nn.reduce
func.func @sums_of_nothing(%a: tensor<2x0xf32>, %b: tensor<0x3xf32>,
    %c: tensor<2x0xui8>, %d: tensor<0x3xui8>, %e: tensor<2x0xf64>,
    %f: tensor<2x0xi64>, %g: tensor<2x0xui64>)
    -> (tensor<2x3xf32>, tensor<2x3xui8>, tensor<2x1xf64>, tensor<2x1xi64>, tensor<2x1xui64>) {
  %0 = nn.matmul %a, %b {transpose_a = false, transpose_b = false} : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  %1 = nn.matmul %c, %d {transpose_a = false, transpose_b = false} : (tensor<2x0xui8>, tensor<0x3xui8>) -> tensor<2x3xui8>
  %2 = nn.reduce mean %e {axes = array<i64: 1>, keepdims = true} : (tensor<2x0xf64>) -> tensor<2x1xf64>
  %3 = nn.reduce max %f {axes = array<i64: 1>, keepdims = true} : (tensor<2x0xi64>) -> tensor<2x1xi64>
  %4 = nn.reduce min %g {axes = array<i64: 1>, keepdims = true} : (tensor<2x0xui64>) -> tensor<2x1xui64>
  return %0, %1, %2, %3, %4 : tensor<2x3xf32>, tensor<2x3xui8>, tensor<2x1xf64>, tensor<2x1xi64>, tensor<2x1xui64>
}

// -----

// A transpose moves in front of a padding, whose sizes it permutes; one with two
// readers stays. Both transposes around the second padding cancel.
// CHECK-LABEL: @transposes_of_paddings
// CHECK: %[[T:.*]] = nn.transpose %arg0 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x5x7x3xf32>) -> tensor<1x3x5x7xf32>
// CHECK: %[[P:.*]] = nn.pad constant %[[T]] {pads = array<i64: 0, 4, 1, 2, 0, 8, 5, 6>, value = 3.0{{.*}}} : (tensor<1x3x5x7xf32>) -> tensor<1x15x11x15xf32>
// CHECK: %[[R:.*]] = nn.relu %[[P]]
// CHECK: %[[Q:.*]] = nn.pad edge %[[R]] {pads = array<i64: 0, 0, 1, 0, 0, 0, 0, 2>{{.*}}} : (tensor<1x15x11x15xf32>) -> tensor<1x15x12x17xf32>
// CHECK: %[[S:.*]] = nn.pad constant %arg0
// CHECK: %[[U:.*]] = nn.transpose %[[S]]
// CHECK: return %[[Q]], %[[S]], %[[U]]
func.func @transposes_of_paddings(%x: tensor<1x5x7x3xf32>)
    -> (tensor<1x15x12x17xf32>, tensor<1x6x7x3xf32>, tensor<1x3x6x7xf32>) {
  %0 = nn.pad constant %x {pads = array<i64: 0, 1, 2, 4, 0, 5, 6, 8>, value = 3.0 : f64} : (tensor<1x5x7x3xf32>) -> tensor<1x11x15x15xf32>
  %1 = nn.transpose %0 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x11x15x15xf32>) -> tensor<1x15x11x15xf32>
  %2 = nn.relu %1 : tensor<1x15x11x15xf32>
  %3 = nn.transpose %2 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x15x11x15xf32>) -> tensor<1x11x15x15xf32>
  %4 = nn.pad edge %3 {pads = array<i64: 0, 1, 0, 0, 0, 0, 2, 0>, value = 0.0 : f64} : (tensor<1x11x15x15xf32>) -> tensor<1x12x17x15xf32>
  %5 = nn.transpose %4 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x12x17x15xf32>) -> tensor<1x15x12x17xf32>
  %6 = nn.pad constant %x {pads = array<i64: 0, 1, 0, 0, 0, 0, 0, 0>, value = 0.0 : f64} : (tensor<1x5x7x3xf32>) -> tensor<1x6x7x3xf32>
  %7 = nn.transpose %6 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x6x7x3xf32>) -> tensor<1x3x6x7xf32>
  return %5, %6, %7 : tensor<1x15x12x17xf32>, tensor<1x6x7x3xf32>, tensor<1x3x6x7xf32>
}
