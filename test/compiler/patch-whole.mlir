// RUN: nnc-opt --split-input-file --pass-pipeline='builtin.module(func.func(nnc-patch{last=2 axis=0 strips=2}))' %s | FileCheck %s

// A value that one op reads by rows and another one whole is computed whole.
// CHECK-LABEL: func.func @two(
// CHECK: %[[R:.*]] = nn.relu
// CHECK: %[[A:.*]] = nn.slice %[[R]] {sizes = array<i64: 4, 8>
// CHECK: %[[S:.*]] = nn.sigmoid %[[A]]
// CHECK: nn.matmul %[[S]], %[[R]]
// CHECK: nn.concat {{.*}} {axis = 0 : i64}
func.func @two(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = nn.relu %x : tensor<8x8xf32>
  %s = nn.sigmoid %r : tensor<8x8xf32>
  %m = nn.matmul %s, %r {transpose_a = false, transpose_b = false} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %m : tensor<8x8xf32>
}

// -----

// A value that one op reads in both ways is computed whole, too.
// CHECK-LABEL: func.func @one(
// CHECK: %[[R:.*]] = nn.sigmoid
// CHECK: %[[A:.*]] = nn.slice %[[R]] {sizes = array<i64: 4, 8>
// CHECK: nn.matmul %[[A]], %[[R]]
func.func @one(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %t = nn.relu %x : tensor<8x8xf32>
  %r = nn.sigmoid %t : tensor<8x8xf32>
  %m = nn.matmul %r, %r {transpose_a = false, transpose_b = false} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %m : tensor<8x8xf32>
}
