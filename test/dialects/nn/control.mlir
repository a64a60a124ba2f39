// RUN: nnc-opt %s | nnc-opt | FileCheck %s

// CHECK-LABEL: @main
// CHECK: %[[L:.*]]:2 = nn.loop @body max 3 carry(%arg1) with(%arg2) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>)
// CHECK: nn.loop @counted max 9 count(%arg3) conditional carry(%arg0, %[[L]]#0) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<i1>, tensor<4xf32>)
// CHECK: nn.if %arg0 then @then else @else(%arg2) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>, %w: tensor<4xf32>, %n: tensor<i64>)
    -> (tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %y:2 = nn.loop @body max 3 carry(%x) with(%w)
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>)
  %z:2 = nn.loop @counted max 9 count(%n) conditional carry(%c, %y#0)
      : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<i1>, tensor<4xf32>)
  %v = nn.if %c then @then else @else(%w) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  return %y#1, %z#1, %v : tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func private @body(%i: tensor<i64>, %x: tensor<4xf32>, %w: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.mul %x, %w : tensor<4xf32>, tensor<4xf32>
  return %0, %x : tensor<4xf32>, tensor<4xf32>
}
func.func private @counted(%i: tensor<i64>, %c: tensor<i1>, %x: tensor<4xf32>)
    -> (tensor<i1>, tensor<4xf32>) {
  %0 = nn.relu %x : tensor<4xf32>
  return %c, %0 : tensor<i1>, tensor<4xf32>
}
func.func private @then(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @else(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
