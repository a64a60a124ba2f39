// RUN: nnc-opt --pass-pipeline='builtin.module(func.func(nnc-plan-memory{ports-in-arena=true},nnc-verify-memory))' %s | FileCheck %s
// RUN: nnc-opt --pass-pipeline='builtin.module(func.func(nnc-plan-memory{ports-in-arena=true}),nnc-lower-to-exec)' %s | FileCheck %s --check-prefix=EXEC

// The value that is read three times is in the memory that is not slow, and so
// is the input, whose place it takes. What lives at the same time is in the
// other memory.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: exec.place = #exec.place<arena[1] at 0>
// CHECK-SAME: exec.place = #exec.place<arena at 0>
// CHECK-SAME: exec.place = #exec.place<arena[1] at 0>
// CHECK-SAME: exec.arena = 512 : i64
// CHECK-SAME: exec.memories = [#exec.memory<name = "psram", size = 4096, slow = true, bytes = 256>, #exec.memory<name = "dtcm", size = 300, bytes = 256>]
// CHECK: nn.layer "often" {{.*}} exec.place = #exec.place<arena[1] at 0>
// CHECK: nn.layer "once" {{.*}} exec.place = #exec.place<arena at 0>
// EXEC-LABEL: exec.program
// EXEC-SAME: memories = [#exec.memory<name = "psram", size = 4096, slow = true, bytes = 256>
// EXEC: exec.input "x" in "dtcm" at 0 : tensor<1x64xf32>
// EXEC: exec.output "y" in "psram" at 0
// EXEC: exec.output "z" in "dtcm" at 0
// EXEC: exec.buffer "often_out" in "dtcm" at 0
// EXEC: exec.buffer "once_out" in "psram" at 0
func.func @main(
// CHECK-SAME: exec.arena = 512 : i64
// CHECK-SAME: exec.memories = [#exec.memory<name = "psram", size = 4096, slow = true, bytes = 256>, #exec.memory<name = "dtcm", size = 300, bytes = 256>]
// CHECK: nn.layer "often" {{.*}} exec.place = #exec.place<arena[1] at 0>
// CHECK: nn.layer "once" {{.*}} exec.place = #exec.place<arena at 0>
// EXEC-LABEL: exec.program
// EXEC-SAME: memories = [#exec.memory<name = "psram", size = 4096, slow = true, bytes = {{[0-9]+}}>
// EXEC: exec.input "x" in "[[MEMORY:.*]]" at {{[0-9]+}} : tensor<1x64xf32>
// EXEC: exec.output "y" in "{{dtcm|psram}}" at
// EXEC: exec.output "z" in "{{dtcm|psram}}" at
// EXEC: exec.buffer "often_out" in "dtcm" at 0
func.func @main(%x: tensor<1x64xf32> {nn.name = "x"}) -> (tensor<1x64xf32> {nn.name = "y"}, tensor<1x64xf32> {nn.name = "z"})
    attributes {exec.memories = [#exec.memory<name = "psram", size = 4096, slow = true>, #exec.memory<name = "dtcm", size = 300>]} {
  %often = nn.layer "often" extras(%x : tensor<1x64xf32>) -> tensor<1x64xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32):
    %1 = nn.tanh %0 : f32
    nn.yield %1 : f32
  }
  %once = nn.layer "once" extras(%often : tensor<1x64xf32>) -> tensor<1x64xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32):
    %1 = nn.exp %0 : f32
    nn.yield %1 : f32
  }
  %y = nn.layer "y" extras(%often, %once : tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32, %1: f32):
    %2 = nn.add %0, %1 : f32, f32
    nn.yield %2 : f32
  }
  %z = nn.layer "z" extras(%often, %y : tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32, %1: f32):
    %2 = nn.mul %0, %1 : f32, f32
    nn.yield %2 : f32
  }
  return %y, %z : tensor<1x64xf32>, tensor<1x64xf32>
}
