// RUN: nnc-opt --mlir-disable-threading --pass-pipeline='builtin.module(builtin.module(nnc-set-constraints{target=portable},func.func(nnc-form-layers),nnc-choose-routines,nnc-plan-memory,nnc-lower-to-exec),nnc-join-shapes,nnc-encode-weights,nnc-share-weights)' %s | FileCheck %s

// The second program has the weights of the first at their place, and its own behind them.
// CHECK: exec.program @net arena {{.*}} weights 256
// CHECK: exec.weight "matmul_weight" at 0 = encoded
// CHECK: exec.program @net_2 arena {{.*}} weights 256 attributes {exec.module = "net"
// CHECK: exec.weight "matmul_weight" at 0 = encoded
// CHECK: exec.program @net_3 arena {{.*}} weights 256 attributes {exec.module = "net"
// CHECK: exec.weight "matmul_weight" at 128 = encoded
module {
module attributes {nn.model = "net"} {
  func.func @main(%x: tensor<2x4xf32> {nn.name = "x"}) -> (tensor<2x6xf32> {nn.name = "y"}) {
    %w = nn.constant dense<0.5> : tensor<4x6xf32>
    %0 = nn.matmul %x, %w {transpose_a = false, transpose_b = false} : (tensor<2x4xf32>, tensor<4x6xf32>) -> tensor<2x6xf32>
    %1 = nn.relu %0 : tensor<2x6xf32>
    return %1 : tensor<2x6xf32>
  }
}
module attributes {nn.model = "net"} {
  func.func @main(%x: tensor<3x4xf32> {nn.name = "x"}) -> (tensor<3x6xf32> {nn.name = "y"}) {
    %w = nn.constant dense<0.5> : tensor<4x6xf32>
    %0 = nn.matmul %x, %w {transpose_a = false, transpose_b = false} : (tensor<3x4xf32>, tensor<4x6xf32>) -> tensor<3x6xf32>
    %1 = nn.relu %0 : tensor<3x6xf32>
    return %1 : tensor<3x6xf32>
  }
}
module attributes {nn.model = "net"} {
  func.func @main(%x: tensor<5x4xf32> {nn.name = "x"}) -> (tensor<5x6xf32> {nn.name = "y"}) {
    %w = nn.constant dense<0.25> : tensor<4x6xf32>
    %0 = nn.matmul %x, %w {transpose_a = false, transpose_b = false} : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
    %1 = nn.relu %0 : tensor<5x6xf32>
    return %1 : tensor<5x6xf32>
  }
}
}
