// RUN: nnc-opt --nnc-form-layers --nnc-choose-routines="target=aarch64 products=integers" --split-input-file %s | FileCheck %s

// Processors without sdot add products of signed bytes in pairs in 16 bits, unless both weights of
// a pair may be -128.

// CHECK-LABEL: @pairs
// CHECK: nn.layer {{.*}} routine = "conv2d_i32_nchw4c_neon64"
func.func @pairs(%x: tensor<1x64x14x14xi8>) -> tensor<1x64x14x14xi32> {
  %w = nn.constant dense<-127> : tensor<64x64x1x1xi8>
  %y = nn.conv %x, %w {accumulator = i32, dilations = array<i64: 1, 1>, fill = 0 : i64, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x64x14x14xi8>, tensor<64x64x1x1xi8>) -> tensor<1x64x14x14xi32>
  return %y : tensor<1x64x14x14xi32>
}

// -----

// CHECK-LABEL: @lowest
// CHECK: nn.layer {{.*}} routine = "conv2d_i32_nchw4c_neon"
func.func @lowest(%x: tensor<1x64x14x14xi8>) -> tensor<1x64x14x14xi32> {
  %w = nn.constant dense<-128> : tensor<64x64x1x1xi8>
  %y = nn.conv %x, %w {accumulator = i32, dilations = array<i64: 1, 1>, fill = 0 : i64, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x64x14x14xi8>, tensor<64x64x1x1xi8>) -> tensor<1x64x14x14xi32>
  return %y : tensor<1x64x14x14xi32>
}

// -----

// Taps of a depthwise convolution are multiplied one by one.
// CHECK-LABEL: @depthwise
// CHECK: nn.layer {{.*}} routine = "conv2d_i32_nchw4c_depthwise_neon64"
func.func @depthwise(%x: tensor<1x64x14x14xi8>) -> tensor<1x64x14x14xi32> {
  %w = nn.constant dense<-128> : tensor<64x1x3x3xi8>
  %y = nn.conv %x, %w {accumulator = i32, dilations = array<i64: 1, 1>, fill = 0 : i64, groups = 64 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x64x14x14xi8>, tensor<64x1x3x3xi8>) -> tensor<1x64x14x14xi32>
  return %y : tensor<1x64x14x14xi32>
}
