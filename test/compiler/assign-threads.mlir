// RUN: nnc-opt %s --nnc-choose-routines=target=x86-64-v3 --nnc-assign-threads | FileCheck %s
// RUN: nnc-opt %s --nnc-choose-routines=target=x86-64-v3 --nnc-assign-threads --nnc-plan-memory=threads=2 --nnc-lower-to-exec | FileCheck %s --check-prefix=EXEC

// A product of 16 by 8 takes less time than to hand half of it over, and so
// does the softmax of what comes out; one of 512 by 512 is shared.

// CHECK-LABEL: func.func @main
// CHECK: nn.layer "squeeze"
// CHECK-SAME: exec.serial
// CHECK: nn.layer "softmax"
// CHECK-SAME: exec.serial
// CHECK: nn.layer "wide"
// CHECK-NOT: exec.serial
// CHECK: return

// EXEC: exec.call "squeeze"
// EXEC-SAME: serial
// EXEC: exec.call "softmax"
// EXEC-SAME: serial
// EXEC: exec.call "wide"
// EXEC-NOT: serial
func.func @main(%x: tensor<1x16xf32>, %a: tensor<16x512xf32>, %b: tensor<512x512xf32>) -> (tensor<1x8xf32>, tensor<16x512xf32>) {
  %w = nn.constant dense<0.5> : tensor<16x8xf32>
  %0 = nn.layer "squeeze" inputs(%x, %w : tensor<1x16xf32>, tensor<16x8xf32>) -> tensor<1x8xf32> anchor {
  ^bb0(%p: tensor<1x16xf32>, %q: tensor<16x8xf32>):
    %y = nn.matmul %p, %q {transpose_a = false, transpose_b = false} : (tensor<1x16xf32>, tensor<16x8xf32>) -> tensor<1x8xf32>
    nn.yield %y : tensor<1x8xf32>
  } epilogue {
  ^bb0(%v: f32):
    nn.yield %v : f32
  }
  %1 = nn.layer "softmax" inputs(%0 : tensor<1x8xf32>) -> tensor<1x8xf32> anchor {
  ^bb0(%p: tensor<1x8xf32>):
    %y = nn.softmax %p {axis = 1 : i64, log = false} : (tensor<1x8xf32>) -> tensor<1x8xf32>
    nn.yield %y : tensor<1x8xf32>
  } epilogue {
  ^bb0(%v: f32):
    nn.yield %v : f32
  }
  %2 = nn.layer "wide" inputs(%a, %b : tensor<16x512xf32>, tensor<512x512xf32>) -> tensor<16x512xf32> anchor {
  ^bb0(%p: tensor<16x512xf32>, %q: tensor<512x512xf32>):
    %y = nn.matmul %p, %q {transpose_a = false, transpose_b = false} : (tensor<16x512xf32>, tensor<512x512xf32>) -> tensor<16x512xf32>
    nn.yield %y : tensor<16x512xf32>
  } epilogue {
  ^bb0(%v: f32):
    nn.yield %v : f32
  }
  return %1, %2 : tensor<1x8xf32>, tensor<16x512xf32>
}
