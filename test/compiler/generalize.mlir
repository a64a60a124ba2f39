// RUN: nnc-opt --mlir-disable-threading --pass-pipeline='builtin.module(builtin.module(nnc-set-constraints{target=portable},func.func(nnc-form-layers)),nn.sample(builtin.module(nnc-set-constraints{target=portable},func.func(nnc-form-layers))),nnc-mark-varying,builtin.module(nnc-choose-routines,nnc-plan-memory),nnc-retype-samples,builtin.module(nnc-lower-to-exec),nn.sample(builtin.module(nnc-lower-to-exec)),nnc-generalize)' %s | FileCheck %s

// One program, whose numbers of rows are expressions of the size.
// CHECK-DAG: #[[X:.*]] = affine_map<()[s0] -> (s0, 4)>
// CHECK-DAG: #[[Y:.*]] = affine_map<()[s0] -> (s0, 6)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<()[s0] -> (s0)>
// CHECK: module attributes {nn.model = "net"
// CHECK-NEXT: exec.program @net {{.*}}sizes = [#exec.size<name = "rows", low = 1, high = 9, step = 1>]
// CHECK: exec.input "x" : tensor<9x4xf32> {exec.dims = #[[X]]}
// CHECK: exec.output "y" : tensor<9x6xf32> {exec.dims = #[[Y]]}
// CHECK: exec.call "matmul" {{.*}} varying {m = #[[ROWS]]
// CHECK-NOT: nn.sample
// CHECK-NOT: exec.program
module attributes {nn.sizes = [#exec.size<name = "rows", low = 1, high = 9, step = 1>], nn.largest = array<i64: 9>} {
module attributes {nn.model = "net"} {
  func.func @main(%x: tensor<9x4xf32> {nn.name = "x"}) -> (tensor<9x6xf32> {nn.name = "y"}) {
    %w = nn.constant dense<0.5> : tensor<4x6xf32>
    %0 = nn.matmul %x, %w {transpose_a = false, transpose_b = false} : (tensor<9x4xf32>, tensor<4x6xf32>) -> tensor<9x6xf32>
    %1 = nn.relu %0 : tensor<9x6xf32>
    return %1 : tensor<9x6xf32>
  }
}
nn.sample at [7] {
builtin.module attributes {nn.model = "net"} {
  func.func @main(%x: tensor<7x4xf32> {nn.name = "x"}) -> (tensor<7x6xf32> {nn.name = "y"}) {
    %w = nn.constant dense<0.5> : tensor<4x6xf32>
    %0 = nn.matmul %x, %w {transpose_a = false, transpose_b = false} : (tensor<7x4xf32>, tensor<4x6xf32>) -> tensor<7x6xf32>
    %1 = nn.relu %0 : tensor<7x6xf32>
    return %1 : tensor<7x6xf32>
  }
}
}
nn.sample at [6] {
builtin.module attributes {nn.model = "net"} {
  func.func @main(%x: tensor<6x4xf32> {nn.name = "x"}) -> (tensor<6x6xf32> {nn.name = "y"}) {
    %w = nn.constant dense<0.5> : tensor<4x6xf32>
    %0 = nn.matmul %x, %w {transpose_a = false, transpose_b = false} : (tensor<6x4xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
    %1 = nn.relu %0 : tensor<6x6xf32>
    return %1 : tensor<6x6xf32>
  }
}
}
nn.sample at [5] {
builtin.module attributes {nn.model = "net"} {
  func.func @main(%x: tensor<5x4xf32> {nn.name = "x"}) -> (tensor<5x6xf32> {nn.name = "y"}) {
    %w = nn.constant dense<0.5> : tensor<4x6xf32>
    %0 = nn.matmul %x, %w {transpose_a = false, transpose_b = false} : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
    %1 = nn.relu %0 : tensor<5x6xf32>
    return %1 : tensor<5x6xf32>
  }
}
}
}
