// RUN: nnc-opt %s --nnc-choose-routines=target=x86-64-v4 --nnc-check-routines | FileCheck %s

// A routine and params that somebody wrote are kept, the rest follows them. A
// packed right-hand side is packed as the product sees it, transposed or not.

// CHECK-LABEL: func.func @kept
// CHECK: nn.constant {{.*}} -> tensor<40x50xf32, #nn.layout<AB8a>>
// CHECK: nn.layer "dense" {{.*}} attributes {params = array<i64: 5, 2>, routine = "matmul_f32_nk8n_avx2"}
func.func @kept(%x: tensor<4x50xf32>) -> tensor<4x40xf32> {
  %w = nn.constant dense<1.0> : tensor<40x50xf32>
  %0 = nn.layer "dense" inputs(%x, %w : tensor<4x50xf32>, tensor<40x50xf32>) -> tensor<4x40xf32> attributes {routine = "matmul_f32_nk8n_avx2", params = array<i64: 5, 2>}
  anchor {
  ^bb0(%a: tensor<4x50xf32>, %b: tensor<40x50xf32>):
    %c = nn.matmul %a, %b {transpose_a = false, transpose_b = true} : (tensor<4x50xf32>, tensor<40x50xf32>) -> tensor<4x40xf32>
    nn.yield %c : tensor<4x40xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %0 : tensor<4x40xf32>
}
