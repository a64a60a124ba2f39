// RUN: nnc-opt --split-input-file --nnc-form-layers --nnc-plan-memory --nnc-verify-memory %s | FileCheck %s
// RUN: nnc-opt --split-input-file --nnc-pipeline=target=portable %s | FileCheck %s --check-prefix=EXEC

// A carried value, its first value, its next one and the loop's result share the
// caller's buffer, and each run computes in place.
// CHECK-LABEL: func.func @in_place(
// CHECK: nn.layer "neg"
// CHECK-SAME: exec.place = #exec.place<output at 0>
// CHECK: nn.loop @in_place_body max 9 carry({{.*}}) with({{.*}}) {exec.places = [#exec.place<output at 0>]}
// CHECK-LABEL: func.func private @in_place_body(
// CHECK-SAME: exec.place = #exec.place<output at 0>
// CHECK-SAME: exec.place = #exec.place<input[1] at 0>
// CHECK: nn.layer "mul"
// CHECK-SAME: exec.place = #exec.place<output at 0>
// EXEC: exec.program
// EXEC-SAME: arena 0
// EXEC: exec.call "neg"
// EXEC-NOT: exec.copy
// EXEC: exec.loop "loop" max 9 {
// EXEC-NEXT: exec.call "mul" {{.*}} inputs(%y, %input_2) outputs(%y)
func.func @in_place(%x: tensor<4xf32>, %w: tensor<4xf32>)
    -> (tensor<4xf32> {nn.name = "y"}) {
  %0 = nn.neg %x : tensor<4xf32>
  %y = nn.loop @in_place_body max 9 carry(%0) with(%w)
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @in_place_body(%i: tensor<i64>, %x: tensor<4xf32>, %w: tensor<4xf32>)
    -> tensor<4xf32> {
  %0 = nn.mul %x, %w : tensor<4xf32>, tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Values that change places are copied through scratch memory, what is collected
// to its part of the result.
// CHECK-LABEL: func.func @swap(
// CHECK-LABEL: func.func private @swap_body(
// CHECK: return
// CHECK-SAME: exec.scratch = #exec.place<arena at {{[0-9]+}} bytes 32>
// EXEC: exec.loop "loop" max 9 counter %loop_run {
// EXEC: exec.copy {{.*}} by_run
// EXEC-NEXT: exec.copy {{.*}} to %loop_kept
// EXEC-NEXT: exec.copy {{.*}} to %loop_kept_2
// EXEC-NEXT: exec.copy {{.*}} %loop_kept to
// EXEC-NEXT: exec.copy {{.*}} %loop_kept_2 to
func.func @swap(%x: tensor<4xf32>, %w: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<9xf32>) {
  %y:3 = nn.loop @swap_body max 9 carry(%x, %w)
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<9xf32>)
  return %y#0, %y#1, %y#2 : tensor<4xf32>, tensor<4xf32>, tensor<9xf32>
}
func.func private @swap_body(%i: tensor<i64>, %a: tensor<4xf32>, %b: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>) {
  %0 = nn.cast %i : tensor<i64> to tensor<f32>
  return %b, %a, %0 : tensor<4xf32>, tensor<4xf32>, tensor<f32>
}

// -----

// Branches compute what the op gives where it has it, and share memory.
// CHECK-LABEL: func.func @branches(
// CHECK-SAME: exec.arena = 64
// CHECK: nn.if {{.*}} {exec.places = [#exec.place<output at 0>]}
// CHECK-LABEL: func.func private @then(
// CHECK: nn.layer "relu"
// CHECK-SAME: exec.place = #exec.place<arena at 0>
// CHECK: nn.layer "softmax"
// CHECK-SAME: exec.place = #exec.place<output at 0>
// CHECK-LABEL: func.func private @else(
// CHECK: nn.layer "neg"
// CHECK-SAME: exec.place = #exec.place<arena at 0>
// CHECK: nn.layer "softmax"
// CHECK-SAME: exec.place = #exec.place<output at 0>
// EXEC: exec.branch "layer_if" on %input {
// EXEC: } else {
func.func @branches(%c: tensor<i1>, %x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = nn.if %c then @then else @else(%x) : (tensor<i1>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
func.func private @then(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = nn.relu %x : tensor<2x4xf32>
  %1 = nn.softmax %0 {axis = 1 : i64, log = false} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
func.func private @else(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = nn.neg %x : tensor<2x4xf32>
  %1 = nn.softmax %0 {axis = 1 : i64, log = false} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
