// RUN: nnc-opt %s --split-input-file --nnc-lower-to-exec | FileCheck %s

// The host waits before it writes over what a transfer may still read.

// CHECK-LABEL: exec.program @model
// CHECK: exec.transfer "transfer_first_out_on_shadow" %first_out to %first_out_on_shadow
// CHECK: exec.call "left" {{.*}} on "shadow"
// CHECK-NEXT: ^bb0
// CHECK: exec.buffer "right_out" in "ram" at 0
// CHECK-NEXT: exec.wait "shadow"
// CHECK-NEXT: exec.call "right"
// CHECK: exec.transfer "transfer_left_out_on_host" %left_out to %left_out_on_host
// CHECK-NEXT: exec.wait "shadow"
// CHECK-NEXT: exec.call "add"
// CHECK-NOT: exec.wait
// CHECK: exec.yield
func.func @reuse(%x: tensor<21xf32>) -> tensor<21xf32> attributes {exec.arena = 512 : i64,
    exec.memories = [#exec.memory<name = "ram", size = 256, bytes = 256>, #exec.memory<name = "shadow_ram", size = 256, bytes = 256, device = "shadow">]} {
  %0 = nn.layer "first" extras(%x : tensor<21xf32>) -> tensor<21xf32> attributes {routine = "elementwise_portable", exec.place = #exec.place<arena at 0>} epilogue {
  ^bb0(%e: f32):
    %r = nn.tanh %e : f32
    nn.yield %r : f32
  }
  %1 = nn.adapt %0 {exec.place = #exec.place<arena[1] at 0>} : tensor<21xf32> -> tensor<21xf32, #nn.layout<A on shadow>>
  %2 = nn.layer "left" extras(%1 : tensor<21xf32, #nn.layout<A on shadow>>) -> tensor<21xf32, #nn.layout<A on shadow>> attributes {routine = "elementwise_portable", exec.place = #exec.place<arena[1] at 128>} epilogue {
  ^bb0(%e: f32):
    %r = nn.relu %e : f32
    nn.yield %r : f32
  }
  %3 = nn.layer "right" extras(%x : tensor<21xf32>) -> tensor<21xf32> attributes {routine = "elementwise_portable", exec.place = #exec.place<arena at 0>} epilogue {
  ^bb0(%e: f32):
    %r = nn.neg %e : f32
    nn.yield %r : f32
  }
  %4 = nn.adapt %2 {exec.place = #exec.place<arena at 128>} : tensor<21xf32, #nn.layout<A on shadow>> -> tensor<21xf32>
  %5 = nn.layer "add" extras(%3, %4 : tensor<21xf32>, tensor<21xf32>) -> tensor<21xf32> attributes {routine = "elementwise_portable", exec.place = #exec.place<output at 0>} epilogue {
  ^bb0(%a: f32, %b: f32):
    %r = nn.add %a, %b : f32, f32
    nn.yield %r : f32
  }
  return %5 : tensor<21xf32>
}

// -----

// What a device writes into a result is awaited at the end, and only there.

// CHECK-LABEL: exec.program @model
// CHECK: exec.transfer "transfer_x_on_shadow" %x to %x_on_shadow
// CHECK-NEXT: exec.transfer "transfer_y" %x_on_shadow to %y
// CHECK-NEXT: exec.wait "shadow"
// CHECK-NEXT: }
func.func @end(%x: tensor<21xf32> {nn.name = "x"}) -> (tensor<21xf32> {nn.name = "y"}) attributes {exec.arena = 128 : i64,
    exec.memories = [#exec.memory<name = "ram", size = 0>, #exec.memory<name = "shadow_ram", size = 128, bytes = 128, device = "shadow">]} {
  %0 = nn.adapt %x {exec.place = #exec.place<arena[1] at 0>} : tensor<21xf32> -> tensor<21xf32, #nn.layout<A on shadow>>
  %1 = nn.adapt %0 {exec.place = #exec.place<output at 0>} : tensor<21xf32, #nn.layout<A on shadow>> -> tensor<21xf32>
  return %1 : tensor<21xf32>
}
