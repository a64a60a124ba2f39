// RUN: nnc-opt %s --split-input-file --nnc-choose-routines=target=portable | FileCheck %s
// RUN: nnc-opt %s --split-input-file --nnc-choose-routines=target=portable --nnc-assign-threads --nnc-plan-memory --nnc-lower-to-exec | FileCheck %s --check-prefix=EXEC

// All weights are 0.5: no entry differs from what entries skip. Two layers that
// read the same weight decode it each, from the same bytes.

// CHECK-LABEL: func.func @main
// CHECK: %[[STORED:.*]] = nn.constant {{.*}} : tensor<{{[0-9]+}}xui8>
// CHECK: %[[W:.*]] = nn.decode %[[STORED]], <form = 2, elements = 1600, {{.*}}> {routine = "decode_entries_portable"}
// CHECK: nn.layer "first" inputs(%{{.*}}, %[[W]] :
// CHECK: %[[V:.*]] = nn.decode %[[STORED]]
// CHECK: nn.layer "second" inputs(%{{.*}}, %[[V]] :

// EXEC: exec.program
// EXEC-SAME: weights 64
// EXEC: exec.call "weight_dense_decode" decode_entries_portable
// EXEC: exec.call "first"
// EXEC: exec.call "{{.*}}decode{{.*}}" decode_entries_portable
// EXEC-SAME: like "weight_dense_decode"
// EXEC: exec.call "second"
func.func @main(%x: tensor<1x40xf32>) -> tensor<1x40xf32> attributes {nn.weights_encoding = "csr"} {
  %w = nn.constant dense<0.5> : tensor<40x40xf32>
  %0 = nn.layer "first" inputs(%x, %w : tensor<1x40xf32>, tensor<40x40xf32>) -> tensor<1x40xf32> anchor {
  ^bb0(%p: tensor<1x40xf32>, %q: tensor<40x40xf32>):
    %y = nn.matmul %p, %q {transpose_a = false, transpose_b = false} : (tensor<1x40xf32>, tensor<40x40xf32>) -> tensor<1x40xf32>
    nn.yield %y : tensor<1x40xf32>
  } epilogue {
  ^bb0(%v: f32):
    nn.yield %v : f32
  }
  %1 = nn.layer "second" inputs(%0, %w : tensor<1x40xf32>, tensor<40x40xf32>) -> tensor<1x40xf32> anchor {
  ^bb0(%p: tensor<1x40xf32>, %q: tensor<40x40xf32>):
    %y = nn.matmul %p, %q {transpose_a = false, transpose_b = false} : (tensor<1x40xf32>, tensor<40x40xf32>) -> tensor<1x40xf32>
    nn.yield %y : tensor<1x40xf32>
  } epilogue {
  ^bb0(%v: f32):
    nn.yield %v : f32
  }
  return %1 : tensor<1x40xf32>
}

// -----

// Of two weights the one is stored for which decoding costs less, and a weight
// that the function returns stays.

// CHECK-LABEL: func.func @limit
// CHECK: nn.layer "large" inputs(%{{.*}}, %[[LARGE:.*]] : tensor<1x64xf32>
// CHECK: %[[SMALL:.*]] = nn.decode
// CHECK: nn.layer "small" inputs(%{{.*}}, %[[SMALL]] :
// CHECK-NOT: nn.decode
// CHECK: return
func.func @limit(%x: tensor<1x64xf32>) -> (tensor<1x24xf32>, tensor<1x24xf32>) attributes {nn.max_weights = 17000 : i64} {
  %w = nn.constant dense<0.25> : tensor<64x64xf32>
  %v = nn.constant dense<0.125> : tensor<64x24xf32>
  %kept = nn.constant dense<0.5> : tensor<1x24xf32>
  %0 = nn.layer "large" inputs(%x, %w : tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32> anchor {
  ^bb0(%p: tensor<1x64xf32>, %q: tensor<64x64xf32>):
    %y = nn.matmul %p, %q {transpose_a = false, transpose_b = false} : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
    nn.yield %y : tensor<1x64xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %1 = nn.layer "small" inputs(%0, %v : tensor<1x64xf32>, tensor<64x24xf32>) -> tensor<1x24xf32> anchor {
  ^bb0(%p: tensor<1x64xf32>, %q: tensor<64x24xf32>):
    %y = nn.matmul %p, %q {transpose_a = false, transpose_b = false} : (tensor<1x64xf32>, tensor<64x24xf32>) -> tensor<1x24xf32>
    nn.yield %y : tensor<1x24xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %1, %kept : tensor<1x24xf32>, tensor<1x24xf32>
}

// -----

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
