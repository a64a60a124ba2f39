// RUN: nnc-opt --mlir-disable-threading --pass-pipeline='builtin.module(builtin.module(nnc-set-constraints{target=portable},func.func(nnc-form-layers)),nn.sample(builtin.module(nnc-set-constraints{target=portable},func.func(nnc-form-layers))),nnc-mark-varying,builtin.module(nnc-choose-routines,nnc-plan-memory),nnc-retype-samples)' %s | FileCheck %s

// Each sample is the plan, with its own number of rows. That of more rows than the bounds allow may
// be larger than its places.
// CHECK: func.func @main(%{{.*}}: tensor<9x4xf32>
// CHECK-NOT: exec.sample
// CHECK: nn.sample at [12]
// CHECK: func.func @main(%{{.*}}: tensor<12x4xf32>{{.*}}exec.sample
// CHECK: nn.layer "matmul" {{.*}} -> tensor<12x6xf32> attributes {exec.place = #exec.place<output at 0>, {{.*}}routine = "matmul_portable"
// CHECK: nn.sample at [7]
// CHECK: func.func @main(%{{.*}}: tensor<7x4xf32>
// CHECK-NOT: exec.sample
// CHECK: nn.layer "matmul" {{.*}} -> tensor<7x6xf32> attributes {exec.place = #exec.place<output at 0>, {{.*}}routine = "matmul_portable"
module attributes {nn.sizes = [#exec.size<name = "rows", low = 1, high = 9, step = 1>], nn.largest = array<i64: 9>} {
module attributes {nn.model = "net"} {
  func.func @main(%x: tensor<9x4xf32> {nn.name = "x"}) -> (tensor<9x6xf32> {nn.name = "y"}) {
    %w = nn.constant dense<0.5> : tensor<4x6xf32>
    %0 = nn.matmul %x, %w {transpose_a = false, transpose_b = false} : (tensor<9x4xf32>, tensor<4x6xf32>) -> tensor<9x6xf32>
    %1 = nn.relu %0 : tensor<9x6xf32>
    return %1 : tensor<9x6xf32>
  }
}
nn.sample at [12] {
builtin.module attributes {nn.model = "net"} {
  func.func @main(%x: tensor<12x4xf32> {nn.name = "x"}) -> (tensor<12x6xf32> {nn.name = "y"}) {
    %w = nn.constant dense<0.5> : tensor<4x6xf32>
    %0 = nn.matmul %x, %w {transpose_a = false, transpose_b = false} : (tensor<12x4xf32>, tensor<4x6xf32>) -> tensor<12x6xf32>
    %1 = nn.relu %0 : tensor<12x6xf32>
    return %1 : tensor<12x6xf32>
  }
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
