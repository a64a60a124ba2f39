// RUN: nnc-opt --split-input-file --pass-pipeline='builtin.module(func.func(nnc-stream{axis=2 hop=2}))' %s | FileCheck %s

// Two new frames give two new results, from the newest four frames; the mean
// reads all 18 results of the window.
// CHECK-LABEL: func.func @mean(
// CHECK-SAME: %[[X:.*]]: tensor<1x4x2x3xf32> {nn.name = "x"}
// CHECK-SAME: %[[Q:.*]]: tensor<1x4x4x3xf32> {nn.name = "x_queue", nn.state = 1 : i64}
// CHECK-SAME: %[[P:.*]]: tensor<1x8x18x3xf32> {nn.name = "r_queue", nn.state = 2 : i64}
// CHECK: %[[NEXT:.*]] = nn.push %[[Q]], %[[X]] {axis = 2 : i64}
// CHECK: %[[C:.*]] = nn.conv %[[NEXT]], %{{.*}} -> tensor<1x8x2x3xf32>
// CHECK: %[[R:.*]] = nn.relu %[[C]] : tensor<1x8x2x3xf32>
// CHECK: %[[ALL:.*]] = nn.push %[[P]], %[[R]] {axis = 2 : i64}
// CHECK: %[[M:.*]] = nn.reduce {{.*}}mean %[[ALL]]
// CHECK: return %[[M]], %[[NEXT]], %[[ALL]]
func.func @mean(%x: tensor<1x4x20x3xf32> {nn.name = "x"} loc("x")) -> (tensor<1x8xf32> {nn.name = "y"}) {
  %w = nn.constant dense<1.0> : tensor<8x4x3x1xf32>
  %c = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64} : (tensor<1x4x20x3xf32>, tensor<8x4x3x1xf32>) -> tensor<1x8x18x3xf32>
  %r = nn.relu %c : tensor<1x8x18x3xf32> loc("r")
  %m = nn.reduce mean %r {axes = array<i64: 2, 3>, keepdims = false} : (tensor<1x8x18x3xf32>) -> tensor<1x8xf32>
  return %m : tensor<1x8xf32>
}

// -----

// The axis moves with a transpose and a reshape. Constants that differ along it
// are those of the window.
// CHECK-LABEL: func.func @axes(
// CHECK-SAME: %{{.*}}: tensor<1x2x2x6xf32>, %[[Q:.*]]: tensor<6x1x2x5xf32> {nn.name = "value_queue", nn.state = 1 : i64}
// CHECK: nn.reshape %{{.*}} -> tensor<2x2x6xf32>
// CHECK: nn.transpose %{{.*}} -> tensor<6x2x2xf32>
// CHECK: nn.reshape %{{.*}} -> tensor<6x1x2x2xf32>
// CHECK: %[[ALL:.*]] = nn.push %[[Q]], %{{.*}} {axis = 3 : i64}
// CHECK: nn.add %[[ALL]], %{{.*}} : tensor<6x1x2x5xf32>, tensor<5xf32>
func.func @axes(%x: tensor<1x2x5x6xf32>) -> tensor<6x1x2x5xf32> {
  %a = nn.reshape %x : tensor<1x2x5x6xf32> -> tensor<2x5x6xf32>
  %b = nn.transpose %a {permutation = array<i64: 2, 0, 1>} : (tensor<2x5x6xf32>) -> tensor<6x2x5xf32>
  %c = nn.reshape %b : tensor<6x2x5xf32> -> tensor<6x1x2x5xf32>
  %k = nn.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %d = nn.add %c, %k : tensor<6x1x2x5xf32>, tensor<5xf32>
  return %d : tensor<6x1x2x5xf32>
}
