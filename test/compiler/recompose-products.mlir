// RUN: nnc-opt --nnc-recompose=attention=false --nnc-simplify --split-input-file %s | FileCheck %s
// RUN: nnc-opt --nnc-test-equivalence=passes=nnc-recompose,nnc-simplify --split-input-file %s

// A dense layer of three axes as PyTorch decomposes it, into a product of two:
// its result is added to what it reads.
// CHECK-LABEL: @dense
// CHECK-NEXT: %[[Y:.*]] = nn.matmul %arg0, %arg1 {{.*}} -> tensor<2x5x8xf32>
// CHECK-NEXT: %[[B:.*]] = nn.add %[[Y]], %arg2
// CHECK-NEXT: %[[Z:.*]] = nn.add %[[B]], %arg0
// CHECK-NEXT: return %[[Z]]
func.func @dense(%x: tensor<2x5x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>)
    -> tensor<2x5x8xf32> {
  %0 = nn.reshape %x : tensor<2x5x8xf32> -> tensor<10x8xf32>
  %1 = nn.matmul %0, %w {transpose_a = false, transpose_b = false} : (tensor<10x8xf32>, tensor<8x8xf32>) -> tensor<10x8xf32>
  %2 = nn.add %1, %b : tensor<10x8xf32>, tensor<8xf32>
  %3 = nn.reshape %2 : tensor<10x8xf32> -> tensor<2x5x8xf32>
  %4 = nn.add %3, %x : tensor<2x5x8xf32>, tensor<2x5x8xf32>
  return %4 : tensor<2x5x8xf32>
}

// -----

// The result has another last axis, or the bias runs along the rows.
// CHECK-LABEL: @not_dense
// CHECK-COUNT-3: nn.reshape
func.func @not_dense(%x: tensor<2x5x8xf32>, %w: tensor<8x8xf32>, %b: tensor<10x1xf32>)
    -> (tensor<2x5x2x4xf32>, tensor<2x5x8xf32>) {
  %0 = nn.reshape %x : tensor<2x5x8xf32> -> tensor<10x8xf32>
  %1 = nn.matmul %0, %w {transpose_a = false, transpose_b = false} : (tensor<10x8xf32>, tensor<8x8xf32>) -> tensor<10x8xf32>
  %2 = nn.reshape %1 : tensor<10x8xf32> -> tensor<2x5x2x4xf32>
  %3 = nn.matmul %0, %w {transpose_a = false, transpose_b = true} : (tensor<10x8xf32>, tensor<8x8xf32>) -> tensor<10x8xf32>
  %4 = nn.add %3, %b : tensor<10x8xf32>, tensor<10x1xf32>
  %5 = nn.reshape %4 : tensor<10x8xf32> -> tensor<2x5x8xf32>
  return %2, %5 : tensor<2x5x2x4xf32>, tensor<2x5x8xf32>
}

// -----

// Products of three axes around a softmax of four. No row is hidden, as no mask
// is added.
// CHECK-LABEL: @unmasked
// CHECK-NEXT: %[[S:.*]] = nn.matmul %arg0, %arg1 {{.*}} -> tensor<2x3x5x6xf32>
// CHECK-NEXT: %[[P:.*]] = nn.softmax %[[S]] {axis = 3 : i64, log = false}
// CHECK-NEXT: %[[Y:.*]] = nn.matmul %[[P]], %arg2 {{.*}} -> tensor<2x3x5x4xf32>
// CHECK-NEXT: return %[[Y]]
func.func @unmasked(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x4x6xf32>, %v: tensor<2x3x6x4xf32>)
    -> tensor<2x3x5x4xf32> {
  %low = nn.constant dense<0xFF800000> : tensor<f32>
  %zero = nn.constant dense<0.0> : tensor<2x3x5x6xf32>
  %0 = nn.reshape %q : tensor<2x3x5x4xf32> -> tensor<6x5x4xf32>
  %1 = nn.reshape %k : tensor<2x3x4x6xf32> -> tensor<6x4x6xf32>
  %2 = nn.matmul %0, %1 {transpose_a = false, transpose_b = false} : (tensor<6x5x4xf32>, tensor<6x4x6xf32>) -> tensor<6x5x6xf32>
  %3 = nn.reshape %2 : tensor<6x5x6xf32> -> tensor<2x3x5x6xf32>
  %4 = nn.softmax %3 {axis = 3 : i64, log = false} : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %5 = nn.equal %3, %low : tensor<2x3x5x6xf32>, tensor<f32>
  %6 = nn.logical_not %5 : tensor<2x3x5x6xi1>
  %7 = nn.cast %6 : tensor<2x3x5x6xi1> to tensor<2x3x5x6xui8>
  %8 = nn.reduce max %7 {axes = array<i64: 3>, keepdims = true} : (tensor<2x3x5x6xui8>) -> tensor<2x3x5x1xui8>
  %9 = nn.cast %8 : tensor<2x3x5x1xui8> to tensor<2x3x5x1xi1>
  %10 = nn.logical_not %9 : tensor<2x3x5x1xi1>
  %11 = nn.select %10, %zero, %4 : tensor<2x3x5x1xi1>, tensor<2x3x5x6xf32>, tensor<2x3x5x6xf32>
  %12 = nn.reshape %11 : tensor<2x3x5x6xf32> -> tensor<6x5x6xf32>
  %13 = nn.reshape %v : tensor<2x3x6x4xf32> -> tensor<6x6x4xf32>
  %14 = nn.matmul %12, %13 {transpose_a = false, transpose_b = false} : (tensor<6x5x6xf32>, tensor<6x6x4xf32>) -> tensor<6x5x4xf32>
  %15 = nn.reshape %14 : tensor<6x5x4xf32> -> tensor<2x3x5x4xf32>
  return %15 : tensor<2x3x5x4xf32>
}

