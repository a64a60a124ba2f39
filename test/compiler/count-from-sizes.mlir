// RUN: nnc-opt --pass-pipeline='builtin.module(nnc-count-from-sizes)' %s | FileCheck %s

// The places of three rows behind those that there are: the first of them depends on the size.
// CHECK: nn.sums = [#
// CHECK-COUNT-4: nn.varies
module attributes {nn.sizes = [#exec.size<name = "rows", low = 1, high = 9, step = 1>], nn.largest = array<i64: 9>} {
module attributes {nn.model = "net"} {
  func.func @main(%x: tensor<9x4xf32> {nn.name = "x"}) -> (tensor<3xi64> {nn.name = "y"}) {
    %p = nn.constant dense<[9, 10, 11]> : tensor<3xi64>
    return %p : tensor<3xi64>
  }
}
nn.sample at [7] {
builtin.module attributes {nn.model = "net"} {
  func.func @main(%x: tensor<7x4xf32> {nn.name = "x"}) -> (tensor<3xi64> {nn.name = "y"}) {
    %p = nn.constant dense<[7, 8, 9]> : tensor<3xi64>
    return %p : tensor<3xi64>
  }
}
}
nn.sample at [6] {
builtin.module attributes {nn.model = "net"} {
  func.func @main(%x: tensor<6x4xf32> {nn.name = "x"}) -> (tensor<3xi64> {nn.name = "y"}) {
    %p = nn.constant dense<[6, 7, 8]> : tensor<3xi64>
    return %p : tensor<3xi64>
  }
}
}
nn.sample at [5] {
builtin.module attributes {nn.model = "net"} {
  func.func @main(%x: tensor<5x4xf32> {nn.name = "x"}) -> (tensor<3xi64> {nn.name = "y"}) {
    %p = nn.constant dense<[5, 6, 7]> : tensor<3xi64>
    return %p : tensor<3xi64>
  }
}
}
}
