// RUN: nnc-opt --nnc-recompose --nnc-simplify --split-input-file %s | FileCheck %s
// RUN: nnc-opt --nnc-test-equivalence=passes=nnc-recompose,nnc-simplify --split-input-file %s

// As PyTorch writes it: views and transposes of three products' results, keys
// turned, a division, a mask for each element of the batch.
// CHECK-LABEL: @views
// CHECK-NEXT: %[[Y:.*]] = nn.attention %arg0, %arg1, %arg2, %arg3 {dim = 4 : i64, heads = 3 : i64, scale = 5.000000e-01 : f64, starts = array<i64: 0, 0, 0>, value_dim = 4 : i64}
// CHECK-SAME: -> tensor<2x5x12xf32>
// CHECK-NEXT: return %[[Y]]
func.func @views(%q: tensor<2x5x12xf32>, %k: tensor<2x6x12xf32>, %v: tensor<2x6x12xf32>,
                 %mask: tensor<2x1x1x6xf32>) -> tensor<2x5x12xf32> {
  %two = nn.constant dense<2.0> : tensor<f32>
  %0 = nn.reshape %q : tensor<2x5x12xf32> -> tensor<2x5x3x4xf32>
  %1 = nn.transpose %0 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %2 = nn.reshape %k : tensor<2x6x12xf32> -> tensor<2x6x3x4xf32>
  %3 = nn.transpose %2 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x6x3x4xf32>) -> tensor<2x3x4x6xf32>
  %4 = nn.reshape %v : tensor<2x6x12xf32> -> tensor<2x6x3x4xf32>
  %5 = nn.transpose %4 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x6x3x4xf32>) -> tensor<2x3x6x4xf32>
  %6 = nn.matmul %1, %3 {transpose_a = false, transpose_b = false} : (tensor<2x3x5x4xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x5x6xf32>
  %7 = nn.div %6, %two : tensor<2x3x5x6xf32>, tensor<f32>
  %8 = nn.add %7, %mask : tensor<2x3x5x6xf32>, tensor<2x1x1x6xf32>
  %9 = nn.softmax %8 {axis = 3 : i64, log = false} : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %10 = nn.matmul %9, %5 {transpose_a = false, transpose_b = false} : (tensor<2x3x5x6xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x5x4xf32>
  %11 = nn.transpose %10 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32>
  %12 = nn.reshape %11 : tensor<2x5x3x4xf32> -> tensor<2x5x12xf32>
  return %12 : tensor<2x5x12xf32>
}

// -----

// One product gives all three, which are told apart behind a transpose
// (PP-OCR's recognizer); the queries are scaled.
// CHECK-LABEL: @in_one_row
// CHECK-NEXT: %[[Y:.*]] = nn.attention %arg0, %arg0, %arg0 {dim = 4 : i64, heads = 2 : i64, scale = 2.500000e-01 : f64, starts = array<i64: 0, 8, 16>, value_dim = 4 : i64}
// CHECK-NEXT: return %[[Y]]
func.func @in_one_row(%x: tensor<1x5x24xf32>) -> tensor<1x5x8xf32> {
  %quarter = nn.constant dense<0.25> : tensor<1xf32>
  %0 = nn.reshape %x : tensor<1x5x24xf32> -> tensor<1x5x3x2x4xf32>
  %1 = nn.transpose %0 {permutation = array<i64: 2, 0, 3, 1, 4>} : (tensor<1x5x3x2x4xf32>) -> tensor<3x1x2x5x4xf32>
  %2 = nn.slice %1 {starts = array<i64: 0, 0, 0, 0, 0>, sizes = array<i64: 1, 1, 2, 5, 4>, steps = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x1x2x5x4xf32>) -> tensor<1x1x2x5x4xf32>
  %3 = nn.slice %1 {starts = array<i64: 1, 0, 0, 0, 0>, sizes = array<i64: 1, 1, 2, 5, 4>, steps = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x1x2x5x4xf32>) -> tensor<1x1x2x5x4xf32>
  %4 = nn.slice %1 {starts = array<i64: 2, 0, 0, 0, 0>, sizes = array<i64: 1, 1, 2, 5, 4>, steps = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x1x2x5x4xf32>) -> tensor<1x1x2x5x4xf32>
  %q = nn.reshape %2 : tensor<1x1x2x5x4xf32> -> tensor<1x2x5x4xf32>
  %k = nn.reshape %3 : tensor<1x1x2x5x4xf32> -> tensor<1x2x5x4xf32>
  %v = nn.reshape %4 : tensor<1x1x2x5x4xf32> -> tensor<1x2x5x4xf32>
  %scaled = nn.mul %quarter, %q : tensor<1xf32>, tensor<1x2x5x4xf32>
  %5 = nn.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x5xf32>
  %6 = nn.matmul %scaled, %5 {transpose_a = false, transpose_b = false} : (tensor<1x2x5x4xf32>, tensor<1x2x4x5xf32>) -> tensor<1x2x5x5xf32>
  %7 = nn.softmax %6 {axis = 3 : i64, log = false} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %8 = nn.matmul %7, %v {transpose_a = false, transpose_b = false} : (tensor<1x2x5x5xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  %9 = nn.transpose %8 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x2x5x4xf32>) -> tensor<1x5x2x4xf32>
  %10 = nn.reshape %9 : tensor<1x5x2x4xf32> -> tensor<1x5x8xf32>
  return %10 : tensor<1x5x8xf32>
}

// -----

// Parts of the last axis, as GPT-2 has them; a mask for each query.
// CHECK-LABEL: @split
// CHECK-DAG: %[[M:.*]] = nn.reshape %arg1 : tensor<5x5xf32> -> tensor<1x1x5x5xf32>
// CHECK: nn.attention %arg0, %arg0, %arg0, %[[M]] {dim = 4 : i64, heads = 2 : i64, scale = 1.000000e+00 : f64, starts = array<i64: 0, 8, 16>, value_dim = 4 : i64}
// CHECK-NEXT: return
func.func @split(%x: tensor<1x5x24xf32>, %mask: tensor<5x5xf32>) -> tensor<1x5x8xf32> {
  %0 = nn.slice %x {starts = array<i64: 0, 0, 0>, sizes = array<i64: 1, 5, 8>, steps = array<i64: 1, 1, 1>} : (tensor<1x5x24xf32>) -> tensor<1x5x8xf32>
  %1 = nn.slice %x {starts = array<i64: 0, 0, 8>, sizes = array<i64: 1, 5, 8>, steps = array<i64: 1, 1, 1>} : (tensor<1x5x24xf32>) -> tensor<1x5x8xf32>
  %2 = nn.slice %x {starts = array<i64: 0, 0, 16>, sizes = array<i64: 1, 5, 8>, steps = array<i64: 1, 1, 1>} : (tensor<1x5x24xf32>) -> tensor<1x5x8xf32>
  %3 = nn.reshape %0 : tensor<1x5x8xf32> -> tensor<1x5x2x4xf32>
  %4 = nn.reshape %1 : tensor<1x5x8xf32> -> tensor<1x5x2x4xf32>
  %5 = nn.reshape %2 : tensor<1x5x8xf32> -> tensor<1x5x2x4xf32>
  %q = nn.transpose %3 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x5x2x4xf32>) -> tensor<1x2x5x4xf32>
  %k = nn.transpose %4 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x5x2x4xf32>) -> tensor<1x2x5x4xf32>
  %v = nn.transpose %5 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x5x2x4xf32>) -> tensor<1x2x5x4xf32>
  %6 = nn.matmul %q, %k {transpose_a = false, transpose_b = true} : (tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x5xf32>
  %7 = nn.add %mask, %6 : tensor<5x5xf32>, tensor<1x2x5x5xf32>
  %8 = nn.softmax %7 {axis = 3 : i64, log = false} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %9 = nn.matmul %8, %v {transpose_a = false, transpose_b = false} : (tensor<1x2x5x5xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  %10 = nn.transpose %9 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x2x5x4xf32>) -> tensor<1x5x2x4xf32>
  %11 = nn.reshape %10 : tensor<1x5x2x4xf32> -> tensor<1x5x8xf32>
  return %11 : tensor<1x5x8xf32>
}

