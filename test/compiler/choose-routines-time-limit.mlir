// RUN: nnc-opt %s --nnc-choose-routines="target=portable max-ns=1000000000" | FileCheck %s
// RUN: nnc-opt %s --nnc-choose-routines="target=portable max-ns=1" | FileCheck %s --check-prefix=FAST

// Weights take as few bytes as a limit of time allows: all are stored where
// there is time, and none where no plan is as fast.

// CHECK-LABEL: func.func @limit
// CHECK: %[[LARGE:.*]] = nn.decode
// CHECK: nn.layer "large" inputs(%{{.*}}, %[[LARGE]] :
// CHECK: %[[SMALL:.*]] = nn.decode
// CHECK: nn.layer "small" inputs(%{{.*}}, %[[SMALL]] :

// FAST-LABEL: func.func @limit
// FAST-NOT: nn.decode
// FAST-NOT: nn.stored
// FAST: return

func.func @limit(%x: tensor<1x64xf32>) -> (tensor<1x24xf32>, tensor<1x24xf32>) {
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
