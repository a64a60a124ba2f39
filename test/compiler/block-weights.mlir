// RUN: nnc-opt --nnc-qnn-fuse=target=x86-64-v3 --split-input-file %s | FileCheck %s
// RUN: nnc-opt --nnc-qnn-fuse=target=x86-64-v3 --nnc-qnn-canonicalize --nnc-simplify --nnc-form-layers --nnc-choose-routines=target=x86-64-v3 --split-input-file %s | FileCheck %s --check-prefix=CHOSEN

!w = tensor<16x2x!quant.uniform<i8:f32:1, {1.0, 2.0:-3}>>

// One scale for each column of the result: a block is all of its weights. They
// and the zero points fit in four bits once 8 is added.
// CHECK-LABEL: @axis
// CHECK-DAG: %[[Q:.*]] = nn.constant {{.*}} : tensor<2x16xui8>
// CHECK-DAG: %[[S:.*]] = nn.constant dense<{{\[\[}}1.000000e+00], [2.000000e+00]]> : tensor<2x1xf32>
// CHECK-DAG: %[[Z:.*]] = nn.constant dense<{{\[\[}}8], [5]]> : tensor<2x1xui8>
// CHECK: nn.block_matmul %arg0, %[[Q]], %[[S]], %[[Z]] {bits = 4 : i64, block = 16 : i64, qnn.stays_float = "its input is not quantized; its weights stay integers of 4 bits"}
// CHECK-NOT: nn.matmul
// CHOSEN-LABEL: @axis
// CHOSEN: nn.layer {{.*}} tensor<2x16xui8, #nn.layout<AB32a_int4>>, tensor<2x1xf32, #nn.layout<AB32a>>, tensor<2x1xui8, #nn.layout<AB32a>>) {{.*}} {routine = "block_matmul_int4_
func.func @axis(%x: tensor<3x16xf32>) -> tensor<3x2xf32> {
  %q = nn.constant dense<3> : tensor<16x2xi8>
  %0 = qnn.reinterpret %q : tensor<16x2xi8> -> !w
  %1 = qnn.dequantize %0 : !w -> tensor<16x2xf32>
  %y = nn.matmul %x, %1 {transpose_a = false, transpose_b = false} : (tensor<3x16xf32>, tensor<16x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// A single zero point is left where all are equal; 100 needs 8 bits. Batches are
// rows.
// CHECK-LABEL: @blocks
// CHECK: nn.block_matmul {{.*}} {bits = 8 : i64, block = 8 : i64, {{.*}}} : (tensor<2x3x16xf32>, tensor<2x16xui8>, tensor<2x2xf32>, tensor<1x1xui8>) -> tensor<2x3x2xf32>
// CHOSEN-LABEL: @blocks
// CHOSEN: nn.layer {{.*}} {routine = "block_matmul_
func.func @blocks(%x: tensor<2x3x16xf32>) -> tensor<2x3x2xf32> {
  %q = nn.constant dense<100> : tensor<2x16xi8>
  %s = nn.constant dense<[[0.5, 0.25], [1.0, 2.0]]> : tensor<2x2xf32>
  %w = qnn.dequantize_blocks %q, %s {axis = 1 : i64, block = 8 : i64} : tensor<2x16xi8>, tensor<2x2xf32> -> tensor<2x16xf32>
  %y = nn.matmul %x, %w {transpose_a = false, transpose_b = true} : (tensor<2x3x16xf32>, tensor<2x16xf32>) -> tensor<2x3x2xf32>
  return %y : tensor<2x3x2xf32>
}

// -----

// Scales that vary along the sums' axis within a word cannot be factored out of
// sums of whole words: these weights become floats.
// CHECK-LABEL: @short_blocks
// CHECK: nn.matmul
// CHOSEN-LABEL: @short_blocks
// CHOSEN-NOT: block_matmul
// CHOSEN: return
func.func @short_blocks(%x: tensor<3x16xf32>) -> tensor<3x2xf32> {
  %q = nn.constant dense<100> : tensor<16x2xui8>
  %z = nn.constant dense<7> : tensor<4x2xui8>
  %s = nn.constant dense<0.5> : tensor<4x2xf32>
  %w = qnn.dequantize_blocks %q, %s, %z {axis = 0 : i64, block = 4 : i64} : tensor<16x2xui8>, tensor<4x2xf32>, tensor<4x2xui8> -> tensor<16x2xf32>
  %y = nn.matmul %x, %w {transpose_a = false, transpose_b = false} : (tensor<3x16xf32>, tensor<16x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// Weights for a convolution of an image become floats, too.
!f = tensor<2x3x1x1x!quant.uniform<i8:f32, 5.0e-01>>
// CHECK-LABEL: @conv
// CHECK: nn.conv
func.func @conv(%x: tensor<1x3x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %q = nn.constant dense<3> : tensor<2x3x1x1xi8>
  %0 = qnn.reinterpret %q : tensor<2x3x1x1xi8> -> !f
  %w = qnn.dequantize %0 : !f -> tensor<2x3x1x1xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}

// -----

// For a single pixel it is a matrix product.
!g = tensor<2x3x1x1x!quant.uniform<i8:f32:0, {5.0e-01, 2.5e-01}>>
// CHECK-LABEL: @pixel
// CHECK: %[[X:.*]] = nn.reshape %arg0 {{.*}} : tensor<4x3x1x1xf32> -> tensor<4x3xf32>
// CHECK: nn.block_matmul %[[X]], {{.*}} {bits = 8 : i64, block = 3 : i64, {{.*}}}
// CHECK: nn.reshape {{.*}} -> tensor<4x2x1x1xf32>
func.func @pixel(%x: tensor<4x3x1x1xf32>) -> tensor<4x2x1x1xf32> {
  %q = nn.constant dense<-100> : tensor<2x3x1x1xi8>
  %0 = qnn.reinterpret %q : tensor<2x3x1x1xi8> -> !g
  %w = qnn.dequantize %0 : !g -> tensor<2x3x1x1xf32>
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<4x3x1x1xf32>, tensor<2x3x1x1xf32>) -> tensor<4x2x1x1xf32>
  return %y : tensor<4x2x1x1xf32>
}

// -----

// The input is quantized as well: that floats are faster has been estimated with
// weights that are floats.
!a = tensor<16x16x!quant.uniform<u16:f32, 5.0e-01>>
!b = tensor<16x2x!quant.uniform<i8:f32, 5.0e-01>>
// CHECK-LABEL: @quantized_input
// CHECK: nn.matmul
func.func @quantized_input(%x: tensor<16x16xui16>) -> tensor<16x2xf32> {
  %q = nn.constant dense<-100> : tensor<16x2xi8>
  %0 = qnn.reinterpret %q : tensor<16x2xi8> -> !b
  %w = qnn.dequantize %0 : !b -> tensor<16x2xf32>
  %1 = qnn.reinterpret %x : tensor<16x16xui16> -> !a
  %2 = qnn.dequantize %1 : !a -> tensor<16x16xf32>
  %y = nn.matmul %2, %w {transpose_a = false, transpose_b = false} : (tensor<16x16xf32>, tensor<16x2xf32>) -> tensor<16x2xf32>
  return %y : tensor<16x2xf32>
}

// -----

// CHOSEN-LABEL: @large
// CHOSEN: nn.layer {{.*}} tensor<512x512xui8, #nn.layout<AB32a4b>>, {{.*}} {params = array<i64: 1, 4>, routine = "block_matmul_int8_avx2"}
func.func @large(%x: tensor<1x512xf32>) -> tensor<1x512xf32> {
  %q = nn.constant dense<100> : tensor<512x512xi8>
  %s = nn.constant dense<0.5> : tensor<512x16xf32>
  %w = qnn.dequantize_blocks %q, %s {axis = 1 : i64, block = 32 : i64} : tensor<512x512xi8>, tensor<512x16xf32> -> tensor<512x512xf32>
  %y = nn.matmul %x, %w {transpose_a = false, transpose_b = true} : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
  return %y : tensor<1x512xf32>
}
