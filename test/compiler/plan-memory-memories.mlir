// RUN: nnc-opt --split-input-file --pass-pipeline='builtin.module(nnc-plan-memory{ports-in-arena=true},nnc-verify-memory)' %s | FileCheck %s
// RUN: nnc-opt --split-input-file --pass-pipeline='builtin.module(nnc-plan-memory{ports-in-arena=true},nnc-lower-to-exec)' %s | FileCheck %s --check-prefix=EXEC

// The value that is read three times is in the memory that is not slow, and so
// is the input, whose place it takes. What lives at the same time is in the
// other memory.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: exec.place = #exec.place<arena[1] at 0>
// CHECK-SAME: exec.place = #exec.place<arena at 0>
// CHECK-SAME: exec.place = #exec.place<arena[1] at 0>
// CHECK-SAME: exec.arena = 512 : i64
// CHECK-SAME: exec.memories = [#exec.memory<name = "psram", size = 4096, slow = true, bytes = 256>, #exec.memory<name = "dtcm", size = 300, bytes = 256>]
// CHECK: nn.layer "often" {{.*}}exec.place = #exec.place<arena[1] at 0>
// CHECK: nn.layer "once" {{.*}}exec.place = #exec.place<arena at 0>
// EXEC-LABEL: exec.program
// EXEC-SAME: memories = [#exec.memory<name = "psram", size = 4096, slow = true, bytes = 256>
// EXEC: exec.input "x" in "dtcm" at 0 : tensor<1x64xf32>
// EXEC: exec.output "y" in "psram" at 0
// EXEC: exec.output "z" in "dtcm" at 0
// EXEC: exec.buffer "often_out" in "dtcm" at 0
// EXEC: exec.buffer "once_out" in "psram" at 0
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

// -----

// Equal constants are one weight, whose three readers together weigh more than
// the two of the other; both have 16 bytes, and the fast memory has room for the
// header and one of them.
// CHECK-LABEL: func.func @weights(
// CHECK-SAME: exec.weight_memories = [#exec.memory<name = "qspi", size = 4096, slow = true, bytes = 64>, #exec.memory<name = "flash", size = 128, bytes = 64>]
// CHECK: nn.constant {{.*}}exec.place = #exec.place<weight at 0>{{.*}} dense<{{\[}}2.000000e+00
// CHECK: nn.constant {{.*}}exec.place = #exec.place<weight[1] at 0>{{.*}} dense<{{\[}}3.000000e+00
// CHECK: nn.constant {{.*}}exec.place = #exec.place<weight[1] at 0>{{.*}} dense<{{\[}}3.000000e+00
// EXEC-LABEL: exec.program
// EXEC-SAME: weights 128
// EXEC-SAME: weight_memories = [#exec.memory<name = "qspi", size = 4096, slow = true, bytes = 128>, #exec.memory<name = "flash", size = 128, bytes = 128>]
// EXEC-DAG: exec.weight "{{.*}}" in "qspi" at 0 = dense<{{\[}}2.000000e+00
// EXEC-DAG: exec.weight "{{.*}}" in "flash" at 0 = dense<{{\[}}3.000000e+00
func.func @weights(%x: tensor<4xf32> {nn.name = "x"}) -> (tensor<4xf32> {nn.name = "y"})
    attributes {exec.weight_memories = [#exec.memory<name = "qspi", size = 4096, slow = true>, #exec.memory<name = "flash", size = 128>]} {
  %two = nn.constant dense<[2.0, 2.5, 2.5, 2.5]> : tensor<4xf32>
  %three = nn.constant dense<[3.0, 3.5, 3.5, 3.5]> : tensor<4xf32>
  %same = nn.constant dense<[3.0, 3.5, 3.5, 3.5]> : tensor<4xf32>
  %a = nn.layer "a" extras(%x, %two, %three : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %3 = nn.add %0, %1 : f32, f32
    %4 = nn.mul %3, %2 : f32, f32
    nn.yield %4 : f32
  }
  %b = nn.layer "b" extras(%a, %two, %same : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %3 = nn.mul %0, %1 : f32, f32
    %4 = nn.add %3, %2 : f32, f32
    nn.yield %4 : f32
  }
  %c = nn.layer "c" extras(%b, %same : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%0: f32, %1: f32):
    %2 = nn.sub %0, %1 : f32, f32
    nn.yield %2 : f32
  }
  return %c : tensor<4xf32>
}
