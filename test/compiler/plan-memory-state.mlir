// RUN: nnc-opt --split-input-file --nnc-plan-memory --nnc-verify-memory %s | FileCheck %s
// RUN: nnc-opt --split-input-file --pass-pipeline='builtin.module(nnc-plan-memory,nnc-lower-to-exec)' %s | FileCheck %s --check-prefix=EXEC

// A queue that is state moves on where it is.
// CHECK-LABEL: func.func @queue
// CHECK: nn.layer "push"{{.*}}exec.place = #exec.place<state[1] at 0>
// EXEC-LABEL: exec.program
// EXEC: %[[Q:.*]] = exec.state "q" : tensor<1x8x4xf32>
// EXEC: exec.call "push" enqueue_portable of {{.*}} inputs(%[[Q]], %x) outputs(%[[Q]])
// EXEC-NOT: exec.copy
func.func @queue(%x: tensor<1x1x4xf32> {nn.name = "x"},
                 %q: tensor<1x8x4xf32> {nn.name = "q", nn.state = 1 : i64})
    -> (tensor<1x4xf32> {nn.name = "y"}, tensor<1x8x4xf32>) {
  %new = nn.layer "push" inputs(%q, %x : tensor<1x8x4xf32>, tensor<1x1x4xf32>) -> tensor<1x8x4xf32> attributes {routine = "enqueue_portable"} anchor {
  ^bb0(%0: tensor<1x8x4xf32>, %1: tensor<1x1x4xf32>):
    %2 = nn.push %0, %1 {axis = 1 : i64} : (tensor<1x8x4xf32>, tensor<1x1x4xf32>) -> tensor<1x8x4xf32>
    nn.yield %2 : tensor<1x8x4xf32>
  } epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  %y = nn.layer "sum" inputs(%new : tensor<1x8x4xf32>) -> tensor<1x4xf32> attributes {routine = "reduce_sum_portable"} anchor {
  ^bb0(%0: tensor<1x8x4xf32>):
    %1 = nn.reduce sum %0 {axes = array<i64: 1>, keepdims = false} : (tensor<1x8x4xf32>) -> tensor<1x4xf32>
    nn.yield %1 : tensor<1x4xf32>
  } epilogue {
  ^bb0(%0: f32):
    nn.yield %0 : f32
  }
  return %y, %new : tensor<1x4xf32>, tensor<1x8x4xf32>
}

// -----

// A layer that works in place writes over a state that is read for the last
// time. Elements of the first run are those of `nn.initial`.
// CHECK-LABEL: func.func @sum
// CHECK: nn.layer "add"{{.*}}exec.place = #exec.place<state at 0>
// EXEC-LABEL: exec.program
// EXEC: exec.state "the_total" of "the total" = dense<2.000000e+00> : tensor<16xf32> : tensor<16xf32>
// EXEC: exec.call "add" {{.*}} outputs(%the_total)
// EXEC: exec.call "neg"
// EXEC-NOT: exec.copy
func.func @sum(%s: tensor<16xf32> {nn.name = "the total", nn.state = 1 : i64, nn.initial = dense<2.0> : tensor<16xf32>},
               %x: tensor<16xf32> {nn.name = "x"}) -> (tensor<16xf32> {nn.name = "y"}, tensor<16xf32>) {
  %t = nn.layer "add" extras(%s, %x : tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32, %1: f32):
    %2 = nn.add %0, %1 : f32, f32
    nn.yield %2 : f32
  }
  %y = nn.layer "neg" extras(%t : tensor<16xf32>) -> tensor<16xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32):
    %1 = nn.neg %0 : f32
    nn.yield %1 : f32
  }
  return %y, %t : tensor<16xf32>, tensor<16xf32>
}

// -----

// The old value is read once more: the new one waits in the arena.
// CHECK-LABEL: func.func @late
// CHECK: nn.layer "new"{{.*}}exec.place = #exec.place<arena at 0>
// EXEC-LABEL: exec.program
// EXEC: exec.call "layer_new"
// EXEC: exec.call "old"
// EXEC: exec.copy "copy_s" %layer_new_out to %s
func.func @late(%s: tensor<16xf32> {nn.name = "s", nn.state = 1 : i64}) -> (tensor<16xf32> {nn.name = "y"}, tensor<16xf32>) {
  %new = nn.layer "new" extras(%s : tensor<16xf32>) -> tensor<16xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32):
    %1 = nn.relu %0 : f32
    nn.yield %1 : f32
  }
  %y = nn.layer "old" extras(%s : tensor<16xf32>) -> tensor<16xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32):
    %1 = nn.neg %0 : f32
    nn.yield %1 : f32
  }
  return %y, %new : tensor<16xf32>, tensor<16xf32>
}

// -----

// A line of states: each takes the old value of the one before, from the last
// on.
// EXEC-LABEL: exec.program
// EXEC: exec.copy "copy_y" %c to %y
// EXEC: exec.copy "copy_c" %b to %c
// EXEC: exec.copy "copy_b" %a to %b
// EXEC: exec.copy "copy_a" %x to %a
// CHECK-LABEL: func.func @line
func.func @line(%x: tensor<4xf32> {nn.name = "x"}, %a: tensor<4xf32> {nn.name = "a", nn.state = 1 : i64},
                %b: tensor<4xf32> {nn.name = "b", nn.state = 2 : i64}, %c: tensor<4xf32> {nn.name = "c", nn.state = 3 : i64})
    -> (tensor<4xf32> {nn.name = "y"}, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  return %c, %x, %a, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