// -----

// Attention is recognized as well if it has so many scores that passes read a
// constant of their shape only if it has a single value.
// CHECK-LABEL: @large
// CHECK-NEXT: %[[S:.*]] = nn.matmul %arg0, %arg1
// CHECK-NEXT: %[[P:.*]] = nn.softmax %[[S]]
// CHECK-NEXT: %[[Y:.*]] = nn.matmul %[[P]], %arg2
// CHECK-NEXT: return %[[Y]]
func.func @large(%q: tensor<2x200x1xf32>, %k: tensor<2x1x200xf32>, %v: tensor<2x200x1xf32>)
    -> tensor<2x200x1xf32> {
  %low = nn.constant dense<0xFF800000> : tensor<f32>
  %zero = nn.constant dense<0.0> : tensor<2x200x200xf32>
  %0 = nn.matmul %q, %k {transpose_a = false, transpose_b = false} : (tensor<2x200x1xf32>, tensor<2x1x200xf32>) -> tensor<2x200x200xf32>
  %1 = nn.softmax %0 {axis = 2 : i64, log = false} : (tensor<2x200x200xf32>) -> tensor<2x200x200xf32>
  %2 = nn.equal %0, %low : tensor<2x200x200xf32>, tensor<f32>
  %3 = nn.logical_not %2 : tensor<2x200x200xi1>
  %4 = nn.cast %3 : tensor<2x200x200xi1> to tensor<2x200x200xui8>
  %5 = nn.reduce max %4 {axes = array<i64: 2>, keepdims = true} : (tensor<2x200x200xui8>) -> tensor<2x200x1xui8>
  %6 = nn.cast %5 : tensor<2x200x1xui8> to tensor<2x200x1xi1>
  %7 = nn.logical_not %6 : tensor<2x200x1xi1>
  %8 = nn.select %7, %zero, %1 : tensor<2x200x1xi1>, tensor<2x200x200xf32>, tensor<2x200x200xf32>
  %9 = nn.matmul %8, %v {transpose_a = false, transpose_b = false} : (tensor<2x200x200xf32>, tensor<2x200x1xf32>) -> tensor<2x200x1xf32>
  return %9 : tensor<2x200x1xf32>
}

// -----

// The mask hides all keys from the second query, whose row is cleared behind
// the product.
// CHECK-LABEL: @masked
// CHECK: %[[P:.*]] = nn.softmax
// CHECK-NEXT: %[[Y:.*]] = nn.matmul %[[P]], %arg2
// CHECK-NEXT: %[[Z:.*]] = nn.select %{{.*}}, %{{.*}}, %[[Y]] : tensor<3x1xi1>
// CHECK-NEXT: return %[[Z]]
func.func @masked(%q: tensor<2x3x4xf32>, %k: tensor<2x4x2xf32>, %v: tensor<2x2x4xf32>)
    -> tensor<2x3x4xf32> {
  %low = nn.constant dense<0xFF800000> : tensor<f32>
  %zero = nn.constant dense<0.0> : tensor<2x3x2xf32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %mask = nn.constant dense<[[0.0, 0xFF800000], [0xFF800000, 0xFF800000], [1.0, -1.0]]> : tensor<3x2xf32>
  %0 = nn.matmul %q, %k {transpose_a = false, transpose_b = false} : (tensor<2x3x4xf32>, tensor<2x4x2xf32>) -> tensor<2x3x2xf32>
  %1 = nn.mul %0, %half : tensor<2x3x2xf32>, tensor<f32>
  %2 = nn.add %1, %mask : tensor<2x3x2xf32>, tensor<3x2xf32>
  %3 = nn.softmax %2 {axis = 2 : i64, log = false} : (tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
  %4 = nn.equal %2, %low : tensor<2x3x2xf32>, tensor<f32>
  %5 = nn.logical_not %4 : tensor<2x3x2xi1>
  %6 = nn.cast %5 : tensor<2x3x2xi1> to tensor<2x3x2xui8>
  %7 = nn.reduce max %6 {axes = array<i64: 2>, keepdims = true} : (tensor<2x3x2xui8>) -> tensor<2x3x1xui8>
  %8 = nn.cast %7 : tensor<2x3x1xui8> to tensor<2x3x1xi1>
  %9 = nn.logical_not %8 : tensor<2x3x1xi1>
  %10 = nn.select %9, %zero, %3 : tensor<2x3x1xi1>, tensor<2x3x2xf32>, tensor<2x3x2xf32>
  %11 = nn.matmul %10, %v {transpose_a = false, transpose_b = false} : (tensor<2x3x2xf32>, tensor<2x2x4xf32>) -> tensor<2x3x4xf32>
  return %11 : tensor<2x3x4xf32>
}
