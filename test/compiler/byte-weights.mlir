// RUN: nnc-opt --nnc-qnn-fuse=target=cortex-m4 --split-input-file %s | FileCheck %s
// RUN: nnc-opt --nnc-qnn-fuse=target=cortex-m4 --nnc-qnn-canonicalize --nnc-simplify --nnc-form-layers --nnc-choose-routines=target=cortex-m4 --split-input-file %s | FileCheck %s --check-prefix=STORED

!w = tensor<16x8x3x3x!quant.uniform<i8:f32:0, {0.5, 1.0, 2.0, 4.0, 0.5, 1.0, 2.0, 4.0, 0.5, 1.0, 2.0, 4.0, 0.5, 1.0, 2.0, 4.0}>>

// A convolution multiplies by the integers, as floats, and its result by their
// scales, which are not folded into the weights. These take a byte each.
// CHECK-LABEL: @scales
// CHECK-DAG: %[[W:.*]] = nn.constant {{.*}} : tensor<16x8x3x3xf32>
// CHECK-DAG: %[[S:.*]] = nn.constant {{.*}} : tensor<1x16x1x1xf32>
// CHECK: %[[Y:.*]] = nn.conv %arg0, %[[W]] {{{.*}}nn.byte_weights
// CHECK: nn.mul %[[Y]], %[[S]]
// STORED-LABEL: @scales
// STORED: nn.constant {{.*}} : tensor<{{[0-9]+}}xui8>
// STORED: nn.stored_conv {{.*}}nn.byte_weights
// STORED: nn.mul
func.func @scales(%x: tensor<1x8x12x12xf32>) -> tensor<1x16x12x12xf32> {
  %q = nn.constant dense<3> : tensor<16x8x3x3xi8>
  %0 = qnn.reinterpret %q : tensor<16x8x3x3xi8> -> !w
  %1 = qnn.dequantize %0 : !w -> tensor<16x8x3x3xf32>
  %y = nn.conv %x, %1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x8x12x12xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x12x12xf32>
  return %y : tensor<1x16x12x12xf32>
}

// -----

!w = tensor<4x2x3x3x!quant.uniform<i8:f32, 0.5>>

// A table of all integers would take more than these few weights.
// CHECK-LABEL: @few
// CHECK-NOT: nn.byte_weights
// CHECK: return
func.func @few(%x: tensor<1x2x12x12xf32>) -> tensor<1x4x12x12xf32> {
  %q = nn.constant dense<3> : tensor<4x2x3x3xi8>
  %0 = qnn.reinterpret %q : tensor<4x2x3x3xi8> -> !w
  %1 = qnn.dequantize %0 : !w -> tensor<4x2x3x3xf32>
  %y = nn.conv %x, %1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x2x12x12xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x12x12xf32>
  return %y : tensor<1x4x12x12xf32>
}

// -----

!w = tensor<16x8x3x3x!quant.uniform<i8:f32:1, {0.5, 1.0, 2.0, 4.0, 0.5, 1.0, 2.0, 4.0}>>

// Scales along the axis that is summed over cannot be factored out.
// CHECK-LABEL: @inputs
// CHECK-NOT: nn.byte_weights
// CHECK: return
func.func @inputs(%x: tensor<1x8x12x12xf32>) -> tensor<1x16x12x12xf32> {
  %q = nn.constant dense<3> : tensor<16x8x3x3xi8>
  %0 = qnn.reinterpret %q : tensor<16x8x3x3xi8> -> !w
  %1 = qnn.dequantize %0 : !w -> tensor<16x8x3x3xf32>
  %y = nn.conv %x, %1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64} : (tensor<1x8x12x12xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x12x12xf32>
  return %y : tensor<1x16x12x12xf32>
}
