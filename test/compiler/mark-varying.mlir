// RUN: nnc-opt --split-input-file --verify-diagnostics --mlir-disable-threading --pass-pipeline='builtin.module(builtin.module(nnc-set-constraints{target=portable},func.func(nnc-form-layers)),nn.sample(builtin.module(nnc-set-constraints{target=portable},func.func(nnc-form-layers))),nnc-mark-varying)' %s | FileCheck %s

// The layer whose number of rows differs is marked; it has to be computed with any number of them.
// CHECK: nn.sums = [#[[ROWS:.*]]]
// CHECK: func.func @main(%{{.*}}: tensor<9x4xf32> {nn.name = "x"}) -> (tensor<9x6xf32> {nn.name = "y"}) attributes {exec.sizes = [#exec.size<name = "rows", low = 1, high = 9, step = 1>]}
// CHECK: nn.constant {nn.number = 0 : i64}
// CHECK: nn.layer "matmul" {{.*}} attributes {nn.copies, nn.number = 1 : i64, nn.other_shapes = [#nn.shape<batch = 1, m = 1, {{.*}}#nn.shape<batch = 1, m = 9, {{.*}}>], nn.varies, nn.varying_axes = [array<i64: 0, 1>, array<i64>, array<i64: 0, 1>]}
// CHECK: nn.sample at [7]
// CHECK-NOT: nn.varies
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

// -----

module attributes {nn.sizes = [#exec.size<name = "rows", low = 1, high = 9, step = 1>], nn.largest = array<i64: 9>} {
module attributes {nn.model = "net"} {
  func.func @main(%x: tensor<9x4xf32> {nn.name = "x"}) -> (tensor<9x6xf32> {nn.name = "y"}) {
    %w = nn.constant dense<0.5> : tensor<4x6xf32>
    // expected-error @below {{varies with the sizes in a way that nnc does not handle: layer 'matmul' is another operation at other sizes}}
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
    %1 = nn.tanh %0 : tensor<6x6xf32>
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

// -----

// expected-error @below {{is no network at several sizes: it needs one module inside, each nn.sample a number for each of its sizes, and the attributes nn.sizes and nn.largest; nnc compile --save-imported writes such a module}}
module attributes {nn.sizes = [#exec.size<name = "rows", low = 1, high = 9, step = 1>], nn.largest = array<i64: 9>} {
module attributes {nn.model = "net"} {
  func.func @main(%x: tensor<9x4xf32> {nn.name = "x"}) -> (tensor<9x6xf32> {nn.name = "y"}) {
    %w = nn.constant dense<0.5> : tensor<4x6xf32>
    %0 = nn.matmul %x, %w {transpose_a = false, transpose_b = false} : (tensor<9x4xf32>, tensor<4x6xf32>) -> tensor<9x6xf32>
    %1 = nn.relu %0 : tensor<9x6xf32>
    return %1 : tensor<9x6xf32>
  }
}
nn.sample at [7, 7] {
builtin.module attributes {nn.model = "net"} {
  func.func @main(%x: tensor<7x4xf32> {nn.name = "x"}) -> (tensor<7x6xf32> {nn.name = "y"}) {
    %w = nn.constant dense<0.5> : tensor<4x6xf32>
    %0 = nn.matmul %x, %w {transpose_a = false, transpose_b = false} : (tensor<7x4xf32>, tensor<4x6xf32>) -> tensor<7x6xf32>
    %1 = nn.relu %0 : tensor<7x6xf32>
    return %1 : tensor<7x6xf32>
  }
}
}
}
