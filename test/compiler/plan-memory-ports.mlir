// RUN: nnc-opt --split-input-file --pass-pipeline='builtin.module(nnc-plan-memory{ports-in-arena=true},nnc-verify-memory)' %s | FileCheck %s
// RUN: nnc-opt --split-input-file --pass-pipeline='builtin.module(nnc-plan-memory{ports-in-arena=true},nnc-lower-to-exec)' %s | FileCheck %s --check-prefix=EXEC
// RUN: nnc-opt --split-input-file --pass-pipeline='builtin.module(nnc-plan-memory{ports-in-arena=true host-ports=true})' %s | FileCheck %s --check-prefix=HOST

// The second layer takes the place of the input, which nothing reads any more,
// and both outputs stay up to the end.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: exec.place = #exec.place<arena at [[#X:]]>
// CHECK-SAME: -> (tensor<1x64xf32> {exec.place = #exec.place<arena at [[#Y:]]>
// CHECK-SAME: tensor<1x64xf32> {exec.place = #exec.place<arena at [[#X]]>
// CHECK-SAME: exec.arena = 512 : i64
// CHECK-SAME: exec.ports_in_arena
// HOST-LABEL: func.func @main(
// HOST-SAME: exec.host_ports
// HOST-SAME: exec.ports_in_arena
// EXEC-LABEL: exec.program
// EXEC: %[[X:.*]] = exec.input "x" at [[#AT:]] : tensor<1x64xf32>
// EXEC: %[[Y:.*]] = exec.output "y" at {{.*}} : tensor<1x64xf32>
// EXEC: %[[Z:.*]] = exec.output "z" at [[#AT]] : tensor<1x64xf32>
// EXEC: exec.call "tanh" {{.*}} inputs(%[[X]]) outputs(%[[Y]])
// EXEC: exec.call "relu" {{.*}} inputs(%[[Y]], %[[X]]) outputs(%[[Z]])
// EXEC-NOT: exec.copy
func.func @main(%x: tensor<1x64xf32> {nn.name = "x"}) -> (tensor<1x64xf32> {nn.name = "y"}, tensor<1x64xf32> {nn.name = "z"}) {
  %y = nn.layer "tanh" extras(%x : tensor<1x64xf32>) -> tensor<1x64xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32):
    %1 = nn.tanh %0 : f32
    nn.yield %1 : f32
  }
  %z = nn.layer "relu" extras(%y, %x : tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32, %1: f32):
    %2 = nn.add %0, %1 : f32, f32
    nn.yield %2 : f32
  }
  return %y, %z : tensor<1x64xf32>, tensor<1x64xf32>
}

// -----

// A constant is copied to its place in the end.
// CHECK-LABEL: func.func @constant(
// EXEC: %[[K:.*]] = exec.output "k" at 0 : tensor<4xf32>
// EXEC: exec.copy "copy_k" %{{.*}} to %[[K]]
func.func @constant() -> (tensor<4xf32> {nn.name = "k"}) {
  %k = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  return %k : tensor<4xf32>
}
