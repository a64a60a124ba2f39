// RUN: nnc-opt %s | nnc-opt | FileCheck %s

// CHECK-LABEL: exec.program @two
// CHECK-SAME: memories = [#exec.memory<name = "ram", size = 64>, #exec.memory<name = "shadow_ram", size = 4096, bytes = 160, device = "shadow">]
exec.program @two arena 160 lower_bound 160 align 128 weights 0
    attributes {memories = [#exec.memory<name = "ram", size = 64>,
                            #exec.memory<name = "shadow_ram", size = 4096, bytes = 160, device = "shadow">]} {
  %x = exec.input "x" : tensor<4xf32>
  %y = exec.output "y" : tensor<4xf32>
  %a = exec.buffer "a" in "shadow_ram" at 0 : tensor<4xf32, #nn.layout<A on shadow>>
  %b = exec.buffer "b" in "shadow_ram" at 128 : tensor<4xf32, #nn.layout<A on shadow>>
  // CHECK: exec.transfer "transfer_a" %x to %a
  exec.transfer "transfer_a" %x to %a
  // CHECK: exec.call "relu" elementwise_portable of "runtime/routines/elementwise/elementwise.h" on "shadow" inputs(%a) outputs(%b)
  exec.call "relu" elementwise_portable of "runtime/routines/elementwise/elementwise.h" on "shadow"
      inputs(%a) outputs(%b) shape <rank = 1, dims = [4], strides = [[1]]> pointwise {
  ^bb0(%v: f32):
    %0 = nn.relu %v : f32
    exec.yield %0 : f32
  }
  exec.transfer "transfer_y" %b to %y
  // CHECK: exec.wait "shadow"
  exec.wait "shadow"
}
