// RUN: nnc-opt --nnc-drop-unread --split-input-file %s | FileCheck %s

// A result that nobody reads, what both branches compute for it, and what they
// capture for that.
// CHECK-LABEL: func.func @branch(
// CHECK-NOT: nn.sin
// CHECK: %[[Y:.*]] = nn.if %arg0 then @branch_then else @branch_else(%arg1) {note = 1 : i64} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[Y]]
// CHECK-LABEL: func.func private @branch_then(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[R:.*]] = nn.relu %arg0
// CHECK-NEXT: return %[[R]]
// CHECK-LABEL: func.func private @branch_else(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %arg0
func.func @branch(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.sin %x : tensor<4xf32>
  %y:2 = nn.if %c then @branch_then else @branch_else(%0, %x) {note = 1 : i64}
      : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %y#1 : tensor<4xf32>
}
func.func private @branch_then(%a: tensor<4xf32>, %x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.exp %a : tensor<4xf32>
  %1 = nn.relu %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @branch_else(%a: tensor<4xf32>, %x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.neg %a : tensor<4xf32>
  return %0, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// An op whose results nobody reads goes with its functions, and what only they
// need with it.
// CHECK-LABEL: func.func @dead(
// CHECK-NEXT: return %arg1
// CHECK-NOT: func.func
func.func @dead(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.sin %x : tensor<4xf32>
  %y = nn.if %c then @dead_then else @dead_else(%0) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.exp %y : tensor<4xf32>
  return %x : tensor<4xf32>
}
func.func private @dead_then(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.loop @dead_body max 3 carry(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @dead_body(%i: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @dead_else(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// Of four carried values the first is read behind the loop, the second only by
// the first in the next run, the third by itself, and the last by what is
// collected and not read.
// CHECK-LABEL: func.func @loop(
// CHECK: %[[Y:.*]]:2 = nn.loop @loop_body max 9 carry(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: return %[[Y]]#0
// CHECK-LABEL: func.func private @loop_body(%arg0: tensor<i64>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: nn.add %arg1, %arg2
// CHECK-NEXT: nn.sin %arg2
// CHECK-NEXT: return
func.func @loop(%x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %y:5 = nn.loop @loop_body max 9 carry(%x, %z, %x, %z)
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<9x4xf32>)
  return %y#0 : tensor<4xf32>
}
func.func private @loop_body(%i: tensor<i64>, %a: tensor<4xf32>, %b: tensor<4xf32>,
    %c: tensor<4xf32>, %d: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.add %a, %b : tensor<4xf32>, tensor<4xf32>
  %1 = nn.sin %b : tensor<4xf32>
  %2 = nn.exp %c : tensor<4xf32>
  %3 = nn.neg %d : tensor<4xf32>
  return %0, %1, %2, %3, %d
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// The condition of a loop is its first carried value, whoever reads it.
// CHECK-LABEL: func.func @conditional(
// CHECK: %[[Y:.*]]:3 = nn.loop @conditional_body max 9 conditional carry(%arg0, %arg1) with(%arg2) : (tensor<i1>, tensor<4xf32>, tensor<f32>) -> (tensor<i1>, tensor<4xf32>, tensor<9x4xf32>)
// CHECK-NEXT: return %[[Y]]#2
// CHECK-LABEL: func.func private @conditional_body(
// CHECK-NOT: nn.exp
// CHECK: nn.less
func.func @conditional(%c: tensor<i1>, %x: tensor<4xf32>, %s: tensor<f32>, %w: tensor<4xf32>)
    -> tensor<9x4xf32> {
  %y:4 = nn.loop @conditional_body max 9 conditional carry(%c, %x, %w) with(%w, %s)
      : (tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>)
      -> (tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<9x4xf32>)
  return %y#3 : tensor<9x4xf32>
}
func.func private @conditional_body(%i: tensor<i64>, %c: tensor<i1>, %x: tensor<4xf32>,
    %v: tensor<4xf32>, %w: tensor<4xf32>, %s: tensor<f32>)
    -> (tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.sin %x : tensor<4xf32>
  %1 = nn.exp %w : tensor<4xf32>
  %2 = nn.reduce sum %0 {axes = array<i64: 0>, keepdims = false} : (tensor<4xf32>) -> tensor<f32>
  %3 = nn.less %2, %s : tensor<f32>, tensor<f32>
  return %3, %0, %1, %0 : tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
