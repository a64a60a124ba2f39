// RUN: nnc-opt %s --nnc-choose-routines="target=portable max-weights=8000" | FileCheck %s

// A weight that two functions share has the same form in both.

// CHECK-LABEL: func.func @shared
// CHECK: nn.constant dense_resource<[[BYTES:.*]]> : tensor<[[COUNT:[0-9]+]]xui8>
// CHECK: nn.decode
// CHECK-LABEL: func.func @other
// CHECK: nn.constant dense_resource<[[BYTES]]> : tensor<[[COUNT]]xui8>
// CHECK: nn.decode
func.func @shared(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %w = nn.constant dense<0.75> : tensor<64x64xf32>
  %0 = nn.layer "one" inputs(%x, %w : tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32> anchor {
  ^bb0(%p: tensor<1x64xf32>, %q: tensor<64x64xf32>):
    %y = nn.matmul %p, %q {transpose_a = false, transpose_b = false} : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
    nn.yield %y : tensor<1x64xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %0 : tensor<1x64xf32>
}

func.func @other(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %w = nn.constant dense<0.75> : tensor<64x64xf32>
  %0 = nn.layer "two" inputs(%x, %w : tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32> anchor {
  ^bb0(%p: tensor<1x64xf32>, %q: tensor<64x64xf32>):
    %y = nn.matmul %p, %q {transpose_a = false, transpose_b = false} : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
    nn.yield %y : tensor<1x64xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  return %0 : tensor<1x64xf32>
}
