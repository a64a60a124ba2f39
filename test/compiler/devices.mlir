// RUN: nnc-opt %s --nnc-set-constraints=target=test-two-devices --nnc-check-routines --nnc-plan-memory --nnc-verify-memory | FileCheck %s --check-prefix=PLAN
// RUN: nnc-opt %s --nnc-set-constraints=target=test-two-devices --nnc-plan-memory --nnc-lower-to-exec | FileCheck %s

// A diamond: one side on the host, the other on the shadow, which has memory of
// its own, aligned to 128 bytes. The host computes while the shadow does, and
// waits before it adds.

// PLAN-LABEL: func.func @diamond
// PLAN-SAME: exec.memories = [#exec.memory<name = "ram", size = 9223372036854775807, bytes = {{[0-9]+}}>, #exec.memory<name = "shadow_ram", size = 9223372036854775807, bytes = 256, device = "shadow">]
// PLAN: nn.layer "first"{{.*}}exec.place = #exec.place<{{arena|output}} at
// PLAN: nn.adapt %{{.*}} {exec.place = #exec.place<arena[1] at {{0|128}}>}
// PLAN: nn.layer "left"{{.*}}exec.place = #exec.place<arena[1] at {{0|128}}>
// PLAN: nn.layer "both"{{.*}}exec.place = #exec.place<arena[1] at {{0|128}}>
// PLAN: nn.layer "right"{{.*}}exec.place = #exec.place<{{arena|output}} at

// CHECK-LABEL: exec.program @model
// CHECK-SAME: align 128
// CHECK: %[[IN:.*]] = exec.buffer "output_on_shadow" in "shadow_ram" at {{0|128}} : tensor<3x7xf32, #nn.layout<AB on shadow>>
// CHECK: exec.transfer "transfer_output_on_shadow" %output to %[[IN]]
// CHECK: exec.call "left" elementwise_portable {{.*}} on "shadow" inputs(%[[IN]])
// CHECK: exec.call "both" elementwise_portable {{.*}} on "shadow" inputs(%[[IN]], %left_out)
// CHECK: exec.transfer "transfer_{{.*}}" %both_out to
// CHECK-NOT: exec.wait
// CHECK: exec.call "right" elementwise_portable of "runtime/routines/elementwise/elementwise.h" inputs(
// CHECK: exec.wait "shadow"
// CHECK-NEXT: exec.call "add"
// CHECK-NOT: exec.wait
// CHECK: exec.yield
func.func @diamond(%x: tensor<3x7xf32>) -> tensor<3x7xf32> {
  %0 = nn.layer "first" extras(%x : tensor<3x7xf32>) -> tensor<3x7xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%e: f32):
    %r = nn.tanh %e : f32
    nn.yield %r : f32
  }
  %1 = nn.adapt %0 : tensor<3x7xf32> -> tensor<3x7xf32, #nn.layout<AB on shadow>>
  %2 = nn.layer "left" extras(%1 : tensor<3x7xf32, #nn.layout<AB on shadow>>) -> tensor<3x7xf32, #nn.layout<AB on shadow>> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%e: f32):
    %r = nn.relu %e : f32
    nn.yield %r : f32
  }
  %3 = nn.layer "both" extras(%1, %2 : tensor<3x7xf32, #nn.layout<AB on shadow>>, tensor<3x7xf32, #nn.layout<AB on shadow>>) -> tensor<3x7xf32, #nn.layout<AB on shadow>> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%e: f32, %f: f32):
    %r = nn.sub %e, %f : f32, f32
    nn.yield %r : f32
  }
  %4 = nn.adapt %3 : tensor<3x7xf32, #nn.layout<AB on shadow>> -> tensor<3x7xf32>
  %5 = nn.layer "right" extras(%0 : tensor<3x7xf32>) -> tensor<3x7xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%e: f32):
    %r = nn.neg %e : f32
    nn.yield %r : f32
  }
  %6 = nn.layer "add" extras(%0, %4, %5 : tensor<3x7xf32>, tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32> attributes {routine = "elementwise_portable"} epilogue {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %r = nn.add %a, %b : f32, f32
    %s = nn.add %r, %c : f32, f32
    nn.yield %s : f32
  }
  return %6 : tensor<3x7xf32>
}