// -----

// Heads apart, no transpose anywhere; both sides scaled; masks hide scores, and
// are added before the scores are scaled again.
// CHECK-LABEL: @heads_apart
// CHECK-DAG: %[[HIDDEN:.*]] = nn.select %arg3, %{{.*}}, %{{.*}} : tensor<5x6xi1>, tensor<f32>, tensor<f32>
// CHECK-DAG: %[[ADDED:.*]] = nn.mul %arg4, %{{.*}} : tensor<6xf32>, tensor<f32>
// CHECK-DAG: %[[SUM:.*]] = nn.add %[[ADDED]], %[[HIDDEN]] : tensor<6xf32>, tensor<5x6xf32>
// CHECK-DAG: %[[M:.*]] = nn.reshape %[[SUM]] : tensor<5x6xf32> -> tensor<1x1x5x6xf32>
// CHECK: nn.attention %arg0, %arg1, %arg2, %[[M]] {dim = 4 : i64, heads = 3 : i64, scale = 5.000000e-01 : f64, starts = array<i64: 0, 0, 0>, value_dim = 7 : i64} : (tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>, tensor<2x3x6x7xf32>
func.func @heads_apart(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x6x4xf32>, %v: tensor<2x3x6x7xf32>,
                       %seen: tensor<5x6xi1>, %bias: tensor<6xf32>) -> tensor<2x3x5x7xf32> {
  %half = nn.constant dense<0.5> : tensor<f32>
  %two = nn.constant dense<2.0> : tensor<f32>
  %lowest = nn.constant dense<-3.40282347E+38> : tensor<f32>
  %0 = nn.mul %q, %half : tensor<2x3x5x4xf32>, tensor<f32>
  %1 = nn.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x3x6x4xf32>) -> tensor<2x3x4x6xf32>
  %2 = nn.mul %1, %half : tensor<2x3x4x6xf32>, tensor<f32>
  %3 = nn.matmul %0, %2 {transpose_a = false, transpose_b = false} : (tensor<2x3x5x4xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x5x6xf32>
  %4 = nn.select %seen, %3, %lowest : tensor<5x6xi1>, tensor<2x3x5x6xf32>, tensor<f32>
  %5 = nn.add %4, %bias : tensor<2x3x5x6xf32>, tensor<6xf32>
  %6 = nn.mul %5, %two : tensor<2x3x5x6xf32>, tensor<f32>
  %7 = nn.softmax %6 {axis = 3 : i64, log = false} : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %8 = nn.matmul %7, %v {transpose_a = false, transpose_b = false} : (tensor<2x3x5x6xf32>, tensor<2x3x6x7xf32>) -> tensor<2x3x5x7xf32>
  return %8 : tensor<2x3x5x7xf32>
}

