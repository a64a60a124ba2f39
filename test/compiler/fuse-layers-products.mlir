// RUN: nnc-opt %s --split-input-file --nnc-form-layers --nnc-fuse-layers="target=cuda-sm80" | FileCheck %s
// RUN: nnc-opt %s --split-input-file --nnc-form-layers --nnc-fuse-layers="target=x86-64-v3" | FileCheck %s --check-prefix=CPU

// The products of q, k and v become one, whose columns are those of q, then
// those of k, then those of v. CPUs compute three.

// CHECK-LABEL: func.func @all
// CHECK-DAG: %[[W:.*]] = nn.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00, 5.000000e+00, 6.000000e+00, 9.000000e+00, 1.000000e+01], [3.000000e+00, 4.000000e+00, 7.000000e+00, 8.000000e+00, 1.100000e+01, 1.200000e+01]]> : tensor<2x6xf32>
// CHECK-DAG: %[[B:.*]] = nn.constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00]]]> : tensor<1x1x6xf32>
// CHECK: %[[M:.*]] = nn.layer "q" inputs(%arg0, %[[W]] : {{.*}}) extras(%[[B]] : tensor<1x1x6xf32>) -> tensor<1x4x6xf32>
// CHECK: %[[Y:.*]] = nn.layer "attention" inputs(%[[M]], %[[M]], %[[M]] : {{.*}}) -> tensor<1x4x2xf32>
// CHECK: nn.attention {{.*}}starts = array<i64: 0, 2, 4>
// CHECK: return %[[Y]]

// CPU-LABEL: func.func @all
// CPU-COUNT-3: nn.matmul
// CPU: starts = array<i64: 0, 0, 0>
func.func @all(%x: tensor<1x4x2xf32>) -> tensor<1x4x2xf32> {
  %wq = nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %wk = nn.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %wv = nn.constant dense<[[9.0, 10.0], [11.0, 12.0]]> : tensor<2x2xf32>
  %bq = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %bk = nn.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %bv = nn.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %0 = nn.matmul %x, %wq {transpose_a = false, transpose_b = false} : (tensor<1x4x2xf32>, tensor<2x2xf32>) -> tensor<1x4x2xf32> loc("q")
  %q = nn.add %0, %bq : tensor<1x4x2xf32>, tensor<2xf32>
  %1 = nn.matmul %x, %wk {transpose_a = false, transpose_b = false} : (tensor<1x4x2xf32>, tensor<2x2xf32>) -> tensor<1x4x2xf32> loc("k")
  %k = nn.add %1, %bk : tensor<1x4x2xf32>, tensor<2xf32>
  %2 = nn.matmul %x, %wv {transpose_a = false, transpose_b = false} : (tensor<1x4x2xf32>, tensor<2x2xf32>) -> tensor<1x4x2xf32> loc("v")
  %v = nn.add %2, %bv : tensor<1x4x2xf32>, tensor<2xf32>
  %y = nn.attention %q, %k, %v {heads = 1 : i64, dim = 2 : i64, value_dim = 2 : i64, starts = array<i64: 0, 0, 0>, scale = 0.5 : f64} : (tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>) -> tensor<1x4x2xf32> loc("attention")
  return %y : tensor<1x4x2xf32>
}

// -----

// Keys and values come from another tensor than queries. The matrices are
// transposed, so that the rows of the merged matrix are its columns.

