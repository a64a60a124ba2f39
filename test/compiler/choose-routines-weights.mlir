// RUN: nnc-opt %s --nnc-choose-routines="target=portable weights-encoding=csr" | FileCheck %s
// RUN: nnc-opt %s --nnc-choose-routines="target=portable weights-encoding=csr" --nnc-assign-threads --nnc-plan-memory --nnc-lower-to-exec | FileCheck %s --check-prefix=EXEC

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
func.func @main(%x: tensor<1x40xf32>) -> tensor<1x40xf32> {
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
