// RUN: nnc-opt --nnc-form-layers --nnc-choose-routines="target=x86-64-v3 products=integers" --split-input-file %s | FileCheck %s
// RUN: nnc-opt --nnc-form-layers --nnc-choose-routines="target=x86-64-v3-vnni products=integers" --split-input-file %s | FileCheck %s --check-prefix=VNNI

// Products of bytes are added in 16 bits only where the weights prove that no sum
// exceeds them: four products, or two, of channels in any order if all outputs
// read all of them.

// VNNI: conv2d_i32_nchw8c_avxvnni
// VNNI: conv2d_i32_nchw8c_avxvnni
// VNNI: conv2d_i32_nchw8c_avxvnni
// VNNI: conv2d_i32_nchw8c_avxvnni
// VNNI: conv2d_i32_nchw8c_avx2

// CHECK-LABEL: @four
// CHECK: nn.layer {{.*}} routine = "conv2d_i32_nchw8c_bounded4_avx2"
func.func @four(%x: tensor<1x64x14x14xui8>) -> tensor<1x64x14x14xi32> {
  %w = nn.constant dense<32> : tensor<64x64x1x1xi8>
  %y = nn.conv %x, %w {accumulator = i32, dilations = array<i64: 1, 1>, fill = 0 : i64, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x64x14x14xui8>, tensor<64x64x1x1xi8>) -> tensor<1x64x14x14xi32>
  return %y : tensor<1x64x14x14xi32>
}

// -----

// CHECK-LABEL: @two
// CHECK: nn.layer {{.*}} routine = "conv2d_i32_nchw8c_ordered2_avx2"
func.func @two(%x: tensor<1x64x14x14xui8>) -> tensor<1x64x14x14xi32> {
  %w = nn.constant dense<-64> : tensor<64x64x1x1xi8>
  %y = nn.conv %x, %w {accumulator = i32, dilations = array<i64: 1, 1>, fill = 0 : i64, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x64x14x14xui8>, tensor<64x64x1x1xi8>) -> tensor<1x64x14x14xi32>
  return %y : tensor<1x64x14x14xi32>
}

// -----

// CHECK-LABEL: @groups
// CHECK: nn.layer {{.*}} routine = "conv2d_i32_nchw8c_bounded2_avx2"
func.func @groups(%x: tensor<1x128x14x14xui8>) -> tensor<1x128x14x14xi32> {
  %w = nn.constant dense<-64> : tensor<128x64x1x1xi8>
  %y = nn.conv %x, %w {accumulator = i32, dilations = array<i64: 1, 1>, fill = 0 : i64, groups = 2 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x128x14x14xui8>, tensor<128x64x1x1xi8>) -> tensor<1x128x14x14xi32>
  return %y : tensor<1x128x14x14xi32>
}

// -----

// CHECK-LABEL: @none
// CHECK: nn.layer {{.*}} routine = "conv2d_i32_nchw8c_avx2"
func.func @none(%x: tensor<1x64x14x14xui8>) -> tensor<1x64x14x14xi32> {
  %w = nn.constant dense<65> : tensor<64x64x1x1xi8>
  %y = nn.conv %x, %w {accumulator = i32, dilations = array<i64: 1, 1>, fill = 0 : i64, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x64x14x14xui8>, tensor<64x64x1x1xi8>) -> tensor<1x64x14x14xi32>
  return %y : tensor<1x64x14x14xi32>
}

// -----

// The instruction takes unsigned inputs alone.
// CHECK-LABEL: @signed_inputs
// CHECK: nn.layer {{.*}} routine = "conv2d_i32_nchw8c_avx2"
func.func @signed_inputs(%x: tensor<1x64x14x14xi8>) -> tensor<1x64x14x14xi32> {
  %w = nn.constant dense<1> : tensor<64x64x1x1xi8>
  %y = nn.conv %x, %w {accumulator = i32, dilations = array<i64: 1, 1>, fill = 0 : i64, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x64x14x14xi8>, tensor<64x64x1x1xi8>) -> tensor<1x64x14x14xi32>
  return %y : tensor<1x64x14x14xi32>
}
