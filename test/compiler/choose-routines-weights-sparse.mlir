// RUN: nnc-opt %s --nnc-choose-routines="target=portable" | FileCheck %s

// A weight of bytes of which more than half are zeros, and all others equal. A
// layer reads the entries without being told to, which is faster. The axes of
// the weight are the other way round in memory.

// CHECK-LABEL: func.func @sparse
// CHECK: nn.layer "sparse" inputs(%{{.*}} : tensor<2x128xi8>, tensor<{{[0-9]+}}xui8>) -> tensor<2x4xi32> attributes {routine = "stored_matmul_i32_entries_portable"}
// CHECK: nn.stored_matmul %{{.*}}, %{{.*}}, <form = 2, elements = 512, block = 512, values = 2, value_bits = 1, {{.*}}entries = 4> {accumulator = i32, order = 0 : i64, rows = 4 : i64}
// CHECK: nn.layer "dense" inputs(%{{.*}}, %{{.*}} : tensor<2x128xi8>, tensor<128x4xi8>)
func.func @sparse(%x: tensor<2x128xi8>) -> (tensor<2x4xi32>, tensor<2x4xi32>) {
  %w = nn.constant dense<"0x0500000000000000000000000000000000000000000000000000000000000000000000000005000000000000000000000000000000000000000000000000000000000000000000000000050000000000000000000000000000000000000000000000000000000000000000000000000500000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"> : tensor<128x4xi8>
  %v = nn.constant dense<3> : tensor<128x4xi8>
  %0 = nn.layer "sparse" inputs(%x, %w : tensor<2x128xi8>, tensor<128x4xi8>) -> tensor<2x4xi32> anchor {
  ^bb0(%p: tensor<2x128xi8>, %q: tensor<128x4xi8>):
    %y = nn.matmul %p, %q {transpose_a = false, transpose_b = false, accumulator = i32} : (tensor<2x128xi8>, tensor<128x4xi8>) -> tensor<2x4xi32>
    nn.yield %y : tensor<2x4xi32>
  } epilogue {
  ^bb0(%e: i32):
    nn.yield %e : i32
  }
  %1 = nn.layer "dense" inputs(%x, %v : tensor<2x128xi8>, tensor<128x4xi8>) -> tensor<2x4xi32> anchor {
  ^bb0(%p: tensor<2x128xi8>, %q: tensor<128x4xi8>):
    %y = nn.matmul %p, %q {transpose_a = false, transpose_b = false, accumulator = i32} : (tensor<2x128xi8>, tensor<128x4xi8>) -> tensor<2x4xi32>
    nn.yield %y : tensor<2x4xi32>
  } epilogue {
  ^bb0(%e: i32):
    nn.yield %e : i32
  }
  return %0, %1 : tensor<2x4xi32>, tensor<2x4xi32>
}