// -----

// Matrices without heads. Keys that are columns in memory become rows.
// CHECK-LABEL: @one_head
// CHECK: %[[K:.*]] = nn.transpose %arg1 {permutation = array<i64: 1, 0>}
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} {dim = 4 : i64, heads = 1 : i64, scale = 1.000000e+00 : f64, starts = array<i64: 0, 0, 0>, value_dim = 3 : i64}
func.func @one_head(%q: tensor<5x4xf32>, %k: tensor<4x6xf32>, %v: tensor<6x3xf32>) -> tensor<5x3xf32> {
  %0 = nn.matmul %q, %k {transpose_a = false, transpose_b = false} : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  %1 = nn.softmax %0 {axis = 1 : i64, log = false} : (tensor<5x6xf32>) -> tensor<5x6xf32>
  %2 = nn.matmul %1, %v {transpose_a = false, transpose_b = false} : (tensor<5x6xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  return %2 : tensor<5x3xf32>
}

// -----

// The weights are wanted.
// CHECK-LABEL: @weights_used
// CHECK-NOT: nn.attention
func.func @weights_used(%q: tensor<5x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x3xf32>) -> (tensor<5x3xf32>, tensor<5x6xf32>) {
  %0 = nn.matmul %q, %k {transpose_a = false, transpose_b = true} : (tensor<5x4xf32>, tensor<6x4xf32>) -> tensor<5x6xf32>
  %1 = nn.softmax %0 {axis = 1 : i64, log = false} : (tensor<5x6xf32>) -> tensor<5x6xf32>
  %2 = nn.matmul %1, %v {transpose_a = false, transpose_b = false} : (tensor<5x6xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  return %2, %1 : tensor<5x3xf32>, tensor<5x6xf32>
}

// -----

// The scores are wanted.
// CHECK-LABEL: @scores_used
// CHECK-NOT: nn.attention
func.func @scores_used(%q: tensor<5x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x3xf32>) -> (tensor<5x3xf32>, tensor<5x6xf32>) {
  %0 = nn.matmul %q, %k {transpose_a = false, transpose_b = true} : (tensor<5x4xf32>, tensor<6x4xf32>) -> tensor<5x6xf32>
  %1 = nn.softmax %0 {axis = 1 : i64, log = false} : (tensor<5x6xf32>) -> tensor<5x6xf32>
  %2 = nn.matmul %1, %v {transpose_a = false, transpose_b = false} : (tensor<5x6xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  return %2, %0 : tensor<5x3xf32>, tensor<5x6xf32>
}

// -----

// Softmax of columns; scores that are replaced by a number that others may be
// below.
// CHECK-LABEL: @other_functions
// CHECK-NOT: nn.attention
func.func @other_functions(%q: tensor<5x4xf32>, %k: tensor<5x4xf32>, %v: tensor<5x3xf32>,
                           %seen: tensor<5x5xi1>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %low = nn.constant dense<-1.0> : tensor<f32>
  %0 = nn.matmul %q, %k {transpose_a = false, transpose_b = true} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x5xf32>
  %1 = nn.softmax %0 {axis = 0 : i64, log = false} : (tensor<5x5xf32>) -> tensor<5x5xf32>
  %2 = nn.matmul %1, %v {transpose_a = false, transpose_b = false} : (tensor<5x5xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %3 = nn.matmul %q, %k {transpose_a = false, transpose_b = true} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x5xf32>
  %4 = nn.select %seen, %3, %low : tensor<5x5xi1>, tensor<5x5xf32>, tensor<f32>
  %5 = nn.softmax %4 {axis = 1 : i64, log = false} : (tensor<5x5xf32>) -> tensor<5x5xf32>
  %6 = nn.matmul %5, %v {transpose_a = false, transpose_b = false} : (tensor<5x5xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  return %2, %6 : tensor<5x3xf32>, tensor<5x3xf32>
}