// CHECK-LABEL: func.func @cross
// CHECK: nn.layer "q" inputs(%arg0,
// CHECK: %[[W:.*]] = nn.constant dense<{{\[\[}}5.000000e+00, 6.000000e+00], [7.000000e+00, 8.000000e+00], [9.000000e+00, 1.000000e+01], [1.100000e+01, 1.200000e+01]]> : tensor<4x2xf32>
// CHECK: %[[M:.*]] = nn.layer "k" inputs(%arg1, %[[W]] : {{.*}}) -> tensor<1x3x4xf32>
// CHECK: nn.attention {{.*}}starts = array<i64: 0, 0, 2>
func.func @cross(%x: tensor<1x4x2xf32>, %m: tensor<1x3x2xf32>) -> tensor<1x4x2xf32> {
  %wq = nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %wk = nn.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %wv = nn.constant dense<[[9.0, 10.0], [11.0, 12.0]]> : tensor<2x2xf32>
  %q = nn.matmul %x, %wq {transpose_a = false, transpose_b = true} : (tensor<1x4x2xf32>, tensor<2x2xf32>) -> tensor<1x4x2xf32> loc("q")
  %k = nn.matmul %m, %wk {transpose_a = false, transpose_b = true} : (tensor<1x3x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2xf32> loc("k")
  %v = nn.matmul %m, %wv {transpose_a = false, transpose_b = true} : (tensor<1x3x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2xf32> loc("v")
  %y = nn.attention %q, %k, %v {heads = 1 : i64, dim = 2 : i64, value_dim = 2 : i64, starts = array<i64: 0, 0, 0>, scale = 0.5 : f64} : (tensor<1x4x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x4x2xf32> loc("attention")
  return %y : tensor<1x4x2xf32>
}

// -----

// Queries without a bias get one of zeros.

// CHECK-LABEL: func.func @biases
// CHECK-DAG: %[[B:.*]] = nn.constant dense<{{\[\[\[}}0.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 5.000000e+00, 6.000000e+00]]]> : tensor<1x1x6xf32>
// CHECK: nn.layer "q" inputs(%arg0, {{.*}}) extras(%[[B]] : tensor<1x1x6xf32>) -> tensor<1x4x6xf32>
// CHECK: nn.add
// CHECK: nn.attention {{.*}}starts = array<i64: 0, 2, 4>
func.func @biases(%x: tensor<1x4x2xf32>) -> tensor<1x4x2xf32> {
  %wq = nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %wk = nn.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %wv = nn.constant dense<[[9.0, 10.0], [11.0, 12.0]]> : tensor<2x2xf32>
  %bk = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %bv = nn.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %q = nn.matmul %x, %wq {transpose_a = false, transpose_b = false} : (tensor<1x4x2xf32>, tensor<2x2xf32>) -> tensor<1x4x2xf32> loc("q")
  %1 = nn.matmul %x, %wk {transpose_a = false, transpose_b = false} : (tensor<1x4x2xf32>, tensor<2x2xf32>) -> tensor<1x4x2xf32> loc("k")
  %k = nn.add %1, %bk : tensor<1x4x2xf32>, tensor<2xf32>
  %2 = nn.matmul %x, %wv {transpose_a = false, transpose_b = false} : (tensor<1x4x2xf32>, tensor<2x2xf32>) -> tensor<1x4x2xf32> loc("v")
  %v = nn.add %2, %bv : tensor<1x4x2xf32>, tensor<2xf32>
  %y = nn.attention %q, %k, %v {heads = 1 : i64, dim = 2 : i64, value_dim = 2 : i64, starts = array<i64: 0, 0, 0>, scale = 0.5 : f64} : (tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>) -> tensor<1x4x2xf32> loc("attention")
  return %y : tensor<1x4x2xf32>
}

// -----

// Keys that another op reads, too, and products with different epilogues are
// not merged.

// CHECK-LABEL: func.func @apart
// CHECK-COUNT-3: nn.matmul
// CHECK: starts = array<i64: 0, 0, 0>
func.func @apart(%x: tensor<1x4x2xf32>) -> (tensor<1x4x2xf32>, tensor<1x4x2xf32>) {
  %wq = nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %wk = nn.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %wv = nn.constant dense<[[9.0, 10.0], [11.0, 12.0]]> : tensor<2x2xf32>
  %0 = nn.matmul %x, %wq {transpose_a = false, transpose_b = false} : (tensor<1x4x2xf32>, tensor<2x2xf32>) -> tensor<1x4x2xf32> loc("q")
  %q = nn.relu %0 : tensor<1x4x2xf32>
  %k = nn.matmul %x, %wk {transpose_a = false, transpose_b = false} : (tensor<1x4x2xf32>, tensor<2x2xf32>) -> tensor<1x4x2xf32> loc("k")
  %v = nn.matmul %x, %wv {transpose_a = false, transpose_b = false} : (tensor<1x4x2xf32>, tensor<2x2xf32>) -> tensor<1x4x2xf32> loc("v")
  %y = nn.attention %q, %k, %v {heads = 1 : i64, dim = 2 : i64, value_dim = 2 : i64, starts = array<i64: 0, 0, 0>, scale = 0.5 : f64} : (tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>) -> tensor<1x4x2xf32> loc("attention")
  return %y, %k : tensor<1x4x2xf32>, tensor<1x4x2xf32>
}
